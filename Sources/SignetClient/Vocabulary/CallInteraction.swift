/// How a program shows a call while it runs, for observers that show it (``CallActivity``).
public struct CallInteraction: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
        case background, indicator, blocking
    }

    private let kind: Kind

    /// Nothing is shown.
    public static let background = CallInteraction(kind: .background)
    /// It is shown that something runs. This is the default.
    public static let indicator = CallInteraction(kind: .indicator)
    /// It is shown, and the user can't do anything else on the page until the call has ended.
    public static let blocking = CallInteraction(kind: .blocking)

    /// The name.
    public var description: String { kind.rawValue }
}
