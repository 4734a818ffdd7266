import Synchronization

/// Calls that run a few at a time, in the order of their priorities and then of their coming.
///
/// Calls that have the same queue in their options share its places. A call waits for a place after
/// it was admitted and before its interceptors run, so that one that is cancelled or whose deadline
/// passes while it waits sends nothing. Its place is free again when the call has ended.
///
/// ```swift
/// func load(_ pictures: [Int], with system: NetworkSystem) -> CallQueue {
///     let queue = CallQueue(limit: 2)
///     var options = RequestOptions()
///     options.queue = queue
///     for id in pictures {
///         system.start(.get("/pictures/\(id)", on: "shop"), as: .bytes, options: options) { _ in }
///     }
///     return queue  // queue.pause(), queue.resume(), queue.cancelCalls()
/// }
/// ```
///
/// In the options of a service it limits the calls to that service, whatever the number of
/// connections is; `services.NAME.maximumCalls` does so in a configuration. A queue is of no use to
/// a call that is made within another one of the queue, such as by its interceptor: it may wait for
/// the place that the other one has.
public final class CallQueue: Sendable {
    private struct Waiting {
        let call: any OwnedCall
        let priority: CallPriority
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var limit: Int
        var isPaused: Bool
        var waiting: [Waiting] = []
        var running: [ObjectIdentifier: any OwnedCall] = [:]

        /// Takes the calls that have a place now.
        mutating func next() -> [Waiting] {
            var begun: [Waiting] = []
            while !isPaused, running.count < limit, !waiting.isEmpty {
                let first = waiting.removeFirst()
                running[ObjectIdentifier(first.call)] = first.call
                begun.append(first)
            }
            return begun
        }
    }

    private let state: Mutex<State>

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - limit: The number of calls that run at once; values below 1 count as 1.
    ///   - isPaused: Whether no call gets a place before `resume()`.
    public init(limit: Int = 1, isPaused: Bool = false) {
        state = Mutex(State(limit: max(1, limit), isPaused: isPaused))
    }

    /// The number of calls that run at once. A lower one ends no call.
    public var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            change { $0.limit = max(1, newValue) }
        }
    }

    /// The number of calls that have a place.
    public var runningCount: Int { state.withLock { $0.running.count } }

    /// The number of calls that wait for a place.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether no further call gets a place.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Gives no further call a place. Those that run continue.
    public func pause() { state.withLock { $0.isPaused = true } }

    /// Gives calls places again.
    public func resume() { change { $0.isPaused = false } }

    /// Ends all calls of the queue with `cancelled`, those that wait first. The queue takes further
    /// ones.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls() -> Int {
        let calls = state.withLock { state in
            state.waiting.map(\.call) + Array(state.running.values)
        }
        return calls.filter { $0.end(.cancelledByCaller) }.count
    }

    // MARK: The pipeline

    /// Waits for a place.
    ///
    /// - Throws: `cancelled` if the call left before it had one.
    func wait(_ call: any OwnedCall, priority: CallPriority) async throws(ClientError) {
        let hasPlace = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, begun) = state.withLock { state -> (Bool, [Waiting]) in
                    guard !Task.isCancelled else { return (true, []) }
                    let index =
                        state.waiting.lastIndex { $0.priority >= priority }.map { $0 + 1 } ?? 0
                    state.waiting.insert(
                        Waiting(call: call, priority: priority, continuation: continuation),
                        at: index)
                    return (false, state.next())
                }
                if isOver { continuation.resume(returning: false) }
                for next in begun { next.continuation.resume(returning: true) }
            }
        } onCancel: {
            leave(call)
        }
        guard hasPlace else { throw .cancelledByCaller }
    }

    /// Frees a call's place, or ends its waiting.
    func leave(_ call: any OwnedCall) {
        let id = ObjectIdentifier(call)
        let (left, begun) = state.withLock { state -> (Waiting?, [Waiting]) in
            if state.running.removeValue(forKey: id) != nil { return (nil, state.next()) }
            guard let index = state.waiting.firstIndex(where: { $0.call === call }) else {
                return (nil, [])
            }
            return (state.waiting.remove(at: index), [])
        }
        left?.continuation.resume(returning: false)
        for next in begun { next.continuation.resume(returning: true) }
    }

    private func change(_ body: (inout State) -> Void) {
        let begun = state.withLock { state in
            body(&state)
            return state.next()
        }
        for next in begun { next.continuation.resume(returning: true) }
    }
}

/// The priority of a call in its queue.
public struct CallPriority: Sendable, Hashable, Comparable {
    private let value: Int

    /// After all others.
    public static let low = CallPriority(value: -1)
    /// The default.
    public static let normal = CallPriority(value: 0)
    /// Before all others.
    public static let high = CallPriority(value: 1)

    /// Whether calls with one come after calls with the other.
    public static func < (left: CallPriority, right: CallPriority) -> Bool {
        left.value < right.value
    }
}

/// The queues of services that have a limit of calls.
final class ServiceQueues: Sendable {
    private let queues = Mutex<[ServiceName: CallQueue]>([:])

    /// Returns the queue of a service, whose limit may have changed.
    func queue(of service: ServiceName, limit: Int) -> CallQueue {
        let queue = queues.withLock { queues in
            let queue = queues[service] ?? CallQueue(limit: limit)
            queues[service] = queue
            return queue
        }
        if queue.limit != limit { queue.limit = limit }
        return queue
    }
}
