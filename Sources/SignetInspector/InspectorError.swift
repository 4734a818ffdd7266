#if Inspector
public import SignetBase

/// The page can't be shown, or can't do what it was asked for.
public struct InspectorError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The code.
    public let code: SignetErrorCode
    /// One line: what was found, and what was expected.
    public let message: String

    /// The code and the message.
    public var description: String { "\(code.name): \(message)" }

    init(_ code: SignetErrorCode, _ message: String) {
        self.code = code
        self.message = printable(message)
    }
}

extension SignetErrorCode {
    /// The build or the run mode of the system doesn't allow debugging.
    public static let notSwitchable = usage("not-switchable")
    /// The page's server can't listen.
    public static let cannotListen = usage("cannot-listen")
    /// An action of the page is malformed, or not possible.
    public static let invalidAction = usage("invalid-action")
}
#endif
