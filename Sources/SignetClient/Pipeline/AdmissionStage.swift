import SignetRPC
import SignetTransport

/// The first stage: merges the options, gives the call its identity and its snapshot, and runs the
/// rest of the pipeline as the call's work. Each call ends once.
struct AdmissionStage: Sendable {
    let calls: RunningCalls
    let hub: EventHub
    let snapshots: SnapshotBox
    /// The options of the calls that the system makes for itself.
    let hostOptions: RequestOptions
    let engines: Set<EngineName>
    /// The system's limit of a response in bytes.
    let maximumResponseSize: Int
    /// Whether content codings of responses are decoded.
    let decodes: Bool
    /// A random number in 0..<1, for the trials of engines.
    let random: @Sendable () -> Double
    let log: CallLogger

    /// Admits a call.
    ///
    /// - Parameter work: The stages after this one.
    func admit<Output: Sendable>(
        _ target: CallTarget,
        work: @escaping @Sendable (CallContext) async throws(ClientError) -> Output
    ) async throws(ClientError) -> Output {
        // Also for a call that isn't admitted.
        defer { target.options.progress?.end() }
        let id = calls.nextID()
        let context: CallContext
        do throws(ClientError) {
            context = try self.context(of: target, as: id)
        } catch {
            target.options.trace?.endEvents()
            throw error.of(
                CallIdentity(
                    id: id, service: target.service, method: target.method,
                    tags: target.options.tags, path: target.path),
                record: nil)
        }
        do throws(ClientError) {
            return try await calls.run(
                context.call, deadline: context.options.deadline,
                isPlain: context.isPlain,
                began: {
                    context.call.send(.started(context.identity))
                    log.started(context.identity)
                },
                ended: { self.finish(context, with: $0) }
            ) { () throws(ClientError) in
                context.log.enter(.building)
                return try await work(context)
            }
        } catch {
            throw error.of(
                context.identity, record: context.log.record, json: context.options.json)
        }
    }

    private func context(
        of target: CallTarget, as id: CallIdentity.ID
    ) throws(ClientError) -> CallContext {
        let start = ContinuousClock.now
        guard calls.isRunning || target.host?.isReport == true else { throw .notRunning }
        let snapshot = target.snapshot ?? snapshots.current
        let prepared =
            if let host = target.host { host.service } else {
                try snapshot.service(named: target.service)
            }
        let options = try mergedOptions(
            of: prepared, target.options, method: target.method, in: snapshot,
            isForServices: target.host == nil)
        var service = try prepared.choosing(options.sets)
        if let base = options.baseURL(in: snapshot.mode.mode) {
            service = service.at(try WebURL(base))
        }
        let limits = CallLimits(
            options, isBoxed: target.isBoxed, of: service.configuration,
            maximumResponseSize: maximumResponseSize)
        let identity = CallIdentity(
            id: id, service: target.service, method: target.method, tags: options.tags,
            path: target.path)
        let log = CallLog(
            identity, since: start, mode: snapshot.mode.mode,
            limits: CallRecord.Limits(limits, deadline: options.deadline),
            scenario: options.scenario)
        let call = RunningCall(
            identity, isInternal: target.host?.isReport == true, owner: options.weakOwner, log: log,
            hub: hub, trace: options.trace)
        return CallContext(
            target, to: service, in: snapshot,
            engine: options.engine.map { CallEngine($0, random: random) },
            options: options, limits: limits, call: call, decodes: decodes)
    }

    /// Ends a call: its record, its last event, and one line of the log.
    private func finish(_ context: CallContext, with error: ClientError?) {
        context.options.progress?.end()
        context.log.finish(error?.code)
        context.call.finish()
        log.ended(context.log)
    }

    /// Merges the options of all levels.
    ///
    /// - Parameter isForServices: False for a host that the system calls for itself.
    func mergedOptions(
        of service: PreparedService, _ asked: RequestOptions, method: String? = nil,
        in snapshot: SystemSnapshot, isForServices: Bool = true
    ) throws(ClientError) -> RequestOptions {
        try asked.validate()
        var options =
            isForServices
            ? service.options
            : snapshot.settings.options.merging(hostOptions)
                .merging(service.options)
        if let scenario = asked.scenario ?? options.scenario {
            options = options.merging(
                try snapshot.settings.options(of: scenario, in: service.configuration))
        }
        if !service.configuration.methods.isEmpty, let method,
            let own = service.configuration.methods[RPCMethod(method)]
        {
            options = options.merging(own)
        }
        options = options.merging(asked)
        try options.validate()
        if let problem = options.engine?.problem(among: engines) {
            throw ClientError(.invalidOptions, "the call's engine choice \(problem)")
        }
        return options
    }
}
