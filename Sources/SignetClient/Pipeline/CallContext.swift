internal import SignetBase
internal import SignetPinning
public import SignetRPC
internal import SignetTransport

/// The snapshot, service, options, limits and identity of an admitted call, until its end. Every
/// stage gets it, so it is an object, which costs less to hand on than its members.
final class CallContext: Sendable {
    let snapshot: SystemSnapshot
    let service: PreparedService
    let policy: PinPolicy?
    /// The call's engine choice; nil for the standard engine.
    let engine: CallEngine?
    /// The identity and the merged options, as interceptors see them.
    let admitted: AdmittedCall
    var identity: CallIdentity { admitted.identity }
    var options: CallOptions { admitted.options }
    let rules: CallRules
    let call: RunningCall
    /// The calls that share the work; nil for the work of one call.
    let joint: JointCalls?
    let log: CallLog
    /// The owner of the credentials that the call carries, fixed when the call started; nil for
    /// none.
    let credentialKey: CredentialKey?
    /// Whether the endpoint or the call has interceptors that other calls may not have.
    let hasOwnInterceptors: Bool
    /// Whether refusals of the pin policy are reported.
    let reportsPins: Bool
    /// Whether content codings of responses are decoded.
    let decodes: Bool

    init(
        _ target: CallTarget, to service: PreparedService, in snapshot: SystemSnapshot,
        engine: CallEngine?, options: CallOptions, rules: CallRules, call: RunningCall,
        decodes: Bool
    ) {
        self.snapshot = snapshot
        self.service = service
        policy = target.host?.policy ?? snapshot.policy
        self.engine = engine
        admitted = AdmittedCall(call.identity, options: options, mode: snapshot.mode.mode)
        self.rules = rules
        self.call = call
        joint = nil
        log = call.log
        credentialKey = options.credentials.map { CredentialKey(of: $0, at: target.service) }
        hasOwnInterceptors =
            !target.options.interceptors.isEmpty || !target.options.attemptInterceptors.isEmpty
        reportsPins = target.host?.isReport != true
        self.decodes = decodes
    }

    /// The context of work that several calls share, with the options of the first one. The work
    /// has no deadline, because each call has one of its own.
    init(of calls: JointCalls, like first: CallContext) {
        var rules = first.rules
        rules.end = nil
        snapshot = first.snapshot
        service = first.service
        policy = first.policy
        engine = first.engine
        admitted = first.admitted
        self.rules = rules
        call = first.call
        joint = calls
        log = calls.log ?? first.log
        credentialKey = first.credentialKey
        hasOwnInterceptors = first.hasOwnInterceptors
        reportsPins = first.reportsPins
        decodes = first.decodes
    }

    /// The counters of the call's progress; nil after the call was ended, whose work may continue
    /// for other calls.
    var progress: CallProgress? { call.ending == nil ? options.progress : nil }

    /// Whether the call has ended, or all calls that share the work. Then nothing more is sent, not
    /// even by an interceptor's own task, which the end of a call doesn't cancel.
    var hasEnded: Bool { joint?.hasEnded ?? call.hasEnded }

    /// Delivers an event to the observers of the call, or of each call that shares the work.
    func send(_ event: (CallIdentity) -> CallEvent) {
        if let joint { joint.send(event) } else { call.send(event(identity)) }
    }
}

