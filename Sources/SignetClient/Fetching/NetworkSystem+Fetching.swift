internal import Logging
internal import SignetBase
public import SignetCrypto
internal import SignetJSON
internal import SignetRPC
internal import SignetTransport
public import SignetVault
internal import Synchronization

/// The service and the parameters with which a system fetches values. Defaults and launch values
/// fix them at the start.
struct Fetcher: Sendable {
    let plan: FetchPlan
    /// Made of defaults and launch values; holds only the service that is asked.
    let snapshot: SystemSnapshot
    let parameters: RPCParameters?
}

// MARK: - Fetched values

extension NetworkSystem {
    /// Starts a system whose configuration is merged from defaults, launch values and values
    /// fetched from a service.
    ///
    /// The request for the fetched values is built from defaults and launch values, signed and
    /// pinned. The response is parsed strictly and checked against the schema like any input. The
    /// system refuses values that it couldn't work with. If fetching fails, the system checks the
    /// last good fetched values again and uses them, and ``startReport`` gives the reason. Good
    /// values are sealed and kept for the next start.
    ///
    /// - Parameters:
    ///   - schema: The keys, their types, and the inputs that may set them.
    ///   - defaults: The values built into the program.
    ///   - launch: The values given when the program was started.
    ///   - plan: The service to ask, the place of the last good values, and the action if there are
    ///     none.
    ///   - required: The public keys that the program reads.
    ///   - keys: The keys that the services sign with.
    ///   - options: Trust, limits and the weak choices.
    ///   - now: Unix seconds for the dates of keys and dumps; nil is the clock's.
    /// - Throws: The errors of the other `start`; `invalid-plan` if defaults and launch values lack
    ///   the service, or a parameter isn't a public key; the error of the fetch if there are no
    ///   last good values and the plan says to refuse; `cancelled`; the last good values aren't
    ///   used then.
    public static func start<each Value: ConfigurationValue>(
        schema: Schema, defaults: ConfigurationInput, launch: ConfigurationInput = .none,
        fetching plan: FetchPlan,
        requiring required: repeat ConfigurationKey<each Value, Public>,
        keys: KeySet? = nil, options: Options = Options(), now: Int64? = nil
    ) async throws(ClientError) -> NetworkSystem {
        let base: GlobalConfiguration
        do {
            base = try GlobalConfiguration(schema: schema, defaults: defaults, launch: launch)
        } catch {
            throw ClientError(error)
        }
        let fetcher = try Fetcher(plan, base: base, keys: keys, options: options)
        let system = try started(fetcher.snapshot, options: options, fetcher: fetcher)
        await system.beginPinUpdates()
        do throws(ClientError) {
            try await system.begin(base, now: now ?? UnixTime.now()) {
                configuration throws(VaultError) in
                let live = LiveConfiguration(configuration)
                try live.require(repeat each required)
                return live.current
            }
            return system
        } catch {
            await system.shutdown(gracePeriod: .zero)
            throw error
        }
    }

    /// Asks for the fetched values again and changes the configuration to them.
    ///
    /// The service is the one that was asked at the start, even if other values have been fetched
    /// since. If the pin policy was replaced since, the new one applies. On failure nothing
    /// changes.
    ///
    /// - Parameter now: Unix seconds; nil is the clock's.
    /// - Returns: The report of the fetch, as ``lastFetch``.
    /// - Throws: `not-configured` if the system was started without a plan; the failure of the
    ///   fetch; as `update`.
    @discardableResult
    public func refetch(now: Int64? = nil) async throws(ClientError) -> FetchReport {
        guard let fetcher else {
            throw ClientError(.notConfigured, "the system was started without a plan for fetching")
        }
        let now = now ?? UnixTime.now()
        do throws(ClientError) {
            let values = try await ask(fetcher)
            try change { current throws(ClientError) in
                let base = current.configuration ?? values
                return try SystemSnapshot(
                    base.fetching(values), keys: current.keys, options: self.options,
                    after: current)
            }
            return keep(
                values, report: FetchReport(source: .fetched, askedAt: now), fetcher: fetcher,
                now: now)
        } catch {
            history.withLock { history in
                history.fetch?.askedAt = now
                history.fetch?.failure = .init(error)
            }
            throw error
        }
    }

