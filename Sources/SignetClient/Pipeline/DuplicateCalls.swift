import HTTPTypes
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization

/// The identity of a call for its duplicate policy.
enum DuplicateKey: Sendable, Hashable {
    case equalCall(EqualCallKey)
    case sameAPI(
        ServiceName, method: String, path: String?, scope: CredentialKey?,
        asking: Set<CredentialKey>)
    case text(String)

    init(
        _ scope: DuplicatePolicy.Scope, _ request: CallRequest, for context: CallContext
    ) {
        let identity = context.identity
        switch scope.kind {
        case .equalCalls: self = .equalCall(EqualCallKey(request, for: context))
        case .sameAPI:
            self = .sameAPI(
                identity.service, method: identity.method, path: identity.path,
                scope: context.credentialKey, asking: CredentialStore.asking)
        case .text(let text): self = .text(text)
        }
    }
}

/// The identity of a call that is equal to another, made before boxing: ids differ each time.
struct EqualCallKey: Sendable, Hashable {
    /// The options that change how a request is sent or its response is read.
    private struct Manner: Hashable {
        let engine: EngineChoice?
        let compression: RequestCompression?
        let redirects: RedirectPolicy
        let idempotency: Idempotency
        let maximumResponseSize: Int
        /// Interceptors can differ between scenarios.
        let scenario: Scenario?
        let waitsForConnectivity: Bool

        init(_ context: CallContext) {
            engine = context.options.engine
            compression = context.options.compression
            redirects = context.limits.redirects
            idempotency = context.limits.idempotency
            maximumResponseSize = context.limits.maximumResponseSize
            scenario = context.options.scenario
            waitsForConnectivity = context.options.waitsForConnectivity ?? false
        }
    }

    let snapshot: ObjectIdentifier
    let service: ServiceName
    let base: WebURL
    let request: CallRequest
    let fields: HTTPFields
    let addedFields: HTTPFields?
    let scope: CredentialKey?
    private let certificate: ObjectIdentifier?
    let sets: [String]?
    let json: JSONConventions?
    /// Nil for calls that don't join: they are the same however they are sent.
    private let manner: Manner?
    /// The call, if it has interceptors of attempts of its own: nothing equals it then.
    private let onlyCall: CallIdentity.ID?
    /// The sources of credentials that make the call: it must not wait for one that waits for them.
    let asking: Set<CredentialKey>

    init(_ request: CallRequest, for context: CallContext) {
        snapshot = ObjectIdentifier(context.snapshot)
        service = context.identity.service
        base = context.service.url
        self.request = request
        fields = context.options.fields
        addedFields = context.addedFields
        scope = context.credentialKey
        certificate = context.options.clientCertificate.map(ObjectIdentifier.init)
        sets = context.options.sets
        json = context.options.json
        manner = context.options.duplicates == .join ? Manner(context) : nil
        onlyCall = context.hasOwnInterceptors ? context.identity.id : nil
        asking = CredentialStore.asking
    }
}

/// The running calls whose policy is to refuse or to replace, and the shared work of those that
/// join. A call that an interceptor sends several times never joins, refuses or replaces itself.
final class DuplicateCalls: Sendable {
    private struct Running {
        let call: RunningCall
        /// How often the call was sent on and hasn't returned.
        var count = 1
    }

    private struct Joining: Hashable {
        let key: EqualCallKey
        let call: CallIdentity.ID
    }

    private let running = Mutex<[DuplicateKey: Running]>([:])
    private let joining = Mutex<Set<Joining>>([])
    private let shared = SharedWork<EqualCallKey, UnboxedResponse>()

    /// The number of calls that wait for shared work.
    var joinedCount: Int { shared.waitingCount }

    /// Runs a call's work by its duplicate policy.
    ///
    /// - Throws: `already-running`; the work's error.
    func run(
        _ request: CallRequest, in context: CallContext,
        work: @escaping @Sendable (CallContext) async throws(ClientError) -> UnboxedResponse
    ) async throws(ClientError) -> UnboxedResponse {
        switch (context.options.duplicates ?? .allow).kind {
        case .allow: return try await work(context)
        case .join: return try await join(EqualCallKey(request, for: context), context, work: work)
        case .refuse(let scope):
            return try await run(
                DuplicateKey(scope, request, for: context), context, replaces: false, work: work)
        case .replace(let scope):
            return try await run(
                DuplicateKey(scope, request, for: context), context, replaces: true, work: work)
        }
    }

    /// Waits for the work of an equal call, or does it for all that come.
    private func join(
        _ key: EqualCallKey, _ context: CallContext,
        work: @escaping @Sendable (CallContext) async throws(ClientError) -> UnboxedResponse
    ) async throws(ClientError) -> UnboxedResponse {
        let mark = Joining(key: key, call: context.identity.id)
        guard joining.withLock({ $0.insert(mark).inserted }) else {
            return try await work(context)
        }
        defer { joining.withLock { _ = $0.remove(mark) } }
        // Each caller has a deadline of its own; the work ends with the last of them.
        var leaving: ((@escaping @Sendable () -> Void) -> Void)?
        if context.isIntercepted { leaving = context.call.onCancel }
        let response = try await shared.value(for: key, leaving: leaving) {
            $0.add(context.call)
        } of: { calls throws(ClientError) in
            let joint = CallContext(of: calls, like: context)
            joint.log.enter(.building)
            return try await work(joint)
        }
        try context.check(response)
        return response
    }

    /// Runs the only call with a key.
    private func run(
        _ key: DuplicateKey, _ context: CallContext, replaces: Bool,
        work: @Sendable (CallContext) async throws(ClientError) -> UnboxedResponse
    ) async throws(ClientError) -> UnboxedResponse {
        let own = context.call
        let earlier = running.withLock { running -> RunningCall? in
            guard let entry = running[key] else {
                running[key] = Running(call: own)
                return nil
            }
            if entry.call === own {
                running[key]?.count += 1
                return nil
            }
            // A call that was ended is over, even if its work never returns.
            let earlier = entry.call.hasEnded ? nil : entry.call
            if earlier == nil || replaces { running[key] = Running(call: own) }
            return earlier
        }
        if let earlier {
            guard replaces else {
                throw ClientError(
                    .alreadyRunning,
                    "call \(earlier.identity.id) does the same and has not ended")
            }
            earlier.end(
                ClientError(
                    .replaced,
                    "call \(context.identity.id) does the same and replaced this one"))
        }
        defer {
            running.withLock { running in
                if let entry = running[key], entry.call === own {
                    running[key] =
                        entry.count > 1 ? Running(call: own, count: entry.count - 1) : nil
                }
            }
        }
        return try await work(context)
    }
}
