import SignetCache
import SignetCurl
import SignetSystem
import SignetTransport

extension CallPipeline {
    /// Makes the stages of a system. Its calls make no pin reports yet.
    ///
    /// - Throws: `invalid-options` for engines and their settings; the engine's error.
    convenience init(
        _ options: NetworkSystem.Options, snapshots: SnapshotBox
    ) throws(ClientError) {
        try options.checkEngineSettings()
        let engine = try options.makeStandardEngine(for: snapshots.current)
        let engines = EngineSet(standard: engine, options.engines, now: options.clock.instant)
        let log = CallLogger(logger: options.logger)
        let admission = AdmissionStage(
            calls: RunningCalls(
                executor: options.runsOnEngineThread ? engine.executor : nil,
                alarm: options.clock.alarm),
            hub: EventHub(observers: options.observers), snapshots: snapshots,
            hostOptions: options.callOptions.withoutThoseOfServices,
            engines: Set(options.engines.keys), maximumResponseSize: options.maximumResponseSize,
            decodes: options.decoding != nil, clock: options.clock, log: log,
            stubs: options.stubs,
            endsRequests: engines.cancellable != nil && options.cacheStore == nil)
        let caches = try options.cacheStore.map { store throws(ClientError) in
            let scopes = try CacheScopes(
                key: store.scopeKey, caFile: options.caFile ?? options.engineSettings?.caFile,
                connectTo: options.connectTo)
            let store = SystemCacheStore(store)
            return CacheStages(
                calls: CallCacheStage(store: store, scopes: scopes, clock: options.clock),
                http: HTTPCacheStage(
                    store: store, rules: options.cacheRules, scopes: scopes, clock: options.clock,
                    renewals: CacheRenewals()))
        }
        let attempts = AttemptStage(
            budget: RetryBudget(), credentials: CredentialStore(),
            hops: HopStage(
                engines: engines, reporter: nil, connectTo: options.connectTo,
                addresses: NearestAddresses(
                    options.addresses, engine: engine, snapshots: snapshots,
                    connectivity: Self.connectivity(of: snapshots, from: options.networkWatcher),
                    clock: options.clock, logger: options.logger),
                clock: options.clock, log: log,
                invalidation: caches.map {
                    CacheInvalidation(store: $0.http.store, rules: $0.http.rules)
                }), clock: options.clock, log: log)
        self.init(
            admission: admission, duplicates: DuplicateCalls(),
            merger: CallMerger(clock: options.clock), caches: caches, attempts: attempts,
            decoder: ResponseDecoder(limits: options.decoding))
    }

    private static func connectivity(
        of snapshots: SnapshotBox, from watcher: NetworkWatcher
    ) -> Connectivity {
        let connectivity = Connectivity(watcher) { snapshots.current.mode.simulation.isOffline }
        snapshots.observe { [weak connectivity] in connectivity?.refresh() }
        return connectivity
    }

    /// Returns the pipeline whose calls report what the pin policy refuses.
    func reporting(to reporter: PinReporter) -> CallPipeline {
        var attempts = attempts
        attempts.hops.reporter = reporter
        return CallPipeline(
            admission: admission, duplicates: duplicates, merger: merger, caches: caches,
            attempts: attempts, decoder: decoder)
    }
}

extension PinReporter {
    /// Makes the reporter of a system, whose collectors get reports through a pipeline.
    convenience init(
        _ options: NetworkSystem.Options, sendingThrough pipeline: CallPipeline
    ) throws(ClientError) {
        var sinks = options.pinReports.sinks
        if options.pinReports.logs { sinks.append(LogPinReportSink(logger: options.logger)) }
        for collector in options.pinReports.collectors {
            sinks.append(
                HTTPPinReportSink(target: try PreparedCollector(collector), pipeline: pipeline))
        }
        self.init(
            options.pinReports, sinks: sinks, logger: options.logger, clock: options.clock.now)
    }
}

extension NetworkSystem.Options {
    /// The engine of calls that choose no other: the given one, or libcurl.
    fileprivate func makeStandardEngine(
        for snapshot: SystemSnapshot
    ) throws(ClientError) -> any HTTPEngine {
        var settings = engineSettings ?? EngineSettings()
        // Also if an engine is given: an invalid key of the configuration shows at the start.
        if engineSettings == nil, let configuration = snapshot.configuration {
            settings = try EngineSettings(configuration)
        }
        if let engine { return engine }
        settings.caFile = caFile ?? settings.caFile
        do throws(TransportError) {
            return try CurlEngine(settings)
        } catch {
            throw ClientError(error)
        }
    }
}
