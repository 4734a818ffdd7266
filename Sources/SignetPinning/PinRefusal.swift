public import SignetBase

/// The error with which a policy refuses a host.
///
/// Its message contains every pin that was seen and every pin that the rule expected, so that one
/// line of a log is enough to correct a policy.
public struct PinRefusal: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    private struct Values: Sendable, Hashable {
        var code: Code
        var summary: String
        var host: HostName
        var port: Int?
        var rule: PinRule?
        var seen: [SeenCertificate]
        var served: [[UInt8]]
        var remedy: PinRemedy
    }

    /// One element. An array keeps the values on the heap, because every throwing call reserves
    /// space for its error.
    private let box: [Values]
    private var values: Values { box[0] }

    /// The reason.
    public var code: Code { values.code }
    /// The finding alone, such as `no pin matches for api.example.com (rule api.example.com)`.
    public var summary: String { values.summary }
    /// One line for logs: what was found, what was expected, and the remedy.
    public var message: String {
        var parts = [summary]
        if !seen.isEmpty || code == .pinMismatch {
            let chain = seen.map { "\($0.pin.text) (\($0.subject))" }
            parts.append(
                "verified chain: \(chain.isEmpty ? "none" : chain.joined(separator: ", "))")
        }
        if rule != nil {
            parts.append("expected: \(expected.map(\.text).joined(separator: ", "))")
        }
        return printable((parts + ["remedy: \(remedy.text)"]).joined(separator: "; "))
    }
    /// The host of the call.
    public var host: HostName { values.host }
    /// The port of the call; nil if it isn't known.
    public var port: Int? { values.port }
    /// The rule that decided; nil if no rule covers the host.
    public var rule: PinRule? { values.rule }
    /// The verified chain, leaf first; empty if the call was refused before any connection.
    public var seen: [SeenCertificate] { values.seen }
    /// The chain as the server sent it, each certificate as DER; empty if none was seen.
    public var served: [[UInt8]] { values.served }
    /// The most likely remedy.
    public var remedy: PinRemedy { values.remedy }

    /// The rule's pins, any of which would have been accepted.
    public var expected: [Pin] { rule?.pins ?? [] }

    /// The message.
    public var description: String { message }

    /// Creates a refusal, and escapes the control characters of its summary.
    public init(
        _ code: Code, _ summary: String, host: HostName, port: Int? = nil, rule: PinRule?,
        seen: [SeenCertificate], served: [[UInt8]] = [], remedy: PinRemedy
    ) {
        box = [
            Values(
                code: code, summary: printable(summary), host: host, port: port, rule: rule,
                seen: seen, served: served, remedy: remedy)
        ]
    }
}

/// The most likely remedy for a refusal.
///
/// A person must decide whether to apply it, because an attack looks the same as a new key.
public struct PinRemedy: Sendable, Hashable {
    /// The kind of a remedy; more may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name in kebab-case, as the tool prints it.
        public let name: String
        /// The name.
        public var description: String { name }

        private init(name: String) { self.name = name }

        /// Add the pin of the host's new key, if the key was changed on purpose.
        public static let newKey = Kind(name: "new-key")
        /// Correct a pin that differs from one in the chain only in letter case.
        public static let letterCase = Kind(name: "letter-case")
        /// Replace the rule's pins, each of which is a placeholder or the hash of empty input.
        public static let notAKey = Kind(name: "not-a-key")
        /// Add the pin if it belongs here: the pins of another rule match this chain.
        public static let otherRule = Kind(name: "other-rule")
        /// Inspect the host, because no verified chain was seen.
        public static let noChain = Kind(name: "no-chain")
        /// Add the host to the policy, which doesn't list it.
        public static let unlisted = Kind(name: "unlisted")
        /// Add the host or widen the rule for a domain above it, which doesn't cover it.
        public static let reach = Kind(name: "reach")
        /// Renew the expired rule.
        public static let expired = Kind(name: "expired")
        /// Use https instead of http.
        public static let cleartext = Kind(name: "cleartext")
    }

    /// The kind of the remedy.
    public let kind: Kind
    /// One line for people to read.
    public let advice: String
    /// The member of the policy's `hosts` that replaces the old one, as JSON; nil if the remedy
    /// isn't a new entry.
    public let entry: String?

    /// Creates a remedy.
    public init(kind: Kind, advice: String, entry: String? = nil) {
        self.kind = kind
        self.advice = advice
        self.entry = entry
    }

    /// The advice followed by the entry.
    var text: String { advice + (entry.map { ": \($0)" } ?? "") }
}
