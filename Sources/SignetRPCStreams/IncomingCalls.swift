import SignetBase
import SignetJSON
import SignetRPC
import Synchronization

/// The peer's requests and notifications, in order, until the handler receives them. If the peer
/// sends faster than the handler works, the connection is read more slowly.
final class IncomingCalls: Sendable {
    /// A request or notification; `id` is nil for the latter.
    struct Item: Sendable {
        let call: RPCCall
        let id: RPCID?
        let size: Int
        let respond: @Sendable (RPCResponse?) -> Void
    }

    private struct Served {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private struct State {
        var items = Queue<Item>()
        var size = 0
        var served: [RPCID: Served] = [:]
        var receiver: CheckedContinuation<Item?, Never>?
        var waitingForRoom: CheckedContinuation<Void, Never>?
        var isOver = false

        func hasRoom(_ limit: Int) -> Bool { size < limit && items.count < 1_000 }
    }

    private let state = Mutex(State())
    private let limit: Int
    private let servedLimit: Int

    init(limit: Int, servedLimit: Int) {
        self.limit = limit
        self.servedLimit = servedLimit
    }

    /// The error for a request with the id of another request that is still served.
    static let duplicateID = RPCServerError(
        .invalidRequest, message: "A request with this id is open")

    /// Admits a request. If that fails, returns the error to respond with.
    func admit(_ id: RPCID) -> RPCServerError? {
        state.withLock { state in
            guard state.served[id] == nil else { return Self.duplicateID }
            guard state.served.count < servedLimit else {
                return RPCServerError(
                    code: JSONNumber(-32000), message: "Too many requests at once")
            }
            state.served[id] = Served()
            return nil
        }
    }

    /// Appends an item, and waits while the queue is full.
    func add(_ item: Item) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let (receiver, hasRoom) = state.withLock {
                state -> (CheckedContinuation<Item?, Never>?, Bool) in
                guard !state.isOver else { return (nil, true) }
                if let receiver = state.receiver.take() { return (receiver, true) }
                state.items.append(item)
                state.size += item.size
                if state.hasRoom(limit) { return (nil, true) }
                state.waitingForRoom = continuation
                return (nil, false)
            }
            receiver?.resume(returning: item)
            if hasRoom { continuation.resume() }
        }
    }

    /// Waits for the next item and returns it; nil when the connection has ended.
    func next() async -> Item? {
        await withCheckedContinuation { continuation in
            let (item, isOver, room) = state.withLock {
                state -> (Item?, Bool, CheckedContinuation<Void, Never>?) in
                guard !state.isOver else { return (nil, true, nil) }
                guard let item = state.items.popFirst() else {
                    state.receiver = continuation
                    return (nil, false, nil)
                }
                state.size -= item.size
                return (item, false, state.hasRoom(limit) ? state.waitingForRoom.take() : nil)
            }
            room?.resume()
            if item != nil || isOver { continuation.resume(returning: item) }
        }
    }

    /// Stores the task that serves a request, or cancels it if the peer has cancelled the request
    /// meanwhile.
    func attach(_ task: Task<Void, Never>, to id: RPCID) {
        let isCancelled = state.withLock { state in
            guard let served = state.served[id] else { return state.isOver }
            state.served[id]?.task = task
            return served.isCancelled || state.isOver
        }
        if isCancelled { task.cancel() }
    }

    /// Removes a request and returns whether the peer cancelled it.
    func finish(_ id: RPCID) -> Bool {
        state.withLock { $0.served.removeValue(forKey: id) }?.isCancelled ?? false
    }

    /// Cancels a request that is being served or waits for that.
    func cancel(_ id: RPCID) {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.served[id]?.isCancelled = true
            return state.served[id]?.task
        }
        task?.cancel()
    }

    /// Ends every wait and cancels every request.
    func end() {
        let (receiver, room, tasks) = state.withLock { state in
            state.isOver = true
            state.items = Queue()
            return (
                state.receiver.take(), state.waitingForRoom.take(),
                state.served.values.compactMap(\.task)
            )
        }
        receiver?.resume(returning: nil)
        room?.resume()
        for task in tasks { task.cancel() }
    }
}
