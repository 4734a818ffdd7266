import SignetTransport

/// Interceptors around a step, the first one outermost.
enum InterceptorChain {
    /// Sends a call through interceptors, and then on.
    ///
    /// - Parameters:
    ///   - isReplayable: Whether a call can be sent again.
    ///   - intercept: Calls one interceptor.
    static func run<Interceptor: Sendable, Call: Sendable, Reply: Sendable>(
        _ call: Call, by interceptors: ArraySlice<Interceptor>,
        isReplayable: @escaping @Sendable (Call) -> Bool,
        intercept:
            @escaping @Sendable (Interceptor, Call, NextStep<Call, Reply>) async throws -> Reply,
        send: @escaping @Sendable (Call) async throws(ClientError) -> Reply
    ) async throws(ClientError) -> Reply {
        guard let interceptor = interceptors.first else { return try await send(call) }
        let rest = interceptors.dropFirst()
        let next = NextStep(isReplayable: isReplayable) { call throws(ClientError) in
            try await run(
                call, by: rest, isReplayable: isReplayable, intercept: intercept, send: send)
        }
        defer { next.close() }
        do {
            return try await intercept(interceptor, call, next)
        } catch {
            throw ClientError(of: "interceptor", interceptor, error)
        }
    }
}

extension ClientError {
    /// The error of the program's own code. For an error of a foreign type the message has only the
    /// type's name, because the error may contain what the server sent.
    ///
    /// - Parameter kind: The code's name in the message.
    init(of kind: String, _ code: Any, _ error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case let error as TransportError: self.init(error)
        case is CancellationError: self = .cancelledByCaller
        default:
            self.init(
                .interceptorFailed,
                "the \(kind) \(type(of: code)) threw \(type(of: error))")
        }
    }
}
