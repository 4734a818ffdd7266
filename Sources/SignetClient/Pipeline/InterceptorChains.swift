import SignetRPC
import SignetTransport
import Synchronization

/// The call interceptors of one call.
final class CallInterceptorChain: InterceptorChain {
    private let first: PendingCall
    private let context: CallContext
    private let interceptors: [any CallInterceptor]
    private let rest:
        @Sendable (PendingCall, CallContext) async throws(ClientError) -> UnboxedResponse
    private let received = Mutex<(isSent: Bool, last: UnboxedResponse?)>((false, nil))

    /// - Parameter rest: The stages after the interceptors, with what they changed.
    init(
        around first: PendingCall, in context: CallContext,
        rest:
            @escaping @Sendable (PendingCall, CallContext) async throws(ClientError) ->
            UnboxedResponse
    ) {
        self.first = first
        self.context = context
        interceptors = context.options.interceptors
        self.rest = rest
    }

    var count: Int { interceptors.count }
    /// Whether the interceptors sent the call on, and the last response that they got.
    var outcome: (isSent: Bool, last: UnboxedResponse?) { received.withLock { $0 } }

    func intercept(
        _ call: PendingCall, at index: Int, with use: NextUse
    ) async throws(ClientError) -> UnboxedResponse {
        let next = NextCall { call throws(ClientError) in
            try await self.run(call, isReplayable: call.isReplayable, after: use)
        }
        do {
            return try await interceptors[index].intercept(call, next: next)
        } catch {
            throw ClientError(of: "interceptor", interceptors[index], error)
        }
    }

    func send(_ call: PendingCall) async throws(ClientError) -> UnboxedResponse {
        received.withLock { $0.isSent = true }
        guard !context.hasEnded else { throw .cancelledByCaller }
        context.log.contents?.note(.interceptors) { ($0.message(first), $0.message(call)) }
        let changed = call.addedFields.map { context.adding($0) } ?? context
        context.log.enter(.building)
        let response = try await rest(call, changed)
        received.withLock { $0.last = response }
        return response
    }
}

/// The interceptors of one attempt.
final class AttemptInterceptorChain: InterceptorChain {
    private let first: OutgoingCall
    private let attempt: Attempt
    private let reader: any ResponseReader
    private let hops: HopStage
    private let context: CallContext
    private let interceptors: [any AttemptInterceptor]
    private let received = Mutex<(isSent: Bool, last: EngineResponse?)>((false, nil))

    init(
        around first: OutgoingCall, noting attempt: Attempt, with reader: any ResponseReader,
        before hops: HopStage, in context: CallContext
    ) {
        self.first = first
        self.attempt = attempt
        self.reader = reader
        self.hops = hops
        self.context = context
        interceptors = context.options.attemptInterceptors
    }

    var count: Int { interceptors.count }
    /// Whether the interceptors sent the attempt on, and the last response that they got.
    var outcome: (isSent: Bool, last: EngineResponse?) { received.withLock { $0 } }

    func intercept(
        _ call: OutgoingCall, at index: Int, with use: NextUse
    ) async throws(ClientError) -> EngineResponse {
        let next = NextAttempt { call throws(ClientError) in
            try await self.run(call, isReplayable: call.body.isReplayable, after: use)
        }
        do {
            return try await interceptors[index].intercept(call, next: next)
        } catch {
            throw ClientError(of: "interceptor", interceptors[index], error)
        }
    }

    func send(_ call: OutgoingCall) async throws(ClientError) -> EngineResponse {
        received.withLock { $0.isSent = true }
        let changed = try context.requireSameOrigin(call, as: first)
        context.log.contents?.note(.attemptInterceptors) {
            (
                $0.message(first.request, body: first.body),
                $0.message(changed.request, body: changed.body)
            )
        }
        let response = try await hops.run(changed, with: reader, noting: attempt, in: context)
        received.withLock { $0.last = response }
        return response
    }
}