    /// The outcome of the last fetch of values; nil if no fetch was planned.
    public var lastFetch: FetchReport? { history.withLock { $0.fetch } }

    /// The report of the system's start.
    public var startReport: StartReport { history.withLock { $0.start } }

    // MARK: The steps

    /// Fetches the values, or falls back to stored ones, and uses the merged configuration.
    private func begin(
        _ base: GlobalConfiguration, now: Int64,
        requiring: (GlobalConfiguration) throws(VaultError) -> GlobalConfiguration
    ) async throws(ClientError) {
        guard let fetcher else { return }
        func take(_ values: GlobalConfiguration?) throws(ClientError) {
            let merged = try values.map { values throws(ClientError) in try base.fetching(values) }
            let whole: GlobalConfiguration
            do {
                whole = try requiring(merged ?? base)
            } catch {
                throw ClientError(error)
            }
            try change { current throws(ClientError) in
                try SystemSnapshot(
                    whole, keys: current.keys, options: self.options, after: current)
            }
        }
        let failure: ClientError
        do throws(ClientError) {
            let values = try await ask(fetcher)
            try take(values)
            let report = FetchReport(source: .fetched, askedAt: now)
            return finishStart(keep(values, report: report, fetcher: fetcher, now: now))
        } catch {
            // If the caller cancelled, don't fall back to the last good values.
            if Task.isCancelled || error.code.value == TransportError.Code.cancelled.value {
                throw error
            }
            failure = error
        }
        var report = FetchReport(source: .none, askedAt: now, failure: .init(failure))
        var keeping: ClientError?
        if let place = fetcher.plan.lastGood {
            do {
                let last = LastGoodValues(place: place, schema: base.schema, now: now)
                let found = try last.read()
                try take(found.values)
                report.source = .lastGood
                report.kept = found.kept
                return finishStart(report)
            } catch let error as VaultError {
                keeping = ClientError(error)
            } catch let error as ClientError {
                keeping = error
            } catch {
                keeping = nil
            }
            report.keepingFailure = keeping.map(FetchReport.Failure.init)
        }
        guard fetcher.plan.otherwise == .proceed else {
            let rest = keeping.map { "\($0.code.name): \($0.message)" } ?? "the plan names no file"
            throw failure.withMessage(
                "the configuration was not fetched: \(failure.message); "
                    + "no last good values either (\(rest))")
        }
        try take(nil)
        finishStart(report)
    }

    /// The fetcher's snapshot, under the policy that replaced the services' pins, if there is one.
    /// Such a policy comes from the program or is signed, and never from fetched values.
    private func snapshot(of fetcher: Fetcher) -> SystemSnapshot {
        guard let given = box.snapshot.givenPolicy else { return fetcher.snapshot }
        return SystemSnapshot(fetcher.snapshot, policy: given)
    }

    /// Makes the call and reads its result as fetched values.
    private func ask(_ fetcher: Fetcher) async throws(ClientError) -> GlobalConfiguration {
        let plan = fetcher.plan
        var options = CallOptions(deadline: plan.timeout, isIdempotent: true)
        options.maximumResponseSize = plan.maximumResponseSize
        // Follow no redirect: only the plan decides where values come from.
        options.redirects = RedirectPolicy.none
        let asked = CallTarget(
            service: plan.service, method: plan.method.name, options: options,
            snapshot: snapshot(of: fetcher))
        return try await admitted(asked) { context throws(ClientError) in
            let response = try await self.complete(
                RPCCall(plan.method, parameters: fetcher.parameters), path: plan.path,
                for: context)
            guard let result = response.result, let schema = fetcher.snapshot.configuration?.schema
            else {
                throw ClientError(
                    .typeMismatch, "the response holds no values", status: response.status)
            }
            do throws(VaultError) {
                return try GlobalConfiguration(
                    schema: schema, defaults: .none, fetched: .json(result.bytes))
            } catch {
                throw ClientError(error)
            }
        }
    }

