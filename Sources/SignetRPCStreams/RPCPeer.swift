import SignetJSON
public import SignetRPC

/// The other side of a connection, to call and notify. It doesn't keep the connection open.
///
/// A handler calls the peer back while it serves a request:
///
/// ```swift
/// import SignetRPC
/// import SignetRPCStreams
///
/// let handler = RPCHandler(methods: [
///     "orders.cancel": { call, peer in
///         let isSure = try await peer.call("user.confirm", as: Bool.self)
///         return .bool(isSure)
///     }
/// ])
/// ```
public struct RPCPeer: Sendable {
    let core: ConnectionCore

    /// Calls a method and waits for its response. Several calls can run at once.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters, or nil if there aren't any.
    ///   - timeout: The time until the response arrives, including the time until the peer reads
    ///     the call; nil for the connection's timeout.
    /// - Throws: `PayloadError`. For this call: `rpc-error`, `malformed-response`, `timeout`,
    ///   `cancelled` at once if the task is cancelled, `message-too-large`, `too-many-calls`, or an
    ///   error of boxing. For a connection that has ended: `cut-off`, `connection-closed`,
    ///   `malformed-frame`, `message-too-large` or `malformed-response`.
    public func call(
        _ method: RPCMethod, parameters: RPCParameters? = nil, timeout: Duration? = nil
    ) async throws(PayloadError) -> RPCResult {
        try await typed {
            try await core.call(RPCCall(method, parameters: parameters), timeout: timeout)
        }
    }

    /// Calls a method, and decodes its result as the type that is expected: `let steps: Int = try
    /// await connection.call("steps")`.
    ///
    /// - Throws: Also `malformed-response` if the result has another type.
    public func call<Value: Decodable>(
        _ method: RPCMethod, parameters: RPCParameters? = nil, timeout: Duration? = nil
    ) async throws(PayloadError) -> Value {
        try await call(method, parameters: parameters, as: Value.self, timeout: timeout)
    }

    /// Calls a method and decodes its result, otherwise like `call(_:parameters:timeout:)`.
    ///
    /// - Throws: Also `malformed-response` if the result has another type.
    public func call<Value: Decodable>(
        _ method: RPCMethod, parameters: RPCParameters? = nil, as type: Value.Type,
        timeout: Duration? = nil
    ) async throws(PayloadError) -> Value {
        let result: RPCResult = try await call(method, parameters: parameters, timeout: timeout)
        do throws(JSONError) {
            return try result.decode(type)
        } catch {
            throw PayloadError(.malformedResponse, error.message)
        }
    }

    /// Sends several calls in one message (JSON-RPC 2.0, section 6), and waits until each has
    /// ended.
    ///
    /// The peer sends its responses as one array, matched to the calls by id in any order. A call
    /// that the array omits is `.unanswered`. An error that names no call makes the calls still
    /// pending `.rejected`. A call that timed out, or whose connection has ended, is a `.failure`
    /// with that error. Language servers and Model Context Protocol servers don't support batches.
    ///
    /// - Parameters:
    ///   - calls: The calls, at most the adapter's `maximumBatchCount`.
    ///   - timeout: The time until all responses have arrived; nil for the connection's timeout.
    /// - Returns: One outcome for each call, in the calls' order.
    /// - Throws: `PayloadError`: `cancelled` at once if the task is cancelled; each call is then
    ///   cancelled at the peer. If nothing was sent: `empty-batch`, `batch-too-large`,
    ///   `unsupported-call` (version 1.0), `message-too-large`, `too-many-calls`, an error of
    ///   boxing, or the error that ended the connection. `timeout` if the peer doesn't read a batch
    ///   that contains only notifications.
    public func batch(
        _ calls: [RPCCall], timeout: Duration? = nil
    ) async throws(PayloadError) -> [BatchResponse.Outcome] {
        try await typed { try await core.batch(calls, timeout: timeout) }
    }

    /// Sends a notification, and returns when it has been written to the stream.
    ///
    /// - Throws: `PayloadError`: `cancelled`, an error of boxing, the error that ended the
    ///   connection, `message-too-large`, or `timeout` if the peer doesn't read it within the
    ///   connection's timeout.
    public func notify(
        _ method: RPCMethod, parameters: RPCParameters? = nil
    ) async throws(PayloadError) {
        try await typed {
            try await core.notify(RPCCall(method, parameters: parameters, isNotification: true))
        }
    }

    /// Does the connection's work, whose only other error is `CancellationError`.
    private func typed<Value: Sendable>(
        _ work: () async throws -> Value
    ) async throws(PayloadError) -> Value {
        do {
            return try await work()
        } catch {
            throw error as? PayloadError ?? PayloadError(.cancelled, "the task was cancelled")
        }
    }
}

extension Error {
    /// Whether a call to the peer was cancelled.
    var isCancellation: Bool { (self as? PayloadError)?.code == .cancelled }
}
