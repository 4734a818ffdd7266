import Logging
import SignetTransport

extension NetworkSystem {
    /// The switches that are on for new calls.
    public var switches: DebugSwitches { snapshots.current.mode.switches }

    /// The names of the system's services, with their base URLs in its mode.
    package var serviceURLs: [ServiceName: String] {
        snapshots.current.services.mapValues(\.configuration.baseURL)
    }

    /// The names of the system's engines.
    package var engineNames: [EngineName] {
        Set(options.engines.keys).union([.standard]).sorted { $0.name < $1.name }
    }

    /// Whether the switches outlive a change of the configuration.
    package var holdsSwitches: Bool { snapshots.current.mode.isSwitched }

    /// Replaces the switches for calls that begin from now on. They outlive a change of the
    /// configuration; once all are off, those of the next configuration act.
    ///
    /// - Throws: `invalid-options` in production, for an engine that the system lacks and for a
    ///   rate outside of 0...1; `unknown-service`; `refused-url` for an invalid URL; `not-running`.
    ///   Then nothing has changed.
    public func update(switches: DebugSwitches) throws(ClientError) {
        try update(switches: switches, isHeld: true)
    }

    /// Replaces the switches, and says whether they outlive a change of the configuration.
    package func update(switches: DebugSwitches, isHeld: Bool) throws(ClientError) {
        try snapshots.change { current throws(ClientError) in
            guard current.mode.mode != .production else {
                throw ClientError(
                    .invalidOptions, "found the mode production, in which nothing is switched")
            }
            guard (0...1).contains(switches.simulation.failureRate),
                switches.simulation.delay >= .zero
            else {
                throw ClientError(
                    .invalidOptions, "expected a failure rate in 0...1 and a delay of 0 or more")
            }
            if let engine = switches.engine,
                let problem = EngineChoice(engine).problem(among: Set(engineNames))
            {
                throw ClientError(.invalidOptions, "the engine's switch \(problem)")
            }
            for (service, url) in switches.baseURLs {
                _ = try current.service(named: service)
                _ = try WebURL(url)
            }
            return SystemSnapshot(
                current, mode: current.mode.switched(to: switches, isHeld: isHeld))
        }
        let words = switches.words.joined(separator: ", ")
        options.logger.notice(
            "debug switches changed", metadata: ["on": "\(words.isEmpty ? "none" : words)"])
    }
}

extension DebugSwitches {
    /// The switches that are on, without values that could be secrets.
    fileprivate var words: [String] {
        simulation.keys + (engine.map { ["engine \($0.name)"] } ?? [])
            + baseURLs.keys.map { "host of \($0.name)" }.sorted()
    }
}
