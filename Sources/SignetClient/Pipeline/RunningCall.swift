import SignetBase
import SignetTransport
import Synchronization

/// One call between its start and its end.
final class RunningCall: OwnedCall, RequestCancellation {
    private struct State {
        var task: Task<Void, Never>?
        var abandon: (@Sendable (ClientError) -> Void)?
        var ending: ClientError?
        var isOver = false
        /// Called when the call ends.
        var endActions: [@Sendable () -> Void] = []
        /// The events that wait while an earlier one is being delivered.
        var events: [CallEvent] = []
        var isDelivering = false
        /// Called after the last event was delivered, if it waits.
        var afterEvents: (@Sendable () -> Void)?
    }

    /// Whether the system makes the call for itself, also while it stops.
    let isInternal: Bool
    let log: CallLog
    private let hub: EventHub
    private let trace: CallTrace?
    private let state = Mutex(State())
    private let ownerReference: WeakOwner?
    private let runsInCallersTask = Atomic(false)

    /// The time within which the task of an ended call should return. Its caller gets the error
    /// within 100 ms.
    private static let patience: Duration = .milliseconds(50)

    init(
        _ log: CallLog, isInternal: Bool, owner: WeakOwner?, hub: EventHub, trace: CallTrace?
    ) {
        self.isInternal = isInternal
        self.ownerReference = owner
        self.log = log
        self.hub = hub
        self.trace = trace
        trace?.add(log)
        if let owner {
            if let owner = owner.object { owner.add(self) } else { end(.cancelledByCaller) }
        }
    }

    var identity: CallIdentity { log.identity }
    var id: CallIdentity.ID { log.identity.id }

    var owner: CallOwner? { ownerReference?.object }

    /// Why the call was ended from outside; nil if it was not.
    var ending: ClientError? { state.withLock { $0.ending } }

    /// Whether the call was ended from outside.
    var isEnding: Bool { state.withLock { $0.ending != nil } }

    /// Whether the call was ended from outside or has finished.
    var hasEnded: Bool { state.withLock { $0.ending != nil || $0.isOver } }

    /// Whether somebody listens to the call's events.
    private var isObserved: Bool { hub.hasListeners || trace?.hasListeners ?? false }

    /// Hands an event on, unless the call has finished. If an event of the call is being delivered,
    /// this one is delivered after it, by the thread that delivers.
    func send(_ event: @autoclosure () -> CallEvent) {
        guard isObserved else { return }
        let event = event()
        let delivers = state.withLock { state in
            guard !state.isOver else { return false }
            return Self.add(event, to: &state)
        }
        if delivers { deliver() }
    }

    /// Tells the observers that the call begins.
    func noteStart() {
        hub.begin(identity)
        send(.started(identity))
    }

    /// Tells the observers of the end, and hands the last event on.
    ///
    /// - Returns: Whether all events were delivered; false if another thread delivers them.
    func finish() -> Bool {
        let record = isObserved ? log.record : nil
        let (isFirst, isDelivered, delivers) = state.withLock { state -> (Bool, Bool, Bool) in
            guard !state.isOver else { return (false, !state.isDelivering, false) }
            state.isOver = true
            // They refer to the call.
            (state.task, state.abandon) = (nil, nil)
            guard let record else { return (true, !state.isDelivering, false) }
            let delivers = Self.add(.finished(record), to: &state)
            return (true, delivers, delivers)
        }
        forgetActions()
        if isFirst { hub.end(log) }
        // Without an event there may be a sequence that was asked for in this moment.
        if delivers || isDelivered && isObserved { deliver() }
        return isDelivered
    }

