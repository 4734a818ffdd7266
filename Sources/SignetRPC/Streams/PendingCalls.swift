import Synchronization

/// The calls of one connection that wait for their responses. Whoever takes a call out of the table ends
/// it, so each ends exactly once.
final class PendingCalls: Sendable {
    /// What a response's id says.
    enum Match {
        /// The call has ended with it; the batch that it was of.
        case finished(PendingBatch?)
        case duplicate, abandoned, unknown
    }

    /// What has become of a call whose frame was being queued.
    enum Standing { case open, abandoned, over }

    /// Who waits for a call.
    enum Waiter {
        case one(CheckedContinuation<RPCResult, any Error>)
        /// A batch, and the call's place in it.
        case batch(PendingBatch, Int)

        var batch: PendingBatch? { if case .batch(let batch, _) = self { batch } else { nil } }
    }

    /// What was taken out of the table.
    struct Ended {
        let frame: UInt64?
        fileprivate let timer: Task<Void, Never>?
        fileprivate let waiter: Waiter

        func end(_ outcome: CallOutcome) {
            timer?.cancel()
            switch waiter {
            case .one(let continuation): continuation.resume(with: outcome.result)
            case .batch(let batch, let place): batch.end(place, outcome)
            }
        }
    }

    private struct Open {
        let waiter: Waiter
        var frame: UInt64?
        var timer: Task<Void, Never>?

        var ended: Ended { Ended(frame: frame, timer: timer, waiter: waiter) }
    }

    private struct State {
        var open: [RPCID: Open] = [:]
        /// The calls that were abandoned before their frame had a number.
        var unqueued: Set<RPCID> = []
        /// The last calls that ended, and whether a response was what ended them.
        var past: [RPCID: Bool] = [:]
        var order: [RPCID] = []
        var oldest = 0
        var ending: RPCError?

        mutating func remember(_ id: RPCID, isAnswered: Bool) {
            past[id] = isAnswered
            guard order.count == PendingCalls.remembered else { return order.append(id) }
            past[order[oldest]] = nil
            order[oldest] = id
            oldest = (oldest + 1) % order.count
        }
    }

    /// How many ended calls are remembered, to tell a late response from one to no call.
    private static let remembered = 1024

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Why no call can be made any more; nil while calls can.
    var ending: RPCError? { state.withLock { $0.ending } }

    /// Whether a call waits for a response with this id.
    func isOpen(_ id: RPCID) -> Bool { state.withLock { $0.open[id] != nil } }

    /// How many calls wait.
    var count: Int { state.withLock { $0.open.count } }

    /// Lets a call in; gives the error where it cannot be, and leaves its continuation alone then.
    func begin(
        _ id: RPCID, _ continuation: CheckedContinuation<RPCResult, any Error>
    ) -> RPCError? {
        begin([(id, .one(continuation))])
    }

    /// Lets a batch's calls in, all or none; gives the error where they cannot be.
    func begin(_ batch: PendingBatch) -> RPCError? {
        begin(
            batch.ids.enumerated().compactMap { place, id in
                id.map { ($0, .batch(batch, place)) }
            })
    }

    private func begin(_ calls: [(id: RPCID, waiter: Waiter)]) -> RPCError? {
        state.withLock { state in
            if let ending = state.ending { return ending }
            guard state.open.count + calls.count <= limit else {
                return RPCError(
                    code: .tooManyCalls,
                    message:
                        "\(state.open.count) calls wait for responses, and the limit is \(limit)"
                )
            }
            guard !calls.contains(where: { state.open[$0.id] != nil || state.past[$0.id] != nil })
            else {
                return RPCError(code: .invalidID, message: "the id generator gave one id twice")
            }
            for call in calls { state.open[call.id] = Open(waiter: call.waiter) }
            return nil
        }
    }

    /// Notes which frame carries a call, and its timer; says what has become of the call meanwhile.
    func note(_ id: RPCID, frame: UInt64?, timer: Task<Void, Never>?) -> Standing {
        let standing = state.withLock { state -> Standing in
            guard state.open[id] != nil else {
                return state.unqueued.remove(id) == nil ? .over : .abandoned
            }
            state.open[id]?.frame = frame
            state.open[id]?.timer = timer
            return .open
        }
        if standing != .open { timer?.cancel() }
        return standing
    }

    /// Ends a call with its response.
    func finish(_ id: RPCID, _ outcome: Result<RPCResult, any Error>) -> Match {
        let (ended, match) = state.withLock { state -> (Ended?, Match) in
            if let open = state.open.removeValue(forKey: id) {
                state.remember(id, isAnswered: true)
                return (open.ended, .finished(open.waiter.batch))
            }
            guard let isAnswered = state.past[id] else { return (nil, .unknown) }
            return (nil, isAnswered ? .duplicate : .abandoned)
        }
        ended?.end(.response(outcome))
        return match
    }

    /// Takes out a call whose response nobody wants any more; nil where it has ended.
    func abandon(_ id: RPCID) -> Ended? {
        state.withLock { state in
            guard let open = state.open.removeValue(forKey: id) else { return nil }
            state.remember(id, isAnswered: false)
            if open.frame == nil { state.unqueued.insert(id) }
            return open.ended
        }
    }

    /// Ends every open call, since a message came that may have been the response to any of them.
    func failAll(_ outcome: CallOutcome) {
        let ended = state.withLock { state in
            defer { state.open = [:] }
            for id in state.open.keys { state.remember(id, isAnswered: false) }
            return state.open.values.map(\.ended)
        }
        for call in ended { call.end(outcome) }
    }

    /// Ends the calls of a batch that its answer left out.
    func settle(_ batch: PendingBatch, _ outcome: CallOutcome) {
        for id in batch.ids { if let id, let ended = abandon(id) { ended.end(outcome) } }
    }

    /// Ends every open call, and lets none in any more; the first error counts.
    func end(_ error: RPCError) {
        state.withLock { $0.ending = $0.ending ?? error }
        failAll(.response(.failure(error)))
    }
}
