/// An error of a host name, an authority or a URL.
///
/// The message says what was found and what was expected. It never contains the user info of a URL,
/// and control characters in it are escaped.
public struct HostError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

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
