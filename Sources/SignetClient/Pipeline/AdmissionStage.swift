import SignetRPC
import SignetSystem
import SignetTransport

/// The first stage: merges the options, gives the call its identity and its snapshot, and runs the
/// rest of the pipeline as the call's work. Each call ends once.
///
/// It is an object, because the calls' closures would copy its members.
final class AdmissionStage: Sendable {
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
    /// For deadlines, and the trials of engines.
    let clock: SystemClock
    let log: CallLogger
    /// Whether the standard engine is a ``CancellableHTTPEngine``, and the system has no cache.
    let endsRequests: Bool
    private let ordinals = CallOrdinals()
    let secretKeeping = SecretKeeping()
    /// The program's stubs.
    let stubs: CallStubs
    /// The queues of services with a limit of calls.
    private let serviceQueues = ServiceQueues()

    init(
        calls: RunningCalls, hub: EventHub, snapshots: SnapshotBox, hostOptions: RequestOptions,
        engines: Set<EngineName>, maximumResponseSize: Int, decodes: Bool, clock: SystemClock,
        log: CallLogger, stubs: CallStubs = CallStubs(), endsRequests: Bool = false
    ) {
        self.endsRequests = endsRequests
        self.calls = calls
        self.hub = hub
        self.snapshots = snapshots
        self.hostOptions = hostOptions
        self.engines = engines
        self.maximumResponseSize = maximumResponseSize
        self.decodes = decodes
        self.clock = clock
        self.log = log
        self.stubs = stubs
    }

    /// Admits a call, and returns the value of its work.
    ///
    /// - Parameter work: The stages after this one.
    func admit<Value: Sendable>(
        _ target: CallTarget,
        work: @escaping @Sendable (CallContext) async throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        let value = WorkValue<Value>()
        try await admit(target) { context throws(ClientError) in
            value.set(try await work(context))
        }
        return try value.get()
    }

    /// Admits a call.
    ///
    /// - Parameter work: The stages after this one.
    func admit(
        _ target: CallTarget,
        work: @escaping @Sendable (CallContext) async throws(ClientError) -> Void
    ) async throws(ClientError) {
        // Also for a call that isn't admitted.
        defer { target.options.progress?.end() }
        let context: CallContext
        if let begun = target.begun {
            context = try begun.get()
        } else {
            context = try begin(target, as: calls.nextID())
        }
        do throws(ClientError) {
            try await calls.run(
                context.call, deadline: context.options.deadline,
                place: context.place(of: target, endsRequests: endsRequests),
                isAdmitted: target.begun != nil,
                began: {
                    context.call.noteStart()
                    log.started(context.identity)
                },
                ended: { [log] in context.finish(with: $0, log: log) }
            ) { () throws(ClientError) in
                if !context.queues.isEmpty {
                    context.log.enter(.queue)
                    for queue in context.queues {
                        try await queue.wait(
                            context.call, priority: context.options.priority ?? .normal)
                    }
                }
                if !context.isIntercepted { context.log.enter(.building) }
                try await work(context)
            }
        } catch {
            throw error.of(
                context.identity, record: context.log.record, json: context.options.json)
        }
    }

    /// Admits a call whose work runs later, so that it has its number and counts as running at
    /// once.
    func begin(_ target: inout CallTarget) -> CallIdentity.ID {
        let id = calls.nextID()
        do throws(ClientError) {
            let context = try begin(target, as: id)
            guard calls.admit(context.call) else {
                context.call.finishWithoutRecord()
                throw ClientError.notRunning.of(context.identity, record: nil)
            }
            target.begun = .success(context)
        } catch {
            target.begun = .failure(error)
        }
        return id
    }

    /// Merges the options, and gives the call its identity and its snapshot.
    func begin(
        _ target: CallTarget, as id: CallIdentity.ID
    ) throws(ClientError) -> CallContext {
        do throws(ClientError) {
            return try context(of: target, as: id)
        } catch {
            target.options.trace?.endEvents()
            throw error.of(
                CallIdentity(
                    id: id, service: target.service, method: target.method,
                    tags: target.options.tags, path: target.path),
                record: nil)
        }
    }

    private func context(
        of target: CallTarget, as id: CallIdentity.ID
    ) throws(ClientError) -> CallContext {
        let start = MonotonicTime.now
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
        // None of the hosts that the system calls for itself.
        let switches = target.host == nil ? snapshot.mode.switches : DebugSwitches()
        let ownBase = options.baseURL(in: snapshot.mode.mode)
        if let base = switches.baseURLs[target.service] ?? ownBase {
            service = service.at(try WebURL(base))
        }
        let limits = CallLimits(
            options,
            isProcedure: target.isBoxed && service.configuration.payloadProtocol != .rest,
            maximumResponseSize: maximumResponseSize, now: clock.instant)
        var identity = CallIdentity(
            id: id, service: target.service, method: target.method, tags: options.tags,
            path: target.path)
        if let interaction = options.interaction { identity.interaction = interaction }
        identity.isProbe = target.isProbe
        let log = CallLog(
            identity, since: start, mode: snapshot.mode.mode,
            limits: CallRecord.Limits(limits, deadline: options.deadline),
            scenario: options.scenario,
            contents: options.keepsContents ?? (snapshot.mode.mode != .production)
                ? ContentsLog(
                    ordinal: ordinals.next(of: target.service, target.method),
                    keepsSecrets: secretKeeping.isOn && snapshot.mode.mode != .production) : nil)
        let call = RunningCall(
            log, isInternal: target.host?.isReport == true, owner: options.weakOwner, hub: hub,
            trace: options.trace)
        var queues: [CallQueue] = []
        if let queue = options.queue { queues.append(queue) }
        if target.host == nil, let limit = service.configuration.maximumCalls {
            queues.append(serviceQueues.queue(of: target.service, limit: limit))
        }
        return CallContext(
            target, to: service, in: snapshot,
            engine: engineChoice(of: target, options: options, switches: switches).map {
                CallEngine($0, isMarked: !target.isProbe, random: clock.random)
            },
            options: options, limits: limits, call: call,
            stubs: stubs.active { snapshot.mode.stubModules }, queues: queues,
            decodes: decodes)
    }

    /// Returns the engine of a debugging switch, unless a test call names its own.
    private func engineChoice(
        of target: CallTarget, options: RequestOptions, switches: DebugSwitches
    ) -> EngineChoice? {
        if target.isProbe, let own = target.options.engine { return own }
        return switches.engine.map { EngineChoice($0) } ?? options.engine
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

extension CallContext {
    /// Ends the call: its record, its last event, and one line of the log.
    ///
    /// - Returns: Whether all events of the call were delivered.
    fileprivate func finish(with error: ClientError?, log logger: CallLogger) -> Bool {
        options.progress?.end()
        log.finish(error)
        for queue in queues { queue.leave(call) }
        let isDelivered = call.finish()
        logger.ended(log)
        return isDelivered
    }
}
