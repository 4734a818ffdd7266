import HTTPTypes
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization

/// The identity of a call for its duplicate policy, made before boxing: ids differ each time.
struct DuplicateKey: Sendable, Hashable {
    /// The options that change how a request is sent or its response is read.
    private struct Manner: Hashable {
        let engine: EngineChoice?
        let compression: RequestCompression?
        let redirects: RedirectPolicy
        let idempotency: Idempotency
        let maximumResponseSize: Int
        /// Interceptors can differ between scenarios.
        let scenario: Scenario?

        init(_ context: CallContext) {
            engine = context.options.engine
            compression = context.options.compression
            redirects = context.limits.redirects
            idempotency = context.limits.idempotency
            maximumResponseSize = context.limits.maximumResponseSize
            scenario = context.options.scenario
        }
    }

    let snapshot: ObjectIdentifier
    let service: ServiceName
    let base: WebURL
    let request: CallRequest
    let fields: HTTPFields
    let scope: CredentialKey?
    private let certificate: ObjectIdentifier?
    let sets: [String]?
    let json: JSONConventions?
    /// Nil for calls that don't join: they are the same however they are sent.
    private let manner: Manner?
    /// The call, if it has interceptors of its own: nothing equals it then.
    private let onlyCall: CallIdentity.ID?
    /// The sources of credentials that make the call: it must not wait for one that waits for them.
    let asking: Set<CredentialKey>

    init(_ request: CallRequest, for context: CallContext) {
        snapshot = ObjectIdentifier(context.snapshot)
        service = context.identity.service
        base = context.service.url
        self.request = request
        fields = context.options.fields
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
/// join.
final class DuplicateCalls: Sendable {
    private let running = Mutex<[DuplicateKey: RunningCall]>([:])
    private let shared = SharedWork<DuplicateKey, UnboxedResponse>()

    /// The number of calls that wait for shared work.
    var joinedCount: Int { shared.waitingCount }

    /// Runs a call's work by its duplicate policy.
    ///
    /// - Throws: `already-running`; the work's error.
    func run(
        _ request: CallRequest, in context: CallContext,
        work: @escaping @Sendable (CallContext) async throws(ClientError) -> UnboxedResponse
    ) async throws(ClientError) -> UnboxedResponse {
        let policy = context.options.duplicates ?? .allow
        guard policy != .allow else { return try await work(context) }
        let key = DuplicateKey(request, for: context)
        if policy == .join {
            // Each caller has a deadline of its own; the work ends with the last of them.
            let response = try await shared.value(for: key) {
                $0.add(context.call)
            } of: { calls throws(ClientError) in
                let joint = CallContext(of: calls, like: context)
                joint.log.enter(.building)
                return try await work(joint)
            }
            try context.check(response)
            return response
        }
        let earlier = running.withLock { running in
            // A call that was ended is over, even if its work never returns.
            let earlier = running[key].flatMap { $0.isEnding ? nil : $0 }
            if earlier == nil || policy == .replace { running[key] = context.call }
            return earlier
        }
        if let earlier {
            guard policy == .replace else {
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
                if running[key] === context.call { running[key] = nil }
            }
        }
        return try await work(context)
    }
}
