/// What a refusal is about, as values: the same that its message says in words.
public struct PinRefusal: Sendable, Hashable {
    private struct Values: Sendable, Hashable {
        var host: HostName
        var rule: PinRule?
        var seen: [SeenCertificate]
        var remedy: PinRemedy
        var served: [[UInt8]] = []
        var port: Int?
    }

    /// Every call hands on room for an error, and few errors hold a refusal: it stands elsewhere.
    private indirect enum Place: Sendable, Hashable {
        case of(Values)
    }

    private var place: Place
    private var values: Values {
        get {
            switch place {
            case .of(let values): values
            }
        }
        set { place = .of(newValue) }
    }

    /// The host that was asked for.
    public var host: HostName { values.host }
    /// The rule that decided; nil where none is for the host.
    public var rule: PinRule? { values.rule }
    /// The verified chain, leaf first; empty where the call was refused before any connection.
    public var seen: [SeenCertificate] { values.seen }
    /// What most likely puts it right.
    public var remedy: PinRemedy { values.remedy }
    /// The chain as the server sent it, each certificate as DER; empty where none was seen.
    public var served: [[UInt8]] {
        get { values.served }
        set { values.served = newValue }
    }
    /// The port that was asked for, where it is known.
    public var port: Int? {
        get { values.port }
        set { values.port = newValue }
    }

    /// The rule's pins, any of which would have done.
    public var wanted: [Pin] { rule?.pins ?? [] }

    /// Takes the values of a refusal.
    public init(host: HostName, rule: PinRule?, seen: [SeenCertificate], remedy: PinRemedy) {
        place = .of(Values(host: host, rule: rule, seen: seen, remedy: remedy))
    }
}

/// What most likely puts a refusal right. A person decides: a pin that does not match is also what an
/// attack looks like.
public struct PinRemedy: Sendable, Hashable {
    /// What kind of remedy it is; more may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case newKey = "new-key"
            case letterCase = "letter-case"
            case notAKey = "not-a-key"
            case otherRule = "other-rule"
            case noChain = "no-chain"
            case unlisted
            case reach
            case expired
            case cleartext
        }
        private let value: Value

        /// The host shows a key that is new, if it changed on purpose.
        public static let newKey = Kind(value: .newKey)
        /// A wanted pin and one that was seen differ in letter case alone.
        public static let letterCase = Kind(value: .letterCase)
        /// Each wanted pin is a placeholder or the hash of nothing.
        public static let notAKey = Kind(value: .notAKey)
        /// The pins of another rule match this chain.
        public static let otherRule = Kind(value: .otherRule)
        /// No verified chain was seen.
        public static let noChain = Kind(value: .noChain)
        /// The policy says nothing of the host.
        public static let unlisted = Kind(value: .unlisted)
        /// A rule for a domain above the host does not reach it.
        public static let reach = Kind(value: .reach)
        /// The rule's last day is over.
        public static let expired = Kind(value: .expired)
        /// The URL says http.
        public static let cleartext = Kind(value: .cleartext)

        /// The name in kebab-case, as the tool prints it.
        public var name: String { value.rawValue }
        /// The name.
        public var description: String { name }
    }

    /// What kind of remedy it is.
    public let kind: Kind
    /// One line for people.
    public let advice: String
    /// A member of the policy's `hosts` to put in place of the old one, as JSON; nil where there is none
    /// to give.
    public let entry: String?

    /// Makes a remedy.
    public init(kind: Kind, advice: String, entry: String? = nil) {
        self.kind = kind
        self.advice = advice
        self.entry = entry
    }

    /// The advice, and the entry behind it.
    var text: String { advice + (entry.map { ": \($0)" } ?? "") }
}
