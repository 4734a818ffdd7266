import SignetTransport
import Synchronization

/// Interceptors around a step, the first one outermost.
///
/// Each kind is a class of its own, because a lock in a generic one costs a look-up of its type.
protocol InterceptorChain: AnyObject, Sendable {
    associatedtype Call: Sendable
    associatedtype Reply: Sendable

    /// The number of interceptors.
    var count: Int { get }

    /// Calls the interceptor with an index.
    ///
    /// - Parameter use: The interceptor's use of the rest of the chain.
    func intercept(
        _ call: Call, at index: Int, with use: NextUse
    ) async throws(ClientError) -> Reply

    /// Makes the step that the interceptors are around.
    func send(_ call: Call) async throws(ClientError) -> Reply
}

extension InterceptorChain {
    /// Sends a call through the interceptors from an index on, and then on.
    func run(_ call: Call, from index: Int = 0) async throws(ClientError) -> Reply {
        guard index < count else { return try await send(call) }
        let use = NextUse(index: index)
        defer { use.close() }
        return try await intercept(call, at: index, with: use)
    }

    /// Sends a call to what follows an interceptor.
    ///
    /// - Parameter isReplayable: Whether the call can be sent again.
    func run(
        _ call: Call, isReplayable: Bool, after use: NextUse
    ) async throws(ClientError) -> Reply {
        try use.begin(isReplayable: isReplayable)
        return try await run(call, from: use.index + 1)
    }
}

/// An interceptor's use of the rest of its chain.
final class NextUse: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
    }

    /// The interceptor's index in the chain.
    let index: Int
    private let state = Mutex(State())

    init(index: Int) { self.index = index }

    /// Notes that the interceptor sends the call on.
    ///
    /// - Throws: `body-not-replayable`, `cancelled`.
    func begin(isReplayable: Bool) throws(ClientError) {
        let (isFirst, isClosed) = state.withLock { state in
            state.count += 1
            return (state.count == 1, state.isClosed)
        }
        guard !isClosed else {
            throw ClientError(.cancelled, "an interceptor sends a call that it has ended")
        }
        guard isFirst || isReplayable else {
            throw ClientError(
                .bodyNotReplayable,
                "an interceptor sends the call again, but its body can be read only once")
        }
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
