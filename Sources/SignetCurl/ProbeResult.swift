public import SignetPinning

/// What a handshake showed, without any request.
public struct ProbeResult: Sendable, Hashable {
    /// The chain, leaf first: verified, or, where it is not trusted, as the server sent it; with
    /// the certificates themselves.
    public var chain: [SeenCertificate]
    /// Whether CA, dates and host name hold.
    public var isTrusted: Bool
    /// Why not, in libcurl's and OpenSSL's words.
    public var reason: String?

    /// Makes a result.
    public init(chain: [SeenCertificate], isTrusted: Bool, reason: String? = nil) {
        self.chain = chain
        self.isTrusted = isTrusted
        self.reason = reason
    }
}
