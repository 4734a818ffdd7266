public import SignetPinning

/// The result of a TLS handshake without a request.
public struct ProbeResult: Sendable, Hashable {
    /// The chain, leaf first, with the certificates as DER: the verified chain, or the chain as the
    /// server sent it if it isn't trusted.
    public var chain: [SeenCertificate]
    /// Whether the CA, the dates and the host name are valid.
    public var isTrusted: Bool
    /// The reason why the chain isn't trusted, in the words of libcurl and OpenSSL.
    public var reason: String?

    /// Creates a result.
    public init(chain: [SeenCertificate], isTrusted: Bool, reason: String? = nil) {
        self.chain = chain
        self.isTrusted = isTrusted
        self.reason = reason
    }
}
