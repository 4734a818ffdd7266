#if Redis
    internal import Dispatch
    internal import SignetSigning
    internal import Synchronization

    /// A call that waits for Redis. It finishes once, with the first result that it gets.
    final class RedisCall: Sendable {
        private enum State {
            case open
            case awaited(CheckedContinuation<Result<Void, SigningError>, Never>)
            case finished(Result<Void, SigningError>)
        }

        /// The command, or nil for a `PING` that only checks the connection.
        let command: [[UInt8]]?
        /// When the pool ends the call, in `RedisConnection.now`.
        let deadline: Int64
        private let state = Mutex(State.open)
        private let end = DispatchSemaphore(value: 0)

        init(_ command: [[UInt8]]?, deadline: Int64) {
            self.command = command
            self.deadline = deadline
        }

        var isFinished: Bool {
            state.withLock { if case .finished = $0 { true } else { false } }
        }

        func finish(_ result: Result<Void, SigningError>) {
            let waiting: CheckedContinuation<Result<Void, SigningError>, Never>? =
                state.withLock { state in
                    switch state {
                    case .finished: return nil
                    case .open:
                        state = .finished(result)
                        end.signal()
                        return nil
                    case .awaited(let continuation):
                        state = .finished(result)
                        return continuation
                    }
                }
            waiting?.resume(returning: result)
        }

        /// Blocks the thread until the call has finished; the pool ends it at its deadline.
        func wait() -> Result<Void, SigningError> {
            end.wait()
            return state.withLock {
                if case .finished(let result) = $0 {
                    result
                } else {
                    .failure(
                        SigningError(.nonceStoreUnavailable, "the call ended without a result"))
                }
            }
        }

        /// Suspends the task until the call has finished.
        func outcome() async -> Result<Void, SigningError> {
            await withCheckedContinuation { continuation in
                let result: Result<Void, SigningError>? = state.withLock { state in
                    if case .finished(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }
#endif
