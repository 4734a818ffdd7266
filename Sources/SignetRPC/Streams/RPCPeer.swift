/// The other side of a connection: what can be asked of it and told to it. It does not keep the
/// connection open.
public struct RPCPeer: Sendable {
    let core: ConnectionCore

    /// Calls a method and waits for its response, while other calls go on.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: By position or by name; nil is none.
    ///   - timeout: How long the response may take, with the time until the peer takes the call; nil is the
    ///     connection's own.
    /// - Throws: `CancellationError` at once where the task is cancelled. Else `RPCError`: what boxing
    ///   throws, `rpc-error`, `malformed-reply`, `timeout`, `message-too-large` or `too-many-calls` for
    ///   this call; `cut-off`, `connection-closed`, `malformed-frame`, `message-too-large` or
    ///   `malformed-reply` where the connection has ended.
    public func call(
        _ method: RPCMethod, _ parameters: RPCParameters? = nil, timeout: Duration? = nil
    ) async throws -> RPCResult {
        try await core.call(RPCCall(method, parameters: parameters), timeout: timeout)
    }

    /// Calls a method and decodes its result; otherwise as `call(_:_:timeout:)`.
    ///
    /// - Throws: `JSONError` too, where the result is not of the type.
    public func call<Value: Decodable>(
        _ method: RPCMethod, _ parameters: RPCParameters? = nil, as type: Value.Type,
        timeout: Duration? = nil
    ) async throws -> Value {
        try await call(method, parameters, timeout: timeout).decode(type)
    }

    /// Makes several calls in one message (JSON-RPC 2.0, section 6), and waits until each has ended.
    ///
    /// Each response is matched by its id, in whatever order they come. The peer answers a batch with one
    /// array: a call that it leaves out is `.unanswered`; one that is still open when an error names no
    /// call is `.rejected`. A call whose time has passed, or whose connection has ended, is a `.failure`
    /// with that error. Language servers and Model Context Protocol servers take no batches.
    ///
    /// - Parameters:
    ///   - calls: At most as many as the adapter's `maximumBatchCount`.
    ///   - timeout: How long the responses may take together; nil is the connection's own for a call.
    /// - Returns: One outcome for each call, in the calls' order.
    /// - Throws: `CancellationError` at once where the task is cancelled; the peer is told for each call.
    ///   `RPCError` where nothing was sent: `empty-batch`, `batch-too-large`, `unsupported-call` (version
    ///   1.0), `message-too-large`, `too-many-calls`, what boxing a call throws, or what has ended the
    ///   connection; `timeout` where nobody takes a batch of notifications.
    public func batch(
        _ calls: [RPCCall], timeout: Duration? = nil
    ) async throws -> [BatchResponse.Outcome] {
        try await core.batch(calls, timeout: timeout)
    }

    /// Sends a notification, and returns when it has been handed to the stream.
    ///
    /// - Throws: As `call(_:_:timeout:)` without what belongs to responses; `timeout` where the peer does not
    ///   take it within the connection's time for calls.
    public func notify(_ method: RPCMethod, _ parameters: RPCParameters? = nil) async throws {
        try await core.notify(RPCCall(method, parameters: parameters, isNotification: true))
    }
}
