/// The name of a business situation with a time limit and a number of attempts of its own, such as
/// `interactive` or `upload`; in a configuration `timeouts.NAME` and `attempts.NAME`.
///
/// Names compare as bytes.
public struct Scenario: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name.
    public let name: String

    /// Names a scenario.
    public init(_ name: String) { self.name = name }

    /// Names a scenario by a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// The name.
    public var description: String { name }

    /// Compares the names' bytes.
    public static func == (left: Scenario, right: Scenario) -> Bool {
        sameBytes(left.name, right.name)
    }

    /// Hashes the name's bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
