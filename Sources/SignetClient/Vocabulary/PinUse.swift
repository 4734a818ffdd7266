public import SignetPinning

/// The pins of a request: the server's keys, and those that the policy wanted.
public struct PinUse: Sendable, Hashable {
    /// The pattern of the policy's rule; nil if no rule covers the host.
    public let rule: String?
    /// The effect of a mismatch.
    public let mode: PinRule.Mode
    /// The verified chain, leaf first, without the certificates themselves; empty if the request
    /// was refused before any connection.
    public let seen: [SeenCertificate]
    /// The rule's pins.
    public let wanted: [Pin]
    /// Whether a key of the chain is pinned.
    public let isMatch: Bool
    /// The code of the refusal, also of one that is only reported; nil if the chain is accepted.
    public let refusal: String?

    /// Nil if no pin had to match.
    package init?(_ verdict: PinVerdict) {
        guard verdict.isPinned else { return nil }
        rule = verdict.rule?.description
        mode = verdict.mode
        seen = verdict.seen.map { SeenCertificate(subject: $0.subject, pin: $0.pin) }
        wanted = verdict.expected
        isMatch = verdict.isMatch
        refusal = verdict.finding?.code.name
    }

    package init(_ refusal: PinRefusal) {
        rule = refusal.rule?.pattern.description
        mode = .enforce
        seen = refusal.seen.map { SeenCertificate(subject: $0.subject, pin: $0.pin) }
        wanted = refusal.expected
        isMatch = false
        self.refusal = refusal.code.name
    }
}
