package import SignetBase

/// The system's error in opening, reading or writing a stream.
public struct RPCStreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed. Later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package let value: ErrorCode

        private init(_ value: ErrorCode) { self.value = value }

        /// The system has no descriptors for the stream.
        public static let open = Code(.noResponse("open"))
        /// The peer's socket or port doesn't accept the connection.
        public static let connect = Code(.connect)
        /// The program of a child process can't be started.
        public static let start = Code(.noResponse("start"))
        /// Bytes can't be read.
        public static let read = Code(.noResponse("read"))
        /// Bytes can't be written.
        public static let write = Code(.noResponse("write"))

        /// The operation's name.
        public var name: String { value.name }

        /// The operation's name.
        public var description: String { name }
    }

    /// The operation that failed.
    public let code: Code
    /// The operation and the system's text for the error.
    public var message: String { "\(code.name): \(Self.words(number))" }
    /// The system's error number; `ECANCELED` if the stream was closed on this side.
    public let number: Int32

    init(_ code: Code, number: Int32) {
        self.code = code
        self.number = number
    }

    /// The message.
    public var description: String { message }
}