extension NetworkSystem {
    /// The first stage: merges the options, gives the call its identity and its snapshot, and runs
    /// the rest of the pipeline as the call's work. Each call ends once.
    func admitted<Output: Sendable>(
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
                began: {
                    context.call.send(.started(context.identity))
                    logStart(of: context.identity)
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
        let snapshot = target.snapshot ?? box.snapshot
        let prepared =
            if let host = target.host { host.service } else {
                try snapshot.service(named: target.service)
            }
        let options = try mergedOptions(
            of: prepared, target.options, method: target.method, in: snapshot,
            isForServices: target.host == nil)
        var service = try prepared.choosing(options.sets)
        if let base = options.baseURL(in: snapshot.mode.mode) {
            service.url = try WebURL(base)
        }
        let rules = CallRules(
            options, isBoxed: target.isBoxed, of: service.configuration,
            maximumResponseSize: self.options.maximumResponseSize)
        let identity = CallIdentity(
            id: id, service: target.service, method: target.method, tags: options.tags,
            path: target.path)
        let log = CallLog(
            identity, since: start, mode: snapshot.mode.mode,
            limits: CallRecord.Limits(rules, deadline: options.deadline),
            scenario: options.scenario)
        let call = RunningCall(
            identity, isInternal: target.host?.isReport == true, owner: options.weakOwner, log: log,
            hub: hub, trace: options.trace)
        return CallContext(
            target, to: service, in: snapshot,
            engine: options.engine.map { CallEngine($0, random: self.options.random) },
            options: options, rules: rules, call: call, decodes: self.options.decoding != nil)
    }

    /// The last stage: the call's record, its last event, and one line of the log.
    private func finish(_ context: CallContext, with error: ClientError?) {
        context.options.progress?.end()
        let record = context.log.finish(error?.code)
        context.call.finish(with: record)
        logEnd(record)
    }

    /// Merges the options of all levels.
    ///
    /// - Parameter isForServices: False for a host that the system calls for itself.
    func mergedOptions(
        of service: PreparedService, _ asked: CallOptions, method: String? = nil,
        in snapshot: SystemSnapshot, isForServices: Bool = true
    ) throws(ClientError) -> CallOptions {
        try asked.validate()
        let common = self.options.callOptions
        var options = snapshot.settings.options.merging(
            isForServices ? common : common.withoutThoseOfServices
        ).merging(service.configuration.levelOptions)
        if let scenario = asked.scenario ?? options.scenario {
            options = options.merging(
                try snapshot.settings.options(of: scenario, in: service.configuration))
        }
        if let method, let own = service.configuration.methods[RPCMethod(method)] {
            options = options.merging(own)
        }
        options = options.merging(asked)
        try options.validate()
        if let problem = options.engine?.problem(among: Set(self.options.engines.keys)) {
            throw ClientError(.invalidOptions, "the call's engine choice \(problem)")
        }
        return options
    }

    /// Returns the options that a call of a service has: those of all levels, merged.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - method: The procedure's name or the HTTP method, whose options the service may have.
    ///   - options: The options of the endpoint and the call.
    /// - Throws: `unknown-service`, `unknown-scenario`, `invalid-options`.
    public func callOptions(
        for service: Service, method: RPCMethod? = nil, merging options: CallOptions = CallOptions()
    ) throws(ClientError) -> CallOptions {
        let snapshot = box.snapshot
        return try mergedOptions(
            of: snapshot.service(named: service), options, method: method?.name, in: snapshot)
    }

    // MARK: Running calls

    /// The calls that are running, in the order in which they began.
    public var runningCalls: [CallIdentity] { calls.identities }

    /// Ends a running call with `cancelled`.
    ///
    /// - Returns: Whether the call was running.
    @discardableResult
    public func cancelCall(_ id: CallIdentity.ID) -> Bool {
        calls.end(with: .cancelledByCaller) { $0.identity.id == id } > 0
    }

    /// Ends the running calls that have a tag with `cancelled`.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls(taggedWith tag: String) -> Int {
        calls.end(with: .cancelledByCaller) { $0.identity.tags.contains(tag) }
    }

    /// Ends the running calls of a service with `cancelled`.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls(of service: Service) -> Int {
        calls.end(with: .cancelledByCaller) { $0.identity.service == service }
    }
}

extension SystemSnapshot {
    /// - Throws: `unknown-service`.
    func service(named name: Service) throws(ClientError) -> PreparedService {
        guard let service = services[name] else {
            throw ClientError(
                .unknownService,
                "the configuration has no service \(name)"
                    + NearestName.suggestion(for: name.name, among: services.keys.map(\.name)))
        }
        return service
    }
}
