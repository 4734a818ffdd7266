import Synchronization

/// The calls of one batch of ours, until the last of them has ended. Then it tells what became of each, once.
final class PendingBatch: Sendable {
    private struct State {
        var outcomes: [BatchResponse.Outcome?]
        var isCancelled = false
        var timer: Task<Void, Never>?
        var continuation: CheckedContinuation<[BatchResponse.Outcome], any Error>?

        /// Takes the continuation out where nothing is open any more.
        mutating func finished() -> (
            CheckedContinuation<[BatchResponse.Outcome], any Error>,
            Result<[BatchResponse.Outcome], any Error>
        )? {
            guard !outcomes.contains(nil), let continuation = continuation.take() else {
                return nil
            }
            timer?.cancel()
            return (
                continuation,
                isCancelled ? .failure(CancellationError()) : .success(outcomes.compactMap { $0 })
            )
        }
    }

    /// The calls' ids in their order; nil for a notification.
    let ids: [RPCID?]
    private let state: Mutex<State>

    init(_ ids: [RPCID?]) {
        self.ids = ids
        state = Mutex(State(outcomes: ids.map { $0 == nil ? .notified : nil }))
    }

    /// Who waits for the end; before the first call can end.
    func wait(_ continuation: CheckedContinuation<[BatchResponse.Outcome], any Error>) {
        state.withLock { $0.continuation = continuation }
    }

    /// Notes the timer, or ends it where the last call has ended meanwhile.
    func note(timer: Task<Void, Never>) {
        let isOpen = state.withLock { state in
            guard state.continuation != nil else { return false }
            state.timer = timer
            return true
        }
        if !isOpen { timer.cancel() }
    }

    /// Says what became of one call; each is told once.
    func end(_ place: Int, _ outcome: CallOutcome) {
        let finished = state.withLock { state in
            state.outcomes[place] =
                switch outcome {
                case .response(.success(let result)): .result(result)
                case .response(.failure(let error as RPCError)): .failure(error)
                case .response(.failure):
                    .failure(RPCError(code: .connectionClosed, message: "the call was cancelled"))
                case .rejected(let error): .rejected(error)
                case .unanswered: .unanswered
                }
            if case .response(.failure(is CancellationError)) = outcome { state.isCancelled = true }
            return state.finished()
        }
        if let (continuation, result) = finished { continuation.resume(with: result) }
    }
}

/// How a call over a stream ends.
enum CallOutcome {
    /// Its response, or why there is none.
    case response(Result<RPCResult, any Error>)
    /// An error that names no call was the answer.
    case rejected(RPCError)
    /// The answer to its batch leaves it out.
    case unanswered

    /// For who waits for a single call.
    var result: Result<RPCResult, any Error> {
        switch self {
        case .response(let result): result
        case .rejected(let error): .failure(error)
        case .unanswered: .failure(RPCError(code: .batchIncomplete, message: "it has no response"))
        }
    }
}
