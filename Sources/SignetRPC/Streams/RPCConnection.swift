/// JSON-RPC over a stream of bytes, both sides' calls at once: language servers, Model Context Protocol
/// servers, programs of one's own.
///
/// Each call ends exactly once: with its response, matched by its id's type and value; with its deadline;
/// with its task's cancellation; or with the connection. A late response is passed over. A message that
/// may have been the response to any call, such as one that is no JSON, ends every open call as
/// `malformed-reply`; bytes that are no frame end the connection. It ends with the last reference too.
public final class RPCConnection: Sendable {
    /// What holds for a connection.
    public struct Options: Sendable {
        /// How messages stand in the stream.
        public var framing = RPCFraming.contentLength
        /// How calls are cancelled at the peer, and the peer's here.
        public var cancellation = RPCCancellation.languageServer
        /// How long a call may take that names no time of its own, and a notification until it is taken.
        public var timeout = Duration.seconds(60)
        /// The longest message in either direction, in bytes.
        public var maximumMessageSize = 64 << 20
        /// The longest header of a frame, in bytes.
        public var maximumHeaderSize = 8 << 10
        /// How many calls may wait for responses at once.
        public var maximumOpenCalls = 1_000
        /// How many requests of the peer are served at once; more are answered with −32000.
        public var maximumServedRequests = 100
        /// How many bytes may wait for the handler, and for the peer to take them, before nothing more is
        /// read; of single messages more.
        public var maximumQueuedSize = 16 << 20
        /// After so many messages that are none of JSON-RPC the connection ends; with version 1.0 after the
        /// first (section 2.1).
        public var maximumMalformedMessages = 100
        /// Told what the peer does against the protocol without harm, from any thread.
        public var onWarning: (@Sendable (RPCWarning) -> Void)?

        /// The defaults: Content-Length framing and cancellation as of language servers.
        public init() {}

        /// As language servers speak.
        public static let languageServer = Options()

        /// As Model Context Protocol servers speak over their standard streams.
        public static let modelContext = {
            var options = Options()
            options.framing = .lines
            options.cancellation = .modelContext
            return options
        }()
    }

    /// The other side, for those who must not keep the connection open.
    public let peer: RPCPeer
    private let core: ConnectionCore

    /// Takes a stream over, and begins to read it.
    ///
    /// - Parameters:
    ///   - stream: Nobody else reads, writes or closes it from here on.
    ///   - adapter: The version, ids and limits; additional members go into requests.
    ///   - options: Framing, cancellation and limits.
    ///   - handler: What answers the peer's requests.
    public init(
        _ stream: any RPCByteStream, adapter: JSONRPCAdapter = JSONRPCAdapter(),
        options: Options = .languageServer, handler: RPCHandler = .none
    ) {
        core = ConnectionCore(stream, adapter, options, handler)
        peer = RPCPeer(core: core)
        core.start()
    }

    deinit { close() }

    /// Calls a method; as `RPCPeer.call(_:_:timeout:)`.
    public func call(
        _ method: RPCMethod, _ parameters: RPCParameters? = nil, timeout: Duration? = nil
    ) async throws -> RPCResult {
        try await peer.call(method, parameters, timeout: timeout)
    }

    /// Calls a method and decodes its result; as `RPCPeer.call(_:_:as:timeout:)`.
    public func call<Value: Decodable>(
        _ method: RPCMethod, _ parameters: RPCParameters? = nil, as type: Value.Type,
        timeout: Duration? = nil
    ) async throws -> Value {
        try await peer.call(method, parameters, as: type, timeout: timeout)
    }

    /// Makes several calls in one message; as `RPCPeer.batch(_:timeout:)`.
    public func batch(
        _ calls: [RPCCall], timeout: Duration? = nil
    ) async throws -> [BatchResponse.Outcome] {
        try await peer.batch(calls, timeout: timeout)
    }

    /// Sends a notification; as `RPCPeer.notify(_:_:)`.
    public func notify(_ method: RPCMethod, _ parameters: RPCParameters? = nil) async throws {
        try await peer.notify(method, parameters)
    }

    /// Ends the connection: open calls end with `connection-closed`, requests of the peer are cancelled,
    /// and the stream is closed.
    public func close() {
        core.end(
            RPCError(code: .connectionClosed, message: "the connection was closed on this side"))
    }

    /// Waits until the connection has ended, and says why; `cut-off` where the peer ended it.
    public func ended() async -> RPCError { await core.ended() }
}
