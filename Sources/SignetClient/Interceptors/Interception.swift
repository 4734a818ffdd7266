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
        defer { next.close() }
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
        defer { next.close() }
        do {
            return try await interceptor.intercept(call, next: next)
        } catch {
            throw ClientError(of: interceptor, error)
        }
    }
}

/// Sends a call through the rest of the pipeline. A further use needs a replayable body, and after
/// the interceptor has returned every use throws.
final class NextStep<Reply: Sendable>: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let send: @Sendable (OutgoingCall) async throws(ClientError) -> Reply

    init(_ send: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> Reply) {
        self.send = send
    }

    func callAsFunction(_ call: OutgoingCall) async throws(ClientError) -> Reply {
        let (isFirst, isClosed) = state.withLock { state in
            state.count += 1
            return (state.count == 1, state.isClosed)
        }
        guard !isClosed else {
            throw ClientError(.cancelled, "an interceptor sends a call that it has ended")
        }
        guard isFirst || call.body.isReplayable else {
            throw ClientError(
                .bodyNotReplayable,
                "an interceptor sends the call again, but its body can be read only once")
        }
        return try await send(call)
    }

    /// Makes every later use throw, because the interceptor has returned.
    func close() { state.withLock { $0.isClosed = true } }
}

extension ClientError {
    /// The error of an interceptor. For an error of a foreign type the message has only the type's
    /// name, because the error may contain what the server sent.
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
