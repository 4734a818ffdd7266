extension NetworkSystem {
    /// The test calls of the present configuration, by their names; those that can't be made are
    /// left out, and ``selfCheck(isOffline:hostTimeout:now:)`` says why.
    public var probes: [Probe] { snapshots.current.probes.compactMap { try? $0.probe.get() } }

    /// Makes each test call of the configuration through each engine of
    /// ``NetworkSystem/Options/engines`` and the standard one, and measures times, failures and
    /// bytes.
    ///
    /// The calls go through the whole pipeline, and aren't counted by ``CallCounter`` and metrics.
    /// The engines take turns. An engine that can't pin gets no request to a pinned host: its calls
    /// fail with `engine-cannot-pin`. If the task is cancelled, the results so far are returned.
    ///
    /// - Parameter repetitions: The number of calls of each probe through each engine.
    public func compareEngines(repetitions: Int = 20) async -> EngineComparison {
        await pipeline.compareEngines(probes, repetitions: repetitions)
    }
}

extension SystemSnapshot {
    /// The test calls of the configuration.
    var probes: [(name: String, probe: Result<Probe, ClientError>)] {
        guard let configuration else { return [] }
        return Probe.all(in: configuration, of: services.mapValues(\.configuration))
    }
}
