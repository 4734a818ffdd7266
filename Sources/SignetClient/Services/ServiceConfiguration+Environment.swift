public import SignetPinning
public import SignetTransport

extension ServiceConfiguration {
    /// The host of a service in another mode than production.
    ///
    /// Everything that belongs to a host is here, and nothing of it comes from the service's own
    /// host: with no pins the host needs `dangerous.allowUnpinnedServices()`, without `signing`
    /// requests aren't signed, and without `sealing` bodies aren't sealed.
    ///
    /// ```swift
    /// var service = ServiceConfiguration(
    ///     baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2,
    ///     pins: [try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")])
    /// service.staging = .init(
    ///     baseURL: "https://api.staging.example.com/rpc",
    ///     pins: [try Pin(parsing: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=")])
    /// var options = NetworkSystem.Options()
    /// options.runMode = .staging  // no effect in a release build
    /// ```
    public struct Environment: Sendable {
        /// The URL of the service there.
        public var baseURL: String
        /// Pins of the host.
        public var pins: [Pin]
        /// CAs that are trusted for the host alone.
        public var authorities: PinAuthorities?
        /// The signature of requests; nil for none.
        public var signing: Signing?
        /// The encryption of bodies; nil for none.
        public var sealing: Sealing?
        /// IP addresses of the host.
        public var addresses: [ServiceAddress] = []
        /// The certificate for the host if it asks for one; nil for none.
        public var clientCertificate: ClientCertificate?

        /// Describes a host.
        public init(
            baseURL: String, pins: [Pin] = [], authorities: PinAuthorities? = nil,
            signing: Signing? = nil
        ) {
            self.baseURL = baseURL
            self.pins = pins
            self.authorities = authorities
            self.signing = signing
        }
    }

    /// Returns the service with the host of a mode in place of its own, if it has one.
    func inMode(_ mode: RunMode) -> ServiceConfiguration {
        let environment =
            switch mode {
            case .production: Environment?.none
            case .staging: staging
            case .development: development
            }
        guard let environment else { return self }
        var service = self
        service.environment = mode
        service.baseURL = environment.baseURL
        service.pins = environment.pins
        service.authorities = environment.authorities
        service.signing = environment.signing
        service.sealing = environment.sealing
        service.clientCertificate = environment.clientCertificate
        service.addresses = environment.addresses
        return service
    }

    /// Returns the keys that the hosts of environments would have in a configuration, sorted.
    static func environmentKeys(of services: [ServiceName: ServiceConfiguration]) -> [String] {
        services.flatMap { service, configuration in
            let all = [
                (RunMode.staging, configuration.staging),
                (.development, configuration.development),
            ]
            return all.compactMap { mode, environment in
                environment.map { _ in "services.\(service).\(mode.rawValue).baseURL" }
            }
        }.sorted()
    }
}
