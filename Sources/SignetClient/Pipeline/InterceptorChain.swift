import SignetTransport
import Synchronization

/// Interceptors around a step, the first one outermost.
///
/// Each kind is a class of its own, because a lock in a generic one costs a look-up of its type.
protocol InterceptorChain: AnyObject, Sendable {
    associatedtype Interceptor
    associatedtype Call: Sendable
    associatedtype Reply: Sendable

    var interceptors: [Interceptor] { get }

    /// Calls an interceptor.
    ///
    /// - Parameter use: The interceptor's use of the rest of the chain.
    func intercept(
        _ call: Call, by interceptor: Interceptor, with use: NextUse
    ) async throws -> Reply

    /// Makes the step that the interceptors are around.
    func send(_ call: Call) async throws(ClientError) -> Reply
}

extension InterceptorChain {
    /// Sends a call through the interceptors from an index on, and then on.
    func run(_ call: Call, from index: Int = 0) async throws(ClientError) -> Reply {
        guard index < interceptors.count else { return try await send(call) }
        let (interceptor, use) = (interceptors[index], NextUse(index: index))
        defer { use.close() }
        do {
            return try await intercept(call, by: interceptor, with: use)
        } catch {
            throw ClientError(of: "interceptor", interceptor, error)
        }
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
    /// The interceptor's index in the chain.
    let index: Int
    private let state = Mutex((isUsed: false, isClosed: false))

    init(index: Int) { self.index = index }

    /// Notes that the interceptor sends the call on.
    ///
    /// - Throws: `body-not-replayable`, `cancelled`.
    func begin(isReplayable: Bool) throws(ClientError) {
        let (isUsed, isClosed) = state.withLock { state in
            defer { state.isUsed = true }
            return state
        }
        guard !isClosed else {
            throw ClientError(.cancelled, "an interceptor sends a call that it has ended")
        }
        guard !isUsed || isReplayable else {
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
