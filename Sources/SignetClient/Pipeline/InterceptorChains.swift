import SignetRPC
import SignetTransport
import Synchronization

/// The call interceptors of one call.
final class CallInterceptorChain: InterceptorChain {
    private let first: PendingCall
    private let context: CallContext
    let interceptors: [any CallInterceptor]
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

    /// Whether the interceptors sent the call on, and the last response that they got.
    var outcome: (isSent: Bool, last: UnboxedResponse?) { received.withLock { $0 } }

    func intercept(
        _ call: PendingCall, by interceptor: any CallInterceptor, with use: NextUse
    ) async throws -> UnboxedResponse {
        let next = NextCall { call throws(ClientError) in
            try await self.run(call, isReplayable: call.isReplayable, after: use)
        }
        return try await interceptor.intercept(call, next: next)
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
    private let context: CallContext
    let interceptors: [any AttemptInterceptor]
    private let rest: @Sendable (OutgoingCall) async throws(ClientError) -> EngineResponse
    private let received = Mutex<(isSent: Bool, last: EngineResponse?)>((false, nil))

    /// - Parameter rest: Sends the request that the interceptors made of the first one.
    init(
        around first: OutgoingCall, in context: CallContext,
        rest: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> EngineResponse
    ) {
        self.first = first
        self.context = context
        interceptors = context.options.attemptInterceptors
        self.rest = rest
    }

    /// Whether the interceptors sent the attempt on, and the last response that they got.
    var outcome: (isSent: Bool, last: EngineResponse?) { received.withLock { $0 } }

    func intercept(
        _ call: OutgoingCall, by interceptor: any AttemptInterceptor, with use: NextUse
    ) async throws -> EngineResponse {
        let next = NextAttempt { call throws(ClientError) in
            try await self.run(call, isReplayable: call.body.isReplayable, after: use)
        }
        return try await interceptor.intercept(call, next: next)
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
        let response = try await rest(changed)
        received.withLock { $0.last = response }
        return response
    }
}
