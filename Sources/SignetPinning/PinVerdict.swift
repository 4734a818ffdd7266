/// A certificate of a host's chain, with the values that pinning needs.
public struct SeenCertificate: Sendable, Hashable {
    /// The subject's distinguished name (RFC 4514). The server chooses it.
    public let subject: String
    /// The pin of its key.
    public let pin: Pin
    /// The certificate as DER; empty unless the verdict has a finding.
    public let der: [UInt8]

    /// Creates the description of a certificate.
    public init(subject: String, pin: Pin, der: [UInt8] = []) {
        self.subject = subject
        self.pin = pin
        self.der = der
    }
}

/// A policy's decision about a call before any connection is made.
public struct PinDecision: Sendable, Hashable {
    /// The rule that decides; nil if no rule covers the host.
    public let rule: PinRule?
    /// Whether a pin must match: the rule has pins and hasn't expired with `afterExpiry` `allow`.
    public let isPinned: Bool
    /// The refusal if the call isn't allowed: `unlisted-host`, `policy-expired` or
    /// `cleartext-to-pinned-host`.
    public let refusal: PinRefusal?
}

/// A policy's verdict on the verified chain of a host.
public struct PinVerdict: Sendable, Hashable {
    /// The host of the call.
    public let host: HostName
    /// The pattern of the rule that decided; nil if no rule covers the host.
    public let rule: PinRule.Pattern?
    /// The effect of a mismatch.
    public let mode: PinRule.Mode
    /// Whether a certificate of the chain has a pinned key.
    public let isMatch: Bool
    /// The verified chain, leaf first.
    public let seen: [SeenCertificate]
    /// The rule's pins.
    public let expected: [Pin]
    /// The last day on which the rule is valid.
    public let expires: ExpiryDate?
    /// Whether a pin had to match. False for an excluded host, and for an expired rule with
    /// `afterExpiry` `allow`.
    public let isPinned: Bool
    /// The refusal that the chain deserves, also in report mode; nil if the chain is accepted.
    public let finding: PinRefusal?

    /// The refusal if the call isn't allowed; always nil in report mode.
    public var refusal: PinRefusal? { mode == .report && rule != nil ? nil : finding }
}
