import Synchronization

/// Delivers events to observers, and to the listeners of sequences.
final class EventHub: Sendable {
    private struct Listener {
        let stream: AsyncStream<CallEvent>.Continuation
        let lost: LostCount

        func take(_ event: CallEvent) {
            if case .dropped = stream.yield(event) { lost.increment() }
        }
    }

    private struct State {
        /// The observers in the order in which they were added.
        var observers: [(number: Int, observer: any CallObserver)] = []
        var spanObservers: [(number: Int, observer: any CallSpanObserver)] = []
        /// The listeners to all calls, and those to one call, by their numbers.
        var listeners: [Int: Listener] = [:]
        var listenersToCalls: [CallIdentity.ID: [Int: Listener]] = [:]
        var lastNumber = 0
        var isFinished = false

        func listeners(to call: CallIdentity.ID) -> [Listener] {
            guard !listenersToCalls.isEmpty else {
                return listeners.isEmpty ? [] : Array(listeners.values)
            }
            return Array(listeners.values) + (listenersToCalls[call].map { Array($0.values) } ?? [])
        }
    }

    private let state = Mutex(State())
    private let listens = Atomic(false)
    private let seesSpans = Atomic(false)

    init(observers: [any CallObserver] = []) { for observer in observers { add(observer) } }

    /// Whether somebody observes or listens to the events of any call.
    var hasListeners: Bool { listens.load(ordering: .acquiring) }

    /// The events that one listener has not taken; the oldest are dropped.
    private static let limit = 10_000

    /// Returns a new listener's events, from now on.
    ///
    /// - Parameter call: The call that the listener wants; nil for all.
    func events(of call: CallIdentity.ID? = nil) -> CallEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CallEvent.self, bufferingPolicy: .bufferingNewest(Self.limit))
        let listener = Listener(stream: continuation, lost: LostCount())
        let events = CallEvents(stream, lost: listener.lost) { continuation.finish() }
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.lastNumber += 1
            if let call {
                state.listenersToCalls[call, default: [:]][state.lastNumber] = listener
            } else {
                state.listeners[state.lastNumber] = listener
            }
            listens.store(true, ordering: .releasing)
            return state.lastNumber
        }
        guard let number else {
            continuation.finish()
            return events
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number, from: call) }
        return events
    }

    /// Adds an observer of all calls.
    ///
    /// - Returns: Its number.
    @discardableResult
    func add(_ observer: any CallObserver) -> Int {
        add { $0.observers.append(($0.lastNumber, observer)) }
    }

    /// Adds an observer of the beginnings and the ends of all calls.
    ///
    /// - Returns: Its number.
    func add(_ observer: any CallSpanObserver) -> Int {
        add { $0.spanObservers.append(($0.lastNumber, observer)) }
    }

    /// Adds an observer with the next number.
    private func add(_ append: (inout State) -> Void) -> Int {
        state.withLock { state in
            // After the shutdown there are no events.
            guard !state.isFinished else { return state.lastNumber }
            state.lastNumber += 1
            append(&state)
            noteListeners(of: state)
            return state.lastNumber
        }
    }

    func removeObserver(_ number: Int) {
        // Freed after the lock was released.
        _ = state.withLock { state in
            let old = (state.observers, state.spanObservers)
            state.observers.removeAll { $0.number == number }
            state.spanObservers.removeAll { $0.number == number }
            noteListeners(of: state)
            return old
        }
    }

    private func remove(_ number: Int, from call: CallIdentity.ID?) {
        state.withLock { state in
            if let call {
                state.listenersToCalls[call]?[number] = nil
                if state.listenersToCalls[call]?.isEmpty == true {
                    state.listenersToCalls[call] = nil
                }
            } else {
                state.listeners[number] = nil
            }
            noteListeners(of: state)
        }
    }

    private func noteListeners(of state: State) {
        let listens =
            !state.observers.isEmpty || !state.listeners.isEmpty || !state.listenersToCalls.isEmpty
        self.listens.store(listens, ordering: .releasing)
        seesSpans.store(!state.spanObservers.isEmpty, ordering: .releasing)
    }

    /// Tells the observers that see it that a call begins.
    func begin(_ call: CallIdentity) {
        guard seesSpans.load(ordering: .acquiring) else { return }
        for (_, observer) in state.withLock({ $0.spanObservers }) { observer.begin(call) }
    }

    /// Tells the observers that see it that a call has ended.
    func end(_ call: CallLog) {
        guard seesSpans.load(ordering: .acquiring), let summary = call.summary else { return }
        for (_, observer) in state.withLock({ $0.spanObservers }) { observer.end(summary) }
    }

    /// Hands an event on.
    func send(_ event: CallEvent, of call: CallIdentity.ID) {
        let (observers, listeners) = state.withLock { ($0.observers, $0.listeners(to: call)) }
        for (_, observer) in observers { observer.receive(event) }
        for listener in listeners { listener.take(event) }
    }

    /// Ends the events of the listeners to one call.
    func endEvents(of call: CallIdentity.ID) {
        guard hasListeners else { return }
        let listeners = state.withLock { state in
            defer { noteListeners(of: state) }
            return state.listenersToCalls.removeValue(forKey: call)
        }
        for listener in (listeners ?? [:]).values { listener.stream.finish() }
    }

    /// Ends the events of all current listeners.
    func endEvents() {
        let listeners = state.withLock { state in
            defer {
                (state.listeners, state.listenersToCalls) = ([:], [:])
                noteListeners(of: state)
            }
            return Array(state.listeners.values)
                + state.listenersToCalls.values.flatMap { Array($0.values) }
        }
        for listener in listeners { listener.stream.finish() }
    }

    /// Ends the events of all current and future listeners, and forgets the observers.
    func finish() {
        let observers = state.withLock { state in
            state.isFinished = true
            defer { (state.observers, state.spanObservers) = ([], []) }
            return (state.observers, state.spanObservers)
        }
        endEvents()
        _ = observers
    }
}

extension EventHub {
    /// A hub without events.
    static let ended: EventHub = {
        let hub = EventHub()
        hub.finish()
        return hub
    }()
}
