#if Redis
import Dispatch
import SignetBase
import SignetSigning

/// A call that waits for Redis. It finishes once, with the first result that it gets.
final class RedisCall: Sendable {
    /// The command, or nil for a `PING` that only checks the connection.
    let command: [[UInt8]]?
    /// When the pool ends the call, in `RedisConnection.now`.
    let deadline: Int64
    private let result = Latch<Result<Void, SigningError>>()
    private let end = DispatchSemaphore(value: 0)

    init(_ command: [[UInt8]]?, deadline: Int64) {
        self.command = command
        self.deadline = deadline
    }

    var isFinished: Bool { result.value != nil }

    func finish(_ result: Result<Void, SigningError>) {
        self.result.set(result)
        end.signal()
    }

    /// Blocks the thread until the call has finished; the pool ends it at its deadline.
    func wait() -> Result<Void, SigningError> {
        end.wait()
        return result.value
            ?? .failure(SigningError(.nonceStoreUnavailable, "the call ended without a result"))
    }

    /// Suspends the task until the call has finished.
    func outcome() async -> Result<Void, SigningError> { await result.wait() }
}
#endif
