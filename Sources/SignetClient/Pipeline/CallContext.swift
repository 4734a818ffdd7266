import HTTPTypes
import SignetBase
import SignetPinning
import SignetRPC
import SignetTransport

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
    var options: RequestOptions { admitted.options }
    let limits: CallLimits
    let call: RunningCall
    /// The calls that share the work; nil for the work of one call.
    let joint: JointCalls?
    let log: CallLog
    /// The owner of the credentials that the call carries, fixed when the call started; nil for
    /// none.
    let credentialKey: CredentialKey?
    /// Whether the endpoint or the call has interceptors of attempts that other calls may not have.
    let hasOwnInterceptors: Bool
    /// Whether the endpoint or the call has interceptors of any kind.
    let isInterceptedByItsOwn: Bool
    /// The fields that the call's interceptors added, or the system; nil for none.
    let addedFields: HTTPFields?
    /// Whether content codings of responses are decoded.
    let decodes: Bool
    /// Whether an adapter makes the request and reads the response.
    let isBoxed: Bool
    /// The stubs that act in the call.
    let stubs: [ActiveStub]
    /// The queues in which the call waits for a place, one after the other.
    let queues: [CallQueue]
    /// How the response is received; nil unless the call's own rules cache it.
    let receipt: CacheReceipt?

    init(
        _ target: CallTarget, to service: PreparedService, in snapshot: SystemSnapshot,
        engine: CallEngine?, options: RequestOptions, limits: CallLimits, call: RunningCall,
        stubs: [ActiveStub], queues: [CallQueue], decodes: Bool
    ) {
        self.snapshot = snapshot
        self.service = service
        policy = target.host?.policy ?? snapshot.policy
        self.engine = engine
        admitted = AdmittedCall(call.identity, options: options, mode: snapshot.mode.mode)
        self.limits = limits
        self.call = call
        joint = nil
        log = call.log
        credentialKey = options.credentials.map { CredentialKey(of: $0, at: target.service) }
        hasOwnInterceptors = !target.options.attemptInterceptors.isEmpty
        isInterceptedByItsOwn = hasOwnInterceptors || !target.options.interceptors.isEmpty
        addedFields = target.addedFields
        self.decodes = decodes
        isBoxed = target.isBoxed
        self.queues = queues
        self.stubs = stubs
        receipt = options.cache?.ownRules == nil ? nil : CacheReceipt()
    }

    /// The context of work that several calls share, with the options of the first one. The work
    /// has no deadline, because each call has one of its own.
    convenience init(of calls: JointCalls, like first: CallContext) {
        var limits = first.limits
        limits.end = nil
        self.init(
            first, limits: limits, joint: calls, log: calls.log ?? first.log,
            addedFields: first.addedFields)
    }

    /// Returns the context of the same call with fields that its interceptors added.
    func adding(_ fields: HTTPFields) -> CallContext {
        var all = addedFields ?? [:]
        for field in fields { all[field.name] = nil }
        all.append(contentsOf: fields)
        return CallContext(self, limits: limits, joint: joint, log: log, addedFields: all)
    }

    private init(
        _ first: CallContext, limits: CallLimits, joint: JointCalls?, log: CallLog,
        addedFields: HTTPFields?
    ) {
        snapshot = first.snapshot
        service = first.service
        policy = first.policy
        engine = first.engine
        admitted = first.admitted
        self.limits = limits
        call = first.call
        self.joint = joint
        self.log = log
        credentialKey = first.credentialKey
        hasOwnInterceptors = first.hasOwnInterceptors
        isInterceptedByItsOwn = first.isInterceptedByItsOwn
        self.addedFields = addedFields
        decodes = first.decodes
        isBoxed = first.isBoxed
        queues = first.queues
        stubs = first.stubs
        receipt = joint?.batch?.receipt ?? first.receipt
    }

    /// Whether interceptors run around the call.
    var isIntercepted: Bool { !options.interceptors.isEmpty }

    /// Whether the call's request goes from the adapter to the attempts: no other call, stored
    /// response or stub has a part in it.
    var isDirect: Bool {
        stubs.isEmpty && options.merging == nil && receipt == nil
            && (options.duplicates ?? .allow) == .allow
    }

    /// The place of the work of the call that this context was made for. A body that isn't in
    /// memory may be read without a wait.
    ///
    /// - Parameter endsRequests: Whether the standard engine is a ``CancellableHTTPEngine``, and
    ///   the system has no cache.
    func place(of target: CallTarget, endsRequests: Bool) -> WorkPlace {
        guard target.isInMemory else { return .ownTask }
        let waitsOnlyForRequests =
            isDirect && engine == nil && queues.isEmpty && !isIntercepted
            && options.attemptInterceptors.isEmpty && options.credentials == nil
            && service.configuration.adapter == nil && service.signer?.isExternal != true
        if endsRequests && waitsOnlyForRequests { return .callersTask }
        // A task was made for a call that has begun already, so its caller isn't in it.
        return target.begun == nil ? .callersThread : .ownTask
    }

    /// The counters of the call's progress; nil after the call was ended, whose work may continue
    /// for other calls.
    var progress: CallProgress? { !call.isEnding ? options.progress : nil }

    /// Whether the call has ended, or all calls that share the work. Then nothing more is sent, not
    /// even by an interceptor's own task, which the end of a call doesn't cancel.
    var hasEnded: Bool { joint?.hasEnded ?? call.hasEnded }

    /// Delivers an event to the observers of the call, or of each call that shares the work.
    func send(_ event: (CallIdentity) -> CallEvent) {
        if let joint { joint.send(event) } else { call.send(event(identity)) }
    }
}
