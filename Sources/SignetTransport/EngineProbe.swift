public import SignetPinning

/// A TLS handshake that an engine is to perform without sending a request.
public struct EngineProbe: Sendable {
    /// The host and port. The port defaults to 443.
    public var authority: Authority
    /// The path of a PEM file of CA certificates to use instead of the engine's.
    public var caFile: String?
    /// The certificate for a server that asks for one; `nil` shows none.
    public var clientCertificate: ClientCertificate?
    /// Other addresses to connect to; the first matching one is used.
    public var connectTo: [EngineRequest.ConnectTo] = []
    /// The proxy; `nil` connects directly.
    public var proxy: Proxy?
    /// The time for the whole call. Defaults to 30 seconds.
    public var timeout = Duration.seconds(30)
    /// A policy whose rule for the host may add or replace CAs. Its pins aren't checked.
    public var policy: PinPolicy?

    /// Creates a probe of a host.
    public init(_ authority: Authority) { self.authority = authority }
}

/// The result of a TLS handshake without a request.
public struct ProbeResult: Sendable, Hashable {
    /// The chain, leaf first, with the certificates as DER: the verified chain, or the chain as the
    /// server sent it if it isn't trusted.
    public var chain: [SeenCertificate]
    /// Whether the CA, the dates and the host name are valid.
    public var isTrusted: Bool
    /// The reason why the chain isn't trusted, in the words of the engine's library.
    public var reason: String?

    /// Creates a result.
    public init(chain: [SeenCertificate], isTrusted: Bool, reason: String? = nil) {
        self.chain = chain
        self.isTrusted = isTrusted
        self.reason = reason
    }
}

extension HTTPEngine {
    /// Throws `unsupported-probe`.
    public func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
        throw TransportError(
            .unsupportedProbe,
            "the engine \(capabilities.name) cannot perform a TLS handshake without a request")
    }

    /// Performs a TLS handshake and returns the server's certificate chain. It sends no request.
    ///
    /// ```swift
    /// import SignetPinning
    ///
    /// func printChain(of host: String, through engine: some HTTPEngine) async throws {
    ///     let result = try await engine.probe(Authority(parsing: host))
    ///     for certificate in result.chain { print(certificate.pin, certificate.subject) }
    ///     if !result.isTrusted { print("not trusted: \(result.reason ?? "")") }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - authority: The host and port. The port defaults to 443.
    ///   - caFile: The path of a PEM file of CA certificates to use instead of the engine's.
    ///   - connectTo: Other addresses to connect to.
    ///   - proxy: The proxy; `nil` connects directly.
    ///   - timeout: The time for the whole call.
    ///   - policy: A policy whose rule for the host may add or replace CAs. Its pins aren't
    ///     checked.
    ///   - clientCertificate: The certificate that is shown if the server asks for one.
    /// - Returns: The verified chain, or the chain as the server sent it if it isn't trusted.
    /// - Throws: `TransportError` if the server showed no chain; `unsupported-probe` if the engine
    ///   can't perform a handshake without a request.
    public func probe(
        _ authority: Authority, caFile: String? = nil, connectTo: [EngineRequest.ConnectTo] = [],
        proxy: Proxy? = nil, timeout: Duration = .seconds(30), policy: PinPolicy? = nil,
        clientCertificate: ClientCertificate? = nil
    ) async throws(TransportError) -> ProbeResult {
        var probe = EngineProbe(authority)
        probe.caFile = caFile
        probe.connectTo = connectTo
        probe.proxy = proxy
        probe.timeout = timeout
        probe.policy = policy
        probe.clientCertificate = clientCertificate
        return try await self.probe(probe)
    }
}
