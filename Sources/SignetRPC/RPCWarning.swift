import SignetBase

/// A harmless violation of the protocol by the server.
public struct RPCWarning: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a warning. Later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name in kebab-case.
        public let name: String
        /// The code's name.
        public var description: String { name }

        private init(_ name: String) { self.name = name }

        /// A notification's response has a body.
        public static let bodyForNotification = Code("body-for-notification")
        /// The response has a result although its status is not 2xx.
        public static let resultWithStatus = Code("result-with-status")
        /// A call has a second response; the first one counts.
        public static let duplicateResponse = Code("duplicate-reply")
        /// A response has an id that belongs to no pending call.
        public static let unknownResponse = Code("unknown-reply")
        /// A malformed response names no call.
        public static let malformedResponse = Code(SignetErrorCode.malformedResponse.name)
        /// A numeric id came back as a string, and the adapter accepts that.
        public static let stringifiedID = Code("stringified-id")
        /// A response has both result and error, and the adapter accepts that.
        public static let resultAndError = Code("result-and-error")
        /// There were more warnings than are kept.
        public static let furtherWarnings = Code("further-warnings")
    }

    /// The kind of the warning.
    public let code: Code
    /// One line for people. It holds no value from the response.
    public let message: String

    /// Creates a warning.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
