import SignetBase
import SignetRPC
import Synchronization

/// A connection's calls that wait for their responses. The code that removes a call from the table
/// also ends it, so each call ends exactly once.
final class PendingCalls: Sendable {
    /// The outcome of matching a response's id.
    enum Completion {
        /// The response ended a call; the batch to which the call belonged.
        case completed(PendingBatch?)
        case duplicate, abandoned, unknown
    }

    /// The state of a call after its frame was queued.
    enum Status { case pending, abandoned, ended }

    /// The caller that waits for a call.
    enum Waiter {
        case one(CheckedContinuation<RPCResult, any Error>)
        /// A batch, and the call's position in it.
        case batch(PendingBatch, Int)

        var batch: PendingBatch? { if case .batch(let batch, _) = self { batch } else { nil } }
    }

    /// A call in the table, or one that was removed from it and is to be ended.
    struct Pending {
        fileprivate let waiter: Waiter
        fileprivate(set) var frame: UInt64?
        fileprivate var alarm: Alarms.Alarm?

        func end(with outcome: CallOutcome) {
            alarm?.cancel()
            switch waiter {
            case .one(let continuation): continuation.resume(with: outcome.result)
            case .batch(let batch, let position): batch.endCall(at: position, with: outcome)
            }
        }
    }

    private struct State {
        var pending: [RPCID: Pending] = [:]
        /// The calls that were abandoned before their frame was queued.
        var unqueued: Set<RPCID> = []
        /// The last calls that ended, and whether a response ended them.
        var past: [RPCID: Bool] = [:]
        var order: [RPCID] = []
        var oldest = 0
        var ending: PayloadError?

        mutating func remember(_ id: RPCID, isAnswered: Bool) {
            past[id] = isAnswered
            guard order.count == PendingCalls.remembered else { return order.append(id) }
            past[order[oldest]] = nil
            order[oldest] = id
            oldest = (oldest + 1) % order.count
        }
    }

    /// The number of ended calls that are remembered, to distinguish a late or second response from
    /// one with an unknown id.
    private static let remembered = 1024

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// The error that ended the connection; nil before.
    var ending: PayloadError? { state.withLock { $0.ending } }

    /// Returns whether a call waits for a response with this id.
    func isPending(_ id: RPCID) -> Bool { state.withLock { $0.pending[id] != nil } }

    /// The number of waiting calls.
    var count: Int { state.withLock { $0.pending.count } }

    /// Adds a call. If that fails, returns the error and doesn't resume the continuation.
    func add(
        _ id: RPCID, continuation: CheckedContinuation<RPCResult, any Error>
    ) -> PayloadError? {
        add([(id, .one(continuation))])
    }

    /// Adds all calls of a batch, or none. If that fails, returns the error.
    func add(_ batch: PendingBatch) -> PayloadError? {
        add(
            batch.ids.enumerated().compactMap { position, id in
                id.map { ($0, .batch(batch, position)) }
            })
    }

    private func add(_ calls: [(id: RPCID, waiter: Waiter)]) -> PayloadError? {
        state.withLock { state in
            if let ending = state.ending { return ending }
            guard state.pending.count + calls.count <= limit else {
                return PayloadError(
                    .tooManyCalls,
                    "\(state.pending.count) calls wait for responses, the limit is \(limit)"
                )
            }
            guard
                !calls.contains(where: { state.pending[$0.id] != nil || state.past[$0.id] != nil })
            else {
                return PayloadError(.invalidCallID, "the id generator repeated an id")
            }
            for call in calls { state.pending[call.id] = Pending(waiter: call.waiter) }
            return nil
        }
    }

    /// Stores a call's frame number and alarm, and returns the call's status. If it has ended
    /// meanwhile, cancels the alarm.
    func attach(frame: UInt64?, alarm: Alarms.Alarm?, to id: RPCID) -> Status {
        let status = state.withLock { state -> Status in
            guard state.pending[id] != nil else {
                return state.unqueued.remove(id) == nil ? .ended : .abandoned
            }
            state.pending[id]?.frame = frame
            state.pending[id]?.alarm = alarm
            return .pending
        }
        if status != .pending { alarm?.cancel() }
        return status
    }

    /// Ends the call with an id, if there is one, with its response.
    func complete(_ id: RPCID, with outcome: Result<RPCResult, any Error>) -> Completion {
        let (ended, completion) = state.withLock { state -> (Pending?, Completion) in
            if let pending = state.pending.removeValue(forKey: id) {
                state.remember(id, isAnswered: true)
                return (pending, .completed(pending.waiter.batch))
            }
            guard let isAnswered = state.past[id] else { return (nil, .unknown) }
            return (nil, isAnswered ? .duplicate : .abandoned)
        }
        ended?.end(with: .response(outcome))
        return completion
    }

    /// Removes a call that no longer waits for its response; returns nil if it has ended.
    func abandon(_ id: RPCID) -> Pending? {
        state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: id) else { return nil }
            state.remember(id, isAnswered: false)
            if pending.frame == nil { state.unqueued.insert(id) }
            return pending
        }
    }

    /// Ends every pending call, for a message that may have been the response to any of them.
    func endAll(with outcome: CallOutcome) {
        let ended = state.withLock { state in
            defer { state.pending = [:] }
            for id in state.pending.keys { state.remember(id, isAnswered: false) }
            return Array(state.pending.values)
        }
        for call in ended { call.end(with: outcome) }
    }

    /// Ends the calls of a batch that its response omitted.
    func endRest(of batch: PendingBatch, with outcome: CallOutcome) {
        for id in batch.ids { if let id, let ended = abandon(id) { ended.end(with: outcome) } }
    }

    /// Ends every pending call and refuses new ones. The first error counts.
    func end(_ error: PayloadError) {
        state.withLock { $0.ending = $0.ending ?? error }
        endAll(with: .response(.failure(error)))
    }
}
