internal import SignetRPC
internal import SignetTransport
internal import Synchronization

extension NetworkSystem {
    /// Sends a call through interceptors, the first one outermost, and then on.
    func intercepted(
        _ call: OutgoingCall, by interceptors: ArraySlice<any CallInterceptor>,
        send: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> RawResponse
    ) async throws(ClientError) -> RawResponse {
        guard let interceptor = interceptors.first else { return try await send(call) }
        let rest = interceptors.dropFirst()
        let next = NextCall { call throws(ClientError) in
            try await self.intercepted(call, by: rest, send: send)
        }
        do {
            return try await interceptor.intercept(call, next: next)
        } catch {
            throw ClientError(of: interceptor, error)
        }
    }

    /// Sends an attempt through interceptors, the first one outermost, and then on.
    func intercepted(
        _ call: OutgoingCall, by interceptors: ArraySlice<any AttemptInterceptor>,
        send: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> EngineResponse
    ) async throws(ClientError) -> EngineResponse {
        guard let interceptor = interceptors.first else { return try await send(call) }
        let rest = interceptors.dropFirst()
        let next = NextAttempt { call throws(ClientError) in
            try await self.intercepted(call, by: rest, send: send)
        }
        do {
            return try await interceptor.intercept(call, next: next)
        } catch {
            throw ClientError(of: interceptor, error)
        }
    }
}

/// One step to the rest of the pipeline, taken again only with a body that can be read again.
struct NextStep<Response: Sendable>: Sendable {
    private final class Uses: Sendable {
        let count = Mutex(0)
    }

    private let uses = Uses()
    private let send: @Sendable (OutgoingCall) async throws(ClientError) -> Response

    init(_ send: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> Response) {
        self.send = send
    }

    func callAsFunction(_ call: OutgoingCall) async throws(ClientError) -> Response {
        let isFirst = uses.count.withLock { count in
            count += 1
            return count == 1
        }
        guard isFirst || call.body.isReplayable else {
            throw ClientError(
                .bodyNotReplayable,
                "an interceptor sends the call again, but its body can be read only once")
        }
        return try await send(call)
    }
}

extension ClientError {
    /// The error of an interceptor. Of one that isn't ours nothing is repeated: it may contain what the
    /// server sent.
    fileprivate init(of interceptor: Any, _ error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case let error as TransportError: self.init(error)
        case is CancellationError: self = .cancelledByCaller
        default:
            self.init(
                .interceptorFailed,
                "the interceptor \(type(of: interceptor)) threw \(type(of: error))")
        }
    }
}