    /// Keeps good values for the next start. If that fails, the system logs it and continues.
    private func keep(
        _ values: GlobalConfiguration, report: FetchReport, fetcher: Fetcher, now: Int64
    ) -> FetchReport {
        var report = report
        if let place = fetcher.plan.lastGood {
            do {
                let last = LastGoodValues(place: place, schema: values.schema, now: now)
                report.kept = try last.write(values)
            } catch {
                report.keepingFailure = .init(ClientError(error))
                logger.warning(
                    "fetched values could not be kept",
                    metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
            }
        }
        let done = report
        history.withLock { $0.fetch = done }
        return report
    }

    /// Stores the start report and logs it, once.
    private func finishStart(_ report: FetchReport) {
        let snapshot = box.snapshot
        var start = StartReport(snapshot.mode, fetch: report)
        history.withLock { history in
            start.pinUpdate = history.start.pinUpdate
            history.start = start
            history.fetch = report
        }
        logStart(start)
    }

    func logStart(_ report: StartReport) {
        var metadata: Logger.Metadata = ["mode": "\(report.mode.rawValue)"]
        if !report.ignored.isEmpty {
            metadata["ignored"] = "\(report.ignored.joined(separator: ", "))"
        }
        if !report.simulated.isEmpty {
            metadata["simulated"] = "\(report.simulated.joined(separator: ", "))"
        }
        if let fetch = report.fetch {
            metadata["values"] = "\(fetch.source.rawValue)"
            if let failure = fetch.failure {
                metadata["code"] = "\(failure.code)"
                metadata["reason"] = "\(failure.message)"
            }
        }
        let isPlain =
            report.ignored.isEmpty && report.simulated.isEmpty
            && report.fetch?.failure == nil
        logger.log(level: isPlain ? .debug : .warning, "started", metadata: metadata)
        logFindings(of: policy)
    }
}

extension Fetcher {
    /// Prepares the one service that is asked, and the parameters.
    fileprivate init(
        _ plan: FetchPlan, base: GlobalConfiguration, keys: KeySet?,
        options: NetworkSystem.Options
    ) throws(ClientError) {
        func invalid(_ what: String) -> ClientError {
            ClientError(.invalidPlan, "the plan for fetching: \(what)")
        }
        guard plan.timeout > .zero, plan.maximumResponseSize > 0 else {
            throw invalid("timeout and maximumResponseSize must be above zero")
        }
        var parameters = JSONObject()
        for name in plan.parameters {
            guard let rule = base.schema.rule(named: name), rule.isPublic else {
                throw invalid("the parameter \(name) is not a public key of the schema")
            }
            if let value = base.publicValues[name] { parameters[name] = value }
        }
        self.plan = plan
        self.parameters = parameters.isEmpty ? nil : .object(parameters)
        self.snapshot = try SystemSnapshot(
            base, keys: keys, options: options, only: plan.service)
        guard snapshot.services[plan.service] != nil else {
            throw invalid("defaults and launch values have no service \(plan.service)")
        }
    }
}

extension GlobalConfiguration {
    /// This configuration with the values of one that holds nothing but fetched ones.
    fileprivate func fetching(
        _ values: GlobalConfiguration
    ) throws(ClientError) -> GlobalConfiguration {
        do {
            return try replacing(.fetched, with: .values(values.values))
        } catch {
            throw ClientError(error)
        }
    }
}

extension StartReport {
    /// Creates a report from the settings of a mode.
    init(_ mode: ModeSettings, fetch: FetchReport? = nil) {
        self.init(
            mode: mode.mode, isModeSwitchable: mode.isSwitchable, ignored: mode.ignored,
            simulated: mode.simulation.keys, fetch: fetch)
    }
}
