import SignetBase
import SignetRPC
import Synchronization

/// One outgoing batch. When its last call has ended, it resumes the caller with all outcomes, once.
final class PendingBatch: Sendable {
    private struct State {
        var outcomes: [BatchResponse.Outcome?]
        var isCancelled = false
        var alarm: Alarms.Alarm?
        var continuation: CheckedContinuation<[BatchResponse.Outcome], any Error>?

        /// Removes and returns the continuation and its result if no call is pending any more.
        mutating func finished() -> (
            CheckedContinuation<[BatchResponse.Outcome], any Error>,
            Result<[BatchResponse.Outcome], any Error>
        )? {
            guard !outcomes.contains(nil), let continuation = continuation.take() else {
                return nil
            }
            alarm?.cancel()
            return (
                continuation,
                isCancelled ? .failure(CancellationError()) : .success(outcomes.compactMap { $0 })
            )
        }
    }

    /// The calls' ids in their order; nil for a notification.
    let ids: [RPCID?]
    private let state: Mutex<State>

    init(ids: [RPCID?]) {
        self.ids = ids
        state = Mutex(State(outcomes: ids.map { $0 == nil ? .notified : nil }))
    }

    /// Stores the caller's continuation. Call this before the first call can end.
    func wait(_ continuation: CheckedContinuation<[BatchResponse.Outcome], any Error>) {
        state.withLock { $0.continuation = continuation }
    }

    /// Stores the alarm, or cancels it if the last call has ended meanwhile.
    func attach(alarm: Alarms.Alarm) {
        let isPending = state.withLock { state in
            guard state.continuation != nil else { return false }
            state.alarm = alarm
            return true
        }
        if !isPending { alarm.cancel() }
    }

    /// Ends the call at a position; at most once for each call.
    func endCall(at position: Int, with outcome: CallOutcome) {
        let finished = state.withLock { state in
            state.outcomes[position] =
                switch outcome {
                case .response(.success(let result)): .result(result)
                case .response(.failure(let error as PayloadError)): .failure(error)
                case .response(.failure):
                    .failure(PayloadError(.connectionClosed, "the call was cancelled"))
                case .rejected(let error): .rejected(error)
                case .unanswered: .unanswered
                }
            if case .response(.failure(is CancellationError)) = outcome { state.isCancelled = true }
            return state.finished()
        }
        if let (continuation, result) = finished { continuation.resume(with: result) }
    }
}

/// The outcome of a call over a stream.
enum CallOutcome {
    /// The response's result, or the error that ended the call.
    case response(Result<RPCResult, any Error>)
    /// The peer sent an error that names no call.
    case rejected(PayloadError)
    /// The response to the call's batch omits it.
    case unanswered

    /// The result for the caller of a single call.
    var result: Result<RPCResult, any Error> {
        switch self {
        case .response(let result): result
        case .rejected(let error): .failure(error)
        case .unanswered:
            .failure(PayloadError(.batchIncomplete, "the call has no response"))
        }
    }
}
