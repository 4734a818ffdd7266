public import SignetRPC

extension RPCConnection {
    /// A connection's options.
    public struct Options: Sendable {
        /// The framing of messages in the stream.
        public var framing = RPCFraming.contentLength
        /// The notification with which each side cancels its calls at the other.
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
        /// The maximum number of bytes that wait for the handler, and of bytes that wait for the
        /// peer. At the limit no more messages are read. A single message may exceed it.
        public var maximumQueuedSize = 16 << 20
        /// The maximum number of invalid messages; one more ends the connection. With version 1.0
        /// the first one ends it (section 2.1).
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
