import Logging
import SignetCrypto
import SignetPinning
import SignetTransport
import SignetVault

/// All that calls need to know, prepared from one configuration and never changed: a call keeps the
/// snapshot that it began with.
final class SystemSnapshot: Sendable {
    /// The source of the snapshot; nil if the program gave services as values.
    let configuration: GlobalConfiguration?
    let keys: KeySet?
    let services: [ServiceName: PreparedService]
    let policy: PinPolicy?
    /// The policy that was given in place of the services' pins, and outlives changes of the
    /// configuration.
    let givenPolicy: PinPolicy?
    /// The number of the signed policy that was taken last.
    let pinSerial: Int64?
    let urlRules: URLRules
    let settings: CallSettings
    let mode: ModeSettings
    let proxies: ProxyRules

    /// Prepares everything that a configuration says, so that a mistake shows now.
    ///
    /// - Parameters:
    ///   - configuration: The configuration with the keys.
    ///   - keys: The keys that services sign with.
    ///   - options: Trust and limits.
    ///   - wanted: The one service that is prepared; nil is all.
    ///   - before: The snapshot before it, whose given policy stays in use.
    /// - Throws: `ClientError` that names the key which cannot be worked with.
    init(
        _ configuration: GlobalConfiguration, keys: KeySet?, options: NetworkSystem.Options,
        only wanted: ServiceName? = nil, after before: SystemSnapshot? = nil
    ) throws(ClientError) {
        self.configuration = configuration
        self.givenPolicy = before?.givenPolicy
        self.pinSerial = before?.pinSerial
        self.keys = keys
        let mode = try ModeSettings(configuration, options: options)
        if let before, before.mode.isSwitched, mode.mode != .production {
            self.mode = mode.switched(to: before.mode.switches, isHeld: true)
        } else {
            self.mode = mode
        }
        var services = try ServiceConfiguration.all(
            in: configuration, mode: mode.mode, only: wanted, adapters: options.adapters,
            checks: options.responseChecks)
        services.keepCookies(of: before)
        if let given = before?.givenPolicy {
            self.policy = given
        } else {
            self.policy = try options.policy(of: services)
        }
        self.settings = try CallSettings(configuration, options: options)
        self.services = try Self.prepared(
            services, under: settings, keys: keys, options: options)
        self.urlRules = try Self.urlRules(of: options, or: configuration)
        if let given = options.proxies {
            self.proxies = given
        } else {
            self.proxies = try ProxyRules(configuration)
        }
    }

    /// Prepares services given as values.
    init(
        services: [ServiceName: ServiceConfiguration], keys: KeySet?, policy: PinPolicy?,
        options: NetworkSystem.Options
    ) throws(ClientError) {
        self.configuration = nil
        self.givenPolicy = nil
        self.pinSerial = nil
        self.keys = keys
        self.mode = try ModeSettings(
            nil, options: options, environments: ServiceConfiguration.environmentKeys(of: services))
        let mode = mode.mode
        let services = services.mapValues { $0.inMode(mode) }
        if let policy {
            try NetworkSystem.Options.requireAgreement(of: policy, with: services)
            self.policy = policy
        } else {
            self.policy = try options.policy(of: services)
        }
        self.settings = try CallSettings(nil, options: options)
        self.services = try Self.prepared(
            services, under: settings, keys: keys, options: options)
        self.urlRules = try Self.urlRules(of: options, or: nil)
        self.proxies = options.proxies ?? .none
    }

    /// The same under another policy, or with another mode's settings.
    ///
    /// - Parameter serial: The number of the signed policy that it is; nil keeps the last one's.
    init(
        _ other: SystemSnapshot, policy: PinPolicy? = nil, serial: Int64? = nil,
        mode: ModeSettings? = nil
    ) {
        configuration = other.configuration
        keys = other.keys
        services = other.services
        self.policy = policy ?? other.policy
        givenPolicy = policy ?? other.givenPolicy
        pinSerial = serial ?? other.pinSerial
        urlRules = other.urlRules
        settings = other.settings
        self.mode = mode ?? other.mode
        proxies = other.proxies
    }

    private static func urlRules(
        of options: NetworkSystem.Options, or configuration: GlobalConfiguration?
    ) throws(ClientError) -> URLRules {
        if let given = options.urlRules { return given }
        guard let configuration else { return try URLRules() }
        return try URLRules(configuration)
    }

    private static func prepared(
        _ services: [ServiceName: ServiceConfiguration], under settings: CallSettings,
        keys: KeySet?, options: NetworkSystem.Options
    ) throws(ClientError) -> [ServiceName: PreparedService] {
        try options.checkEngineChoices(of: services)
        var prepared: [ServiceName: PreparedService] = [:]
        for (service, configuration) in services {
            prepared[service] = try PreparedService(
                service, configuration: configuration,
                options: settings.options.merging(options.callOptions), keys: keys,
                externalSigners: options.externalSigners,
                maximumResponseSize: options.maximumResponseSize)
        }
        return prepared
    }
}

extension SystemSnapshot {
    /// - Throws: `unknown-service`.
    func service(named name: ServiceName) throws(ClientError) -> PreparedService {
        guard let service = services[name] else {
            throw ClientError(
                .unknownService,
                "the configuration has no service \(name)"
                    + NearestName.suggestion(for: name.name, among: services.keys.map(\.name)))
        }
        return service
    }
}

extension SystemSnapshot {
    /// Logs the warnings of `signet pins lint`: parts of the policy that work now and may cause
    /// failures later.
    func logFindings(to logger: Logger) {
        guard let policy,
            let findings = try? PinLint.findings(of: policy.serialized(), now: UnixTime.now())
        else { return }
        for finding in findings {
            var metadata: Logger.Metadata = [
                "code": "\(finding.code)", "reason": "\(finding.message)",
            ]
            metadata["host"] = finding.host.map { "\($0)" }
            logger.warning("the pin policy has warnings", metadata: metadata)
        }
    }
}

extension [ServiceName: ServiceConfiguration] {
    /// Keeps the cookies of services that have a store and had one before.
    mutating func keepCookies(of before: SystemSnapshot?) {
        for (name, old) in before?.services ?? [:] where self[name]?.cookies != nil {
            if let store = old.configuration.cookies { self[name]?.cookies = store }
        }
    }
}
