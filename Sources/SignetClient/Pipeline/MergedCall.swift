import HTTPTypes
import SignetRPC
import SignetTransport

/// A call that may share a request with others.
struct MergedCall: Sendable {
    let call: RPCCall
    /// Its request if it goes alone.
    let boxed: BoxedCall
    let adapter: JSONRPCAdapter
    let kind: Kind
    let limits: CallMerging
    let context: CallContext
    /// Sends calls of the kind in one request, and returns their outcomes by their numbers.
    let send: Send

    typealias Send =
        @Sendable (MergedBatch, CallContext) async throws(ClientError) -> [Int: MergedBatch.Outcome]

    /// The properties that calls have in common if they share a request.
    struct Kind: Sendable, Hashable {
        private let snapshot: ObjectIdentifier
        private let service: ServiceName
        private let base: WebURL
        private let fields: HTTPFields
        private let addedFields: HTTPFields?
        private let scope: CredentialKey?
        private let certificate: ObjectIdentifier?
        private let sets: [String]?
        private let scenario: Scenario?
        private let engine: EngineChoice?
        private let isTrial: Bool
        /// Whether the response is kept by the program's own rules, which need its receipt.
        private let isKept: Bool
        private let compression: RequestCompression?
        /// Nil if no interceptor of attempts sees them.
        private let tags: Set<String>?
        private let limits: Limits
        private let merging: CallMerging

        private struct Limits: Hashable {
            let timeout: Duration
            let connectTimeout: Duration?
            let attempts: Int
            let maximumResponseSize: Int
            let retry: RetryStrategy
            let redirects: RedirectPolicy
            let idempotency: Idempotency
            let waits: Bool
        }

        fileprivate init(_ context: CallContext, at base: WebURL, _ merging: CallMerging) {
            let (options, limits) = (context.options, context.limits)
            snapshot = ObjectIdentifier(context.snapshot)
            service = context.identity.service
            self.base = base
            fields = options.fields
            addedFields = context.addedFields
            scope = context.credentialKey
            certificate = options.clientCertificate.map(ObjectIdentifier.init)
            sets = options.sets
            scenario = options.scenario
            engine = options.engine
            isTrial = context.engine?.isTrial ?? false
            isKept = context.receipt != nil
            compression = options.compression
            tags = options.attemptInterceptors.isEmpty ? nil : context.identity.tags
            self.limits = Limits(
                timeout: limits.timeout, connectTimeout: limits.connectTimeout,
                attempts: limits.attempts, maximumResponseSize: limits.maximumResponseSize,
                retry: limits.retry, redirects: limits.redirects, idempotency: limits.idempotency,
                waits: options.waitsForConnectivity ?? false)
            self.merging = merging
        }
    }

    /// The number of bytes that the call adds to a batch.
    var size: Int { boxed.request.body.count }

    /// Boxes a call if it may share a request.
    ///
    /// - Parameter send: Sends calls in one request.
    /// - Returns: Nil if it goes alone.
    /// - Throws: The adapter's error for a call that can't be sent.
    init?(
        _ request: CallRequest, in context: CallContext, send: @escaping Send
    ) throws(ClientError) {
        let options = context.options
        guard let merging = options.merging, merging.isOn, context.joint == nil,
            !context.isInterceptedByItsOwn, context.stubs.isEmpty, options.progress == nil,
            options.cache != .http, options.cacheMode != .only, !CallMerger.isOut,
            CredentialStore.asking.isEmpty,
            let adapter = context.service.adapter as? JSONRPCAdapter, adapter.version == .v2,
            adapter.maximumBatchCount > 1, case .procedure(let call, _) = request,
            call.responseContent == .json
        else { return nil }
        let boxed = try context.box(request)
        self.boxed = boxed
        self.call = try context.service.joiningCommonParameters(call)
        kind = Kind(context, at: boxed.base, merging)
        self.adapter = adapter
        var limits = merging
        limits.maximumCalls = min(limits.maximumCalls, adapter.maximumBatchCount)
        self.limits = limits
        self.context = context
        self.send = send
    }
}
