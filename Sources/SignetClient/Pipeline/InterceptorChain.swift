import SignetTransport

/// Interceptors around a step, the first one outermost.
enum InterceptorChain {
    /// Sends a call through interceptors, and then on.
    ///
    /// - Parameter intercept: Calls one interceptor.
    static func run<Interceptor: Sendable, Reply: Sendable>(
        _ call: OutgoingCall, by interceptors: ArraySlice<Interceptor>,
        intercept:
            @escaping @Sendable (Interceptor, OutgoingCall, NextStep<Reply>) async throws -> Reply,
        send: @escaping @Sendable (OutgoingCall) async throws(ClientError) -> Reply
    ) async throws(ClientError) -> Reply {
        guard let interceptor = interceptors.first else { return try await send(call) }
        let rest = interceptors.dropFirst()
        let next = NextStep { call throws(ClientError) in
            try await run(call, by: rest, intercept: intercept, send: send)
        }
        defer { next.close() }
        do {
            return try await intercept(interceptor, call, next)
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