    /// Runs an action after the last event was delivered: at once, unless another thread delivers.
    func afterEvents(_ action: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            guard state.isDelivering else { return false }
            state.afterEvents = action
            return true
        }
        if !waits { action() }
    }

    /// Adds an event.
    ///
    /// - Returns: Whether no thread delivers yet, so that the caller has to.
    private static func add(_ event: CallEvent, to state: inout State) -> Bool {
        state.events.append(event)
        defer { state.isDelivering = true }
        return !state.isDelivering
    }

    /// Delivers the events that wait, and ends the sequences after the last one. Observers are the
    /// program's, so no lock is held.
    private func deliver() {
        while true {
            let (event, isOver) = state.withLock { state in
                (state.events.isEmpty ? nil : state.events.removeFirst(), state.isOver)
            }
            if let event {
                hub.send(event, of: id)
                trace?.send(event, of: id)
                continue
            }
            if isOver {
                hub.endEvents(of: id)
                trace?.endEvents()
            }
            let (isDone, action) = state.withLock { state in
                guard state.events.isEmpty, state.isOver == isOver else {
                    return (false, (@Sendable () -> Void)?.none)
                }
                state.isDelivering = false
                return (true, state.afterEvents.take())
            }
            guard isDone else { continue }
            action?()
            return
        }
    }

    /// Ends a call that was not admitted.
    func finishWithoutRecord() {
        owner?.remove(self)
        trace?.endEvents()
    }

    /// The events from now on, to the last one.
    func events() -> CallEvents {
        state.withLock { $0.isOver ? EventHub.ended.events() : hub.events(of: id) }
    }

    func begin(
        _ task: Task<Void, Never>, abandon: @escaping @Sendable (ClientError) -> Void
    ) {
        let ending = state.withLock { state -> ClientError? in
            guard !state.isOver else { return nil }
            state.task = task
            state.abandon = abandon
            return state.ending
        }
        if let ending { stop(task, with: ending, abandon: abandon) }
    }

    /// Ends the call: cancels its request, or the task of its work. The caller gets the error even
    /// if this task doesn't return.
    ///
    /// - Returns: Whether this was the first to end it.
    @discardableResult
    func end(_ error: ClientError) -> Bool {
        let (isFirst, task, abandon, actions) = state.withLock {
            state -> (
                Bool, Task<Void, Never>?, (@Sendable (ClientError) -> Void)?,
                [@Sendable () -> Void]
            ) in
            guard state.ending == nil, !state.isOver else { return (false, nil, nil, []) }
            state.ending = error
            defer { state.endActions = [] }
            return (true, state.task, state.abandon, state.endActions)
        }
        for action in actions { action() }
        if let task, let abandon { stop(task, with: error, abandon: abandon) }
        return isFirst
    }

    /// Calls an action when the call is ended from outside: at once if it was.
    func onCancel(_ action: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            if state.ending == nil, !state.isOver { state.endActions.append(action) }
            return state.ending != nil
        }
        if isNow { action() }
    }

    /// Forgets the actions of an end: those of a request that has ended.
    func forgetActions() {
        // Released without the lock, because an engine's action may hold objects of the program.
        _ = state.withLock { state in
            defer { state.endActions = [] }
            return state.endActions
        }
    }

    /// Whether the work runs in the caller's task, which the call's end doesn't cancel.
    var isInCallersTask: Bool { runsInCallersTask.load(ordering: .relaxed) }

    func beginInCallersTask() { runsInCallersTask.store(true, ordering: .relaxed) }

    /// Runs a part of the work that only the cancellation of its task ends, or nothing. If the work
    /// runs in the caller's task, the part gets a task of its own.
    ///
    /// - Returns: Nil if the call was ended before the part returned.
    func separately<Value: Sendable>(
        _ part: @escaping @Sendable () async -> Value
    ) async -> Value? {
        guard isInCallersTask else { return await part() }
        let value = Latch<Value?>()
        let task = Task { value.set(await part()) }
        begin(task) { _ in value.set(nil) }
        defer { state.withLock { ($0.task, $0.abandon) = (nil, nil) } }
        return await value.wait()
    }

    private func stop(
        _ task: Task<Void, Never>, with error: ClientError,
        abandon: @escaping @Sendable (ClientError) -> Void
    ) {
        // First, because the program's cancellation handlers run in `cancel()` and may block.
        Task.detached {
            try? await Task.sleep(for: Self.patience)
            abandon(error)
        }
        task.cancel()
    }
}
