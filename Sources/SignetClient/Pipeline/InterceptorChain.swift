internal import SignetRPC
internal import SignetTransport

/// Interceptors around a step, the first one outermost.
enum InterceptorChain {
    /// Sends a call through interceptors, and then on.
    static func run(
        _ call: OutgoingCall, by interceptors: ArraySlice<any CallInterceptor>,
        send: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> RawResponse
    ) async throws(ClientError) -> RawResponse {
        guard let interceptor = interceptors.first else { return try await send(call) }
        let rest = interceptors.dropFirst()
        let next = NextCall { call throws(ClientError) in
            try await run(call, by: rest, send: send)
        }
        defer { next.close() }
        do {
            return try await interceptor.intercept(call, next: next)
        } catch {
            throw ClientError(of: interceptor, error)
        }
    }

    /// Sends an attempt through interceptors, and then on.
    static func run(
        _ call: OutgoingCall, by interceptors: ArraySlice<any AttemptInterceptor>,
        send: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> EngineResponse
    ) async throws(ClientError) -> EngineResponse {
        guard let interceptor = interceptors.first else { return try await send(call) }
        let rest = interceptors.dropFirst()
        let next = NextAttempt { call throws(ClientError) in
            try await run(call, by: rest, send: send)
        }
        defer { next.close() }
        do {
            return try await interceptor.intercept(call, next: next)
        } catch {
            throw ClientError(of: interceptor, error)
        }
    }
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
