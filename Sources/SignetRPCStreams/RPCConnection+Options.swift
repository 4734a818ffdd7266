public import SignetRPC

extension RPCConnection {
    /// A connection's options.
    public struct Options: Sendable {
        /// The framing of messages in the stream.
        public var framing = RPCFraming.contentLength
        /// The way to cancel calls at the peer, and by which the peer cancels its own.
        public var cancellation = RPCCancellation.languageServer
        /// The timeout of calls that have none of their own, and of notifications until the peer
        /// reads them.
        public var timeout = Duration.seconds(60)
        /// The maximum size of a message in either direction, in bytes.
        public var maximumMessageSize = 64 << 20
        /// The maximum size of a frame's header, in bytes.
        public var maximumHeaderSize = 8 << 10
        /// The maximum number of calls that wait for responses.
        public var maximumOpenCalls = 1_000
        /// The maximum number of the peer's requests that are served at once. Others get the error
        /// −32000.
        public var maximumServedRequests = 100
        /// The number of bytes waiting for the handler, and of bytes waiting for the peer, from
        /// which on no more messages are read. A single message may exceed it.
        public var maximumQueuedSize = 16 << 20
        /// The number of invalid messages after which the connection ends. With version 1.0 it ends
        /// after the first (section 2.1).
        public var maximumMalformedMessages = 100
        /// Called for each harmless violation of the protocol by the peer, from any thread.
        public var onWarning: (@Sendable (RPCWarning) -> Void)?

        /// Creates the default options: Content-Length framing and the cancellation of language
        /// servers.
        public init() {}

        /// The options for language servers.
        public static let languageServer = Options()

        /// The options for Model Context Protocol servers over their standard streams.
        public static let modelContext = {
            var options = Options()
            options.framing = .lines
            options.cancellation = .modelContext
            return options
        }()
    }
}
