import Synchronization

/// The calls of one connection that wait for their replies. Whoever takes a call out of the table ends
/// it, so each ends exactly once.
final class OpenCalls: Sendable {
    /// What a reply's id says.
    enum Match { case finished, duplicate, abandoned, unknown }

    /// What was taken out of the table.
    struct Ended {
        let frame: UInt64?
        fileprivate let timer: Task<Void, Never>?
        fileprivate let continuation: CheckedContinuation<RPCResult, any Error>

        func end(_ outcome: Result<RPCResult, any Error>) {
            timer?.cancel()
            continuation.resume(with: outcome)
        }
    }

    private struct Open {
        let continuation: CheckedContinuation<RPCResult, any Error>
        var frame: UInt64?
        var timer: Task<Void, Never>?

        var ended: Ended { Ended(frame: frame, timer: timer, continuation: continuation) }
    }

    private struct State {
        var open: [RPCID: Open] = [:]
        /// The last calls that ended, and whether a reply was what ended them.
        var past: [RPCID: Bool] = [:]
        var order: [RPCID] = []
        var oldest = 0
        var ending: RPCError?

        mutating func remember(_ id: RPCID, isAnswered: Bool) {
            past[id] = isAnswered
            guard order.count == OpenCalls.remembered else { return order.append(id) }
            past[order[oldest]] = nil
            order[oldest] = id
            oldest = (oldest + 1) % order.count
        }
    }

    /// How many ended calls are remembered, to tell a late reply from one to no call.
    private static let remembered = 1024

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Why no call can be made any more; nil while calls can.
    var ending: RPCError? { state.withLock { $0.ending } }

    /// Whether a call waits for a reply with this id.
    func isOpen(_ id: RPCID) -> Bool { state.withLock { $0.open[id] != nil } }

    /// How many calls wait.
    var count: Int { state.withLock { $0.open.count } }

    /// Lets a call in; gives the error where it cannot be, and leaves its continuation alone then.
    func begin(
        _ id: RPCID, _ continuation: CheckedContinuation<RPCResult, any Error>
    ) -> RPCError? {
        state.withLock { state in
            if let ending = state.ending { return ending }
            guard state.open.count < limit else {
                return RPCError(
                    code: .tooManyCalls,
                    message: "\(state.open.count) calls wait for replies, which is the limit")
            }
            guard state.open[id] == nil, state.past[id] == nil else {
                return RPCError(code: .invalidID, message: "the id generator gave one id twice")
            }
            state.open[id] = Open(continuation: continuation)
            return nil
        }
    }

    /// Notes which frame carries a call, and its timer; false where the call has ended meanwhile.
    func note(_ id: RPCID, frame: UInt64?, timer: Task<Void, Never>?) -> Bool {
        let isOpen = state.withLock { state in
            guard state.open[id] != nil else { return false }
            state.open[id]?.frame = frame
            state.open[id]?.timer = timer
            return true
        }
        if !isOpen { timer?.cancel() }
        return isOpen
    }

    /// Ends a call with its reply.
    func finish(_ id: RPCID, _ outcome: Result<RPCResult, any Error>) -> Match {
        let (ended, match) = state.withLock { state -> (Ended?, Match) in
            if let open = state.open.removeValue(forKey: id) {
                state.remember(id, isAnswered: true)
                return (open.ended, .finished)
            }
            guard let isAnswered = state.past[id] else { return (nil, .unknown) }
            return (nil, isAnswered ? .duplicate : .abandoned)
        }
        ended?.end(outcome)
        return match
    }

    /// Takes out a call whose reply nobody wants any more; nil where it has ended.
    func abandon(_ id: RPCID) -> Ended? {
        state.withLock { state in
            guard let open = state.open.removeValue(forKey: id) else { return nil }
            state.remember(id, isAnswered: false)
            return open.ended
        }
    }

    /// Ends every open call, since a message came that may have been the reply to any of them.
    func failAll(_ error: RPCError) {
        let ended = state.withLock { state in
            defer { state.open = [:] }
            for id in state.open.keys { state.remember(id, isAnswered: false) }
            return state.open.values.map(\.ended)
        }
        for call in ended { call.end(.failure(error)) }
    }

    /// Ends every open call, and lets none in any more; the first error counts.
    func end(_ error: RPCError) {
        state.withLock { $0.ending = $0.ending ?? error }
        failAll(error)
    }
}
