/// An error of a host name, an authority or a URL.
///
/// The message says what was found and what was expected. It never contains the user info of a URL,
/// and control characters in it are escaped.
public struct HostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package let value: ErrorCode

        private init(_ value: ErrorCode) { self.value = value }

        /// The text isn't a host, or its canonical form is ambiguous.
        public static let badHost = Code(.badHost)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.name }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// One line for people to read.
    public let message: String

    /// Creates an error with code `bad-host`, and escapes the control characters of its message.
    package init(_ message: String) {
        self.code = .badHost
        self.message = printable(message)
    }

    /// The message.
    public var description: String { message }
}
