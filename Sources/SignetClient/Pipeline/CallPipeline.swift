import HTTPTypes
import SignetBase
import SignetRPC
import SignetTransport
import Synchronization

/// Every call goes through these stages: typed calls, batches, exchanges, uploads, downloads,
/// streams, pages, fetched values, signed pin policies and pin reports. Those that no duplicate
/// policy holds for begin at the admission too, and continue with ``send(_:into:in:)``.
///
/// A ``CallTarget`` becomes a ``CallContext`` (snapshot, merged options, identity), which every
/// stage gets. The call is a `PendingCall` through its interceptors, a `CallRequest` until the
/// service's adapter has boxed it, then an `OutgoingCall` through its attempts, a `FrozenRequest`
/// while it is signed, and an `EngineRequest` when it leaves. The response is an `EngineResponse`
/// until a reader has read it, then a `RawResponse`, and an `UnboxedResponse` after the adapter.
///
/// It is an object without state, because the closures of each call hold it. Copies of all stages
/// would cost more (benchmark row `system-empty`).
final class CallPipeline: Sendable {
    let admission: AdmissionStage
    let duplicates: DuplicateCalls
    let merger: CallMerger
    /// The caches; nil for a system without a store.
    let caches: CacheStages?
    let attempts: AttemptStage
    let decoder: ResponseDecoder

    init(
        admission: AdmissionStage, duplicates: DuplicateCalls, merger: CallMerger,
        caches: CacheStages?, attempts: AttemptStage, decoder: ResponseDecoder
    ) {
        self.admission = admission
        self.duplicates = duplicates
        self.merger = merger
        self.caches = caches
        self.attempts = attempts
        self.decoder = decoder
    }

    /// Makes a call with a payload. This is the order of the stages.
    ///
    /// - Parameters:
    ///   - began: Called once the call is admitted.
    ///   - request: Checks the call's values and makes its request, before anything is sent.
    ///   - value: Converts the response.
    func run<Output: Sendable>(
        _ target: CallTarget, began: (@Sendable (CallContext) -> Void)? = nil,
        request: @escaping @Sendable (CallContext) throws(ClientError) -> CallRequest,
        value: @escaping @Sendable (UnboxedResponse) throws(ClientError) -> Output
    ) async throws(ClientError) -> Output {
        let kept = WorkValue<Output>()
        try await run(target, began: began, request: request) { response throws(ClientError) in
            kept.set(try value(response))
        }
        return try kept.get()
    }

    private func run(
        _ target: CallTarget, began: (@Sendable (CallContext) -> Void)?,
        request: @escaping @Sendable (CallContext) throws(ClientError) -> CallRequest,
        deliver: @escaping @Sendable (UnboxedResponse) throws(ClientError) -> Void
    ) async throws(ClientError) {
        try await admission.admit(target) { [self] call throws(ClientError) in
            began?(call)
            guard call.isIntercepted else {
                if call.isDirect {
                    let boxed = try call.box(request(call))
                    let raw = try await send(call.request(boxed), in: call)
                    guard raw.body.count > Self.longBody else {
                        return try deliver(call.unboxAndCheck(raw, to: boxed.request))
                    }
                    // The call's end doesn't wait for a long body to be read.
                    let outcome = await call.call.separately {
                        Result { () throws(ClientError) in
                            try deliver(call.unboxAndCheck(raw, to: boxed.request))
                        }
                    }
                    guard let outcome else { throw .cancelledByCaller }
                    return try outcome.get()
                }
                let response = try await respond(to: request(call), in: call)
                return try await deliver(call.beforeDelivery(response))
            }
            let content = PendingCall.Content.payload({ () throws(ClientError) in
                try request(call)
            })
            let response = try await intercepted(content, in: call) {
                [self] pending, call throws(ClientError) in
                try await respond(to: pending.request(), in: call)
            }
            try await deliver(call.beforeDelivery(response))
        }
    }

