/// A certificate of a chain, as far as pins go.
public struct SeenCertificate: Sendable, Hashable {
    /// The subject's distinguished name (RFC 4514); a server chose it.
    public let subject: String
    /// The pin of its key.
    public let pin: Pin
    /// The whole certificate; empty where nobody needs it: it comes with findings and refusals.
    public let der: [UInt8]

    /// Takes the facts of a certificate.
    public init(subject: String, pin: Pin, der: [UInt8] = []) {
        self.subject = subject
        self.pin = pin
        self.der = der
    }
}

/// What a policy says of a call before any connection.
public struct PinDecision: Sendable, Hashable {
    /// The rule that decides; nil where none is for the host.
    public let rule: PinRule?
    /// Whether a pin must match: the rule has pins and has not expired into `allow`.
    public let isPinned: Bool
    /// Why the call is refused, without any I/O: `unlisted-host`, `policy-expired` or
    /// `cleartext-to-pinned-host`.
    public let refusal: PinError?
}

/// What a policy says of the verified chain that a host showed.
public struct PinVerdict: Sendable, Hashable {
    /// The host that was asked for.
    public let host: HostName
    /// The pattern of the rule that decided; nil where none is for the host.
    public let rule: PinRule.Pattern?
    /// What a mismatch does.
    public let mode: PinRule.Mode
    /// Whether a certificate of the chain has a wanted key.
    public let isMatch: Bool
    /// The verified chain, leaf first.
    public let seen: [SeenCertificate]
    /// The rule's pins.
    public let wanted: [Pin]
    /// The last day on which the rule holds.
    public let expires: ExpiryDate?
    /// Whether a pin had to match: not for an exclusion, nor after an expiry that allows.
    public let isPinned: Bool
    /// What is wrong, with every pin that was seen and every pin that was wanted; in report mode too.
    public let finding: PinError?

    /// Why the call is refused; in report mode nothing is.
    public var refusal: PinError? { mode == .report && rule != nil ? nil : finding }
}
