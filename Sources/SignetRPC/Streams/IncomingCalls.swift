import SignetJSON
import Synchronization

/// What the peer asked and told, until it is dealt with: in its order, and so much that a peer that
/// sends faster than the handler works is read more slowly.
final class IncomingCalls: Sendable {
    /// A request or notification; `id` is nil for the latter.
    struct Item: Sendable {
        let call: RPCCall
        let id: RPCID?
        let size: Int
        let answer: @Sendable (RPCResponse?) -> Void
    }

    private struct Served {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private struct State {
        var items: [Item] = []
        var first = 0
        var size = 0
        var served: [RPCID: Served] = [:]
        var taker: CheckedContinuation<Item?, Never>?
        var waitingForRoom: CheckedContinuation<Void, Never>?
        var isOver = false

        func hasRoom(_ limit: Int) -> Bool { size < limit && items.count - first < 1_000 }
    }

    private let state = Mutex(State())
    private let limit: Int
    private let servedLimit: Int

    init(limit: Int, servedLimit: Int) {
        self.limit = limit
        self.servedLimit = servedLimit
    }

    /// Why a request is not let in whose id another has.
    static let isOpen = RPCServerError(.invalidRequest, message: "A request with this id is open")

    /// Lets a request in; an error where it cannot be.
    func admit(_ id: RPCID) -> RPCServerError? {
        state.withLock { state in
            guard state.served[id] == nil else { return Self.isOpen }
            guard state.served.count < servedLimit else {
                return RPCServerError(
                    code: JSONNumber(-32000), message: "Too many requests at once")
            }
            state.served[id] = Served()
            return nil
        }
    }

    /// Puts an item behind the others, and waits where there are many.
    func add(_ item: Item) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let (taker, goesOn) = state.withLock {
                state -> (CheckedContinuation<Item?, Never>?, Bool) in
                guard !state.isOver else { return (nil, true) }
                if let taker = state.taker.take() { return (taker, true) }
                state.items.append(item)
                state.size += item.size
                if state.hasRoom(limit) { return (nil, true) }
                state.waitingForRoom = continuation
                return (nil, false)
            }
            taker?.resume(returning: item)
            if goesOn { continuation.resume() }
        }
    }

    /// The next item, as soon as there is one; nil at the connection's end.
    func next() async -> Item? {
        await withCheckedContinuation { continuation in
            let (item, isOver, room) = state.withLock {
                state -> (Item?, Bool, CheckedContinuation<Void, Never>?) in
                guard !state.isOver else { return (nil, true, nil) }
                guard state.first < state.items.count else {
                    state.taker = continuation
                    return (nil, false, nil)
                }
                let item = state.items[state.first]
                state.first += 1
                state.size -= item.size
                if state.first > state.items.count / 2 {
                    state.items.removeFirst(state.first)
                    state.first = 0
                }
                return (item, false, state.hasRoom(limit) ? state.waitingForRoom.take() : nil)
            }
            room?.resume()
            if item != nil || isOver { continuation.resume(returning: item) }
        }
    }

    /// Notes the task that serves a request; it is cancelled where the peer has done so meanwhile.
    func serve(_ id: RPCID, _ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            guard let served = state.served[id] else { return state.isOver }
            state.served[id]?.task = task
            return served.isCancelled || state.isOver
        }
        if isCancelled { task.cancel() }
    }

    /// Forgets a request; says whether the peer cancelled it.
    func finish(_ id: RPCID) -> Bool {
        state.withLock { $0.served.removeValue(forKey: id) }?.isCancelled ?? false
    }

    /// Cancels a request that is being served, or waits to be.
    func cancel(_ id: RPCID) {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.served[id]?.isCancelled = true
            return state.served[id]?.task
        }
        task?.cancel()
    }

    /// Ends every wait and cancels every request.
    func end() {
        let (taker, room, tasks) = state.withLock { state in
            state.isOver = true
            state.items = []
            state.first = 0
            return (
                state.taker.take(), state.waitingForRoom.take(),
                state.served.values.compactMap(\.task)
            )
        }
        taker?.resume(returning: nil)
        room?.resume()
        for task in tasks { task.cancel() }
    }
}
