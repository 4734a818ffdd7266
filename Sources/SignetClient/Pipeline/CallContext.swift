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
    /// Whether the endpoint or the call has interceptors that other calls may not have.
    let hasOwnInterceptors: Bool
    /// Whether content codings of responses are decoded.
    let decodes: Bool
    /// Whether an adapter makes the request and reads the response.
    let isBoxed: Bool

    init(
        _ target: CallTarget, to service: PreparedService, in snapshot: SystemSnapshot,
        engine: CallEngine?, options: RequestOptions, limits: CallLimits, call: RunningCall,
        decodes: Bool
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
        hasOwnInterceptors =
            !target.options.interceptors.isEmpty || !target.options.attemptInterceptors.isEmpty
        self.decodes = decodes
        isBoxed = target.isBoxed
        isPlain =
            target.isInMemory && options.interceptors.isEmpty && options.attemptInterceptors.isEmpty
            && options.credentials == nil && (options.duplicates ?? .allow) == .allow
            && service.configuration.adapter == nil && service.signer?.isExternal != true
    }

    /// The context of work that several calls share, with the options of the first one. The work
    /// has no deadline, because each call has one of its own.
    init(of calls: JointCalls, like first: CallContext) {
        var limits = first.limits
        limits.end = nil
        snapshot = first.snapshot
        service = first.service
        policy = first.policy
        engine = first.engine
        admitted = first.admitted
        self.limits = limits
        call = first.call
        joint = calls
        log = calls.log ?? first.log
        credentialKey = first.credentialKey
        hasOwnInterceptors = first.hasOwnInterceptors
        decodes = first.decodes
        isBoxed = first.isBoxed
        isPlain = false
    }

    /// Whether no code of the program can hold up the call before its request is sent, but for an
    /// endpoint's or an engine's.
    let isPlain: Bool

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