    /// Sends a call that no duplicate policy holds for, within its interceptors.
    ///
    /// - Parameters:
    ///   - request: Makes the request.
    ///   - isReplayable: Whether it can be sent again.
    ///   - box: Boxes the request, or the one that an interceptor put in its place.
    func response(
        to request: @escaping @Sendable () throws(ClientError) -> CallRequest,
        isReplayable: Bool = true, in call: CallContext,
        box:
            @escaping @Sendable (CallRequest, CallContext) throws(ClientError) -> BoxedCall
    ) async throws(ClientError) -> UnboxedResponse {
        guard call.isIntercepted else {
            let boxed = try await box(call.beforeBoxing(request()), call)
            return try await call.beforeDelivery(respond(to: boxed, in: call))
        }
        let content = PendingCall.Content.payload(request, isReplayable: isReplayable)
        let response = try await intercepted(content, in: call) {
            [self] pending, call throws(ClientError) in
            let boxed = try await box(call.beforeBoxing(pending.request()), call)
            return try await respond(to: boxed, in: call)
        }
        return try await call.beforeDelivery(response)
    }

    /// Boxes a request and gets its response, unless the duplicate policy has another call's.
    private func respond(
        to request: CallRequest, in call: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        guard (call.options.duplicates ?? .allow) != .allow else {
            return try await cached(request, in: call)
        }
        return try await duplicates.run(request, in: call) {
            [self] call throws(ClientError) in
            try await cached(request, in: call)
        }
    }

    /// Boxes a request and gets its response, unless one is stored by the program's own rules.
    private func cached(
        _ request: CallRequest, in call: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        guard let caches, let rules = call.options.cache?.ownRules else {
            return try await sent(request, in: call)
        }
        return try await caches.calls.run(request, by: rules, in: call) {
            [self] () throws(ClientError) in
            try await sent(request, in: call)
        }
    }

    /// The largest body in bytes that is read in a few milliseconds.
    private static let longBody = 64 << 10

    /// Sends a boxed request, unboxes the response and asks the response checks.
    func respond(
        to boxed: BoxedCall, in call: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        try call.unboxAndCheck(await send(call.request(boxed), in: call), to: boxed.request)
    }

    /// Sends a request: checks the URL rules, and makes the attempts.
    ///
    /// - Parameter reader: The reader of the response; nil reads it into memory.
    func send(
        _ request: OutgoingCall, into reader: (any ResponseReader)? = nil, in call: CallContext
    ) async throws(ClientError) -> RawResponse {
        let reader = reader ?? memoryReader(for: call)
        try call.requireSealable(isBoxed: reader.keepsBody && call.isBoxed)
        try call.checkURL(of: request)
        call.log.setRequest(request.request, bodySize: request.body.length)
        call.log.contents?.end(.building) {
            $0.message(request.request, body: request.body)
        }
        call.log.enter(nil)
        let response = try await attempt(request, into: reader, in: call)
        call.log.setResponse(
            status: response.status, bodySize: reader.keepsBody ? response.body.count : nil)
        if !call.isBoxed, reader.keepsBody {
            call.log.contents?.begin(.reading) { _ in nil }
            call.log.contents?.end(.reading) { $0.message(response) }
        }
        call.log.enter(.unboxing)
        return response
    }

    /// Makes the attempts, or answers the request from the HTTP cache.
    private func attempt(
        _ request: OutgoingCall, into reader: any ResponseReader, in call: CallContext
    ) async throws(ClientError) -> RawResponse {
        guard let caches, call.options.cache == .http, reader.usesCache else {
            guard call.options.cacheMode != .only else {
                throw ClientError(.notCached, "the call isn't cached")
            }
            return try await attempts.run(request, into: reader, in: call)
        }
        return try await caches.http.run(request, into: reader, in: call, by: attempts)
    }

    /// The reader that keeps a call's response in memory.
    func memoryReader(for call: CallContext) -> MemoryReader {
        MemoryReader(decoder: decoder, limit: call.limits.maximumResponseSize)
    }
}

/// The stages that use stored responses.
struct CacheStages: Sendable {
    /// By the program's own rules, before calls are boxed.
    let calls: CallCacheStage
    /// By RFC 9111, before the attempts.
    let http: HTTPCacheStage
}
