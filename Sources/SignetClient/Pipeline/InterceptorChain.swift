import SignetTransport
import Synchronization

/// Interceptors around a step, the first one outermost.
final class InterceptorChain<Call: InterceptedCall, Reply: Sendable>: Sendable {
    private let count: Int
    private let intercept:
        @Sendable (Int, Call, InterceptorStep<Call, Reply>) async throws(ClientError) -> Reply
    private let send: @Sendable (Call) async throws(ClientError) -> Reply
    private let received = Mutex<(isSent: Bool, last: Reply?)>((false, nil))

    /// - Parameters:
    ///   - count: The number of interceptors.
    ///   - intercept: Calls the interceptor with an index.
    ///   - send: Makes the step.
    init(
        count: Int,
        intercept:
            @escaping @Sendable (Int, Call, InterceptorStep<Call, Reply>)
            async throws(ClientError) -> Reply,
        send: @escaping @Sendable (Call) async throws(ClientError) -> Reply
    ) {
        self.count = count
        self.intercept = intercept
        self.send = send
    }

    /// Whether the interceptors sent the call on, and the last reply that they got.
    var state: (isSent: Bool, last: Reply?) { received.withLock { $0 } }

    /// Sends a call through the interceptors from an index on, and then on.
    func run(_ call: Call, from index: Int = 0) async throws(ClientError) -> Reply {
        guard index < count else {
            received.withLock { $0.isSent = true }
            let reply = try await send(call)
            received.withLock { $0.last = reply }
            return reply
        }
        let next = InterceptorStep(self, after: index)
        defer { next.close() }
        return try await intercept(index, call, next)
    }
}

/// A call that an interceptor may send more than once.
protocol InterceptedCall: Sendable {
    var isReplayable: Bool { get }
}

/// The rest of a chain after one interceptor.
final class InterceptorStep<Call: InterceptedCall, Reply: Sendable>: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
    }

    private let chain: InterceptorChain<Call, Reply>
    private let index: Int
    private let state = Mutex(State())

    init(_ chain: InterceptorChain<Call, Reply>, after index: Int) {
        self.chain = chain
        self.index = index
    }

    /// Sends the call on.
    func send(_ call: Call) async throws(ClientError) -> Reply {
        let (isFirst, isClosed) = state.withLock { state in
            state.count += 1
            return (state.count == 1, state.isClosed)
        }
        guard !isClosed else {
            throw ClientError(.cancelled, "an interceptor sends a call that it has ended")
        }
        guard isFirst || call.isReplayable else {
            throw ClientError(
                .bodyNotReplayable,
                "an interceptor sends the call again, but its body can be read only once")
        }
        return try await chain.run(call, from: index + 1)
    }

    /// Makes every later use throw, because the interceptor has returned.
    func close() { state.withLock { $0.isClosed = true } }
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
