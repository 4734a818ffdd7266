public import SignetRPC

/// A JSON-RPC connection over a stream of bytes, with calls in both directions: to language
/// servers, Model Context Protocol servers or programs of your own.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
/// import SignetRPCStreams
///
/// let server = try ChildStream("sourcekit-lsp")
/// let connection = RPCConnection(server, options: .languageServer)
/// let result = try await connection.call(
///     "initialize", parameters: .object(["capabilities": [:]]), timeout: .seconds(10))
/// try await connection.notify("initialized", parameters: .object([:]))
/// print(result.value["serverInfo"]?["name"] as Any)
/// connection.close()
/// ```
///
/// Each call ends exactly once: with its response, matched by the id's type and value, with its
/// timeout, with its task's cancellation, or with the connection. Late responses are ignored. A
/// message that may have been the response to any call, for example one that is not JSON, ends
/// every pending call with `malformed-response`. An invalid frame ends the connection, as does the
/// release of its last reference.
public final class RPCConnection: Sendable {
    /// The other side of the connection. It doesn't keep the connection open.
    public let peer: RPCPeer
    private let core: ConnectionCore

    /// Takes ownership of a stream and starts to read it.
    ///
    /// - Parameters:
    ///   - stream: The stream. From here on only the connection may read, write or close it.
    ///   - adapter: The version, ids and limits, and additional members of requests.
    ///   - options: Framing, cancellation and limits.
    ///   - handler: The handler of the peer's requests and notifications.
    public init(
        _ stream: any RPCByteStream, adapter: JSONRPCAdapter = JSONRPCAdapter(),
        options: Options = .languageServer, handler: RPCHandler = .none
    ) {
        core = ConnectionCore(stream: stream, adapter: adapter, options: options, handler: handler)
        peer = RPCPeer(core: core)
        core.start()
    }

    deinit { close() }

    /// Calls a method, as `RPCPeer` does.
    public func call(
        _ method: RPCMethod, parameters: RPCParameters? = nil, timeout: Duration? = nil
    ) async throws(PayloadError) -> RPCResult {
        try await peer.call(method, parameters: parameters, timeout: timeout)
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

    /// Calls a method and decodes its result, as ``RPCPeer/call(_:parameters:as:timeout:)`` does.
    public func call<Value: Decodable>(
        _ method: RPCMethod, parameters: RPCParameters? = nil, as type: Value.Type,
        timeout: Duration? = nil
    ) async throws(PayloadError) -> Value {
        try await peer.call(method, parameters: parameters, as: type, timeout: timeout)
    }

    /// Sends several calls in one message, as ``RPCPeer/batch(_:timeout:)`` does.
    public func batch(
        _ calls: [RPCCall], timeout: Duration? = nil
    ) async throws(PayloadError) -> [BatchResponse.Outcome] {
        try await peer.batch(calls, timeout: timeout)
    }

    /// Sends a notification, as ``RPCPeer/notify(_:parameters:)`` does.
    public func notify(
        _ method: RPCMethod, parameters: RPCParameters? = nil
    ) async throws(PayloadError) {
        try await peer.notify(method, parameters: parameters)
    }

    /// Ends the connection: pending calls end with `connection-closed`, the peer's requests are
    /// cancelled, and the stream is closed.
    public func close() {
        core.end(
            PayloadError(.connectionClosed, "this side closed the connection"))
    }

    /// Waits until the connection has ended and returns the reason: `cut-off` if the peer ended it.
    public func ended() async -> PayloadError { await core.ended() }
}
