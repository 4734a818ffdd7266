import SignetTransport
import SignetVault

extension EngineSettings {
    /// Reads the keys `engine.…`; the article ConfigurationKeys lists them.
    ///
    /// - Throws: `invalid-configuration`, naming the key.
    init(_ configuration: GlobalConfiguration) throws(ClientError) {
        self.init()
        let reader = SettingsReader(configuration, prefix: "engine.")
        func time(_ name: String) throws(ClientError) -> Duration? {
            guard let time = try reader.duration(name) else { return nil }
            guard time >= .zero else { throw reader.invalid(name, reason: "is below zero") }
            return time
        }
        if let count = try reader.number("connectionsPerHost", in: 1...1024) {
            maximumConnectionsPerHost = count
        }
        if let time = try time("idleTime") { maximumIdleTime = time }
        if let time = try time("dnsCacheTime") { dnsCacheTime = time }
        if let offers = try reader.read("http2", as: Bool.self) { offersHTTP2 = offers }
        if let size = try reader.number("maximumHeaderSize", in: 1024...(1 << 20)) {
            maximumHeaderSize = size
        }
        if let fields = try reader.number("maximumHeaderFields", in: 1...65_534) {
            maximumHeaderFields = fields
        }
        if let size = try reader.number("bodyBufferSize", in: 1024...(64 << 20)) {
            bodyBufferSize = size
        }
    }
}

extension EngineChoice {
    /// Reads the keys `services.NAME.engine…` of a service.
    ///
    /// - Returns: `nil` if none of them has a value.
    /// - Throws: `invalid-service`, naming the key.
    init?(_ reader: SettingsReader) throws(ClientError) {
        let engine = try reader.read("engine", as: String.self)
        let trial = try reader.read("engineTrial", as: String.self)
        let percent = try reader.read("engineTrialPercent", as: Double.self)
        let candidates = try reader.read("engineRivals", as: [String].self)
        let fallback = try reader.read("engineFallback", as: String.self)
        let failures = try reader.read("engineFallbackFailures", as: Int.self)
        let time = try reader.duration("engineFallbackTime")
        for (name, isSet, needed, isThere) in [
            ("engineTrial", trial != nil, "engineTrialPercent", percent != nil),
            ("engineTrialPercent", percent != nil, "engineTrial", trial != nil),
            ("engineFallbackFailures", failures != nil, "engineFallback", fallback != nil),
            ("engineFallbackTime", time != nil, "engineFallback", fallback != nil),
        ] where isSet && !isThere {
            throw reader.invalid(name, reason: "has no place without \(needed)")
        }
        if engine == nil, trial == nil, candidates == nil, fallback == nil { return nil }
        self.init(
            engine.map { EngineName($0) } ?? .standard,
            candidates: Set((candidates ?? []).map { EngineName($0) }))
        if let trial, let percent { self.trial = Trial(EngineName(trial), percent: percent) }
        guard let fallback else { return }
        self.fallback = Fallback(EngineName(fallback))
        if let failures { self.fallback?.failures = failures }
        if let time { self.fallback?.time = time }
    }
}

extension NetworkSystem.Options {
    /// Checks that no setting is meant for libcurl if the program gives the standard engine itself.
    ///
    /// - Throws: `invalid-options`, naming the option.
    func checkEngineSettings() throws(ClientError) {
        guard engine != nil else { return }
        for (name, isSet) in [
            ("caFile", caFile != nil), ("engineSettings", engineSettings != nil),
        ] where isSet {
            throw ClientError(
                .invalidOptions,
                "found the options \(name) and engine, expected one of them: that engine has its own "
                    + "settings")
        }
    }

    /// Checks the engine choices of the system and of services.
    ///
    /// - Throws: `invalid-options` for the system's choice; `invalid-service`, with the service's
    ///   name, for that of a service.
    func checkEngineChoices(
        of services: [ServiceName: ServiceConfiguration]
    ) throws(ClientError) {
        let names = Set(engines.keys)
        if let problem = callOptions.engine?.problem(among: names) {
            throw ClientError(.invalidOptions, "the engine choice of callOptions \(problem)")
        }
        for (service, configuration) in services {
            guard let problem = configuration.options.engine?.problem(among: names) else {
                continue
            }
            throw ClientError(
                .invalidService, "services.\(service).engine: the engine choice \(problem)")
        }
    }
}
