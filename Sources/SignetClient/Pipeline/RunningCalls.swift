import SignetBase
import Synchronization

/// The calls of a system that have not ended, and whether it takes more.
///
/// Every call that is admitted ends exactly once. The work of a call runs in a task of the system,
/// so that the caller gets an outcome even if something that the call waits for never returns.
final class RunningCalls: Sendable {
    private struct State {
        var isRunning = true
        var calls: [CallIdentity.ID: RunningCall] = [:]
        /// The calls of programs; reports that the system makes for itself don't hold up a
        /// shutdown.
        var ownCount = 0
        var lastNumber: UInt64 = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// The executor of the calls' work; nil for Swift's global one.
    private let executor: (any TaskExecutor)?

    init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

    /// Returns a number that no other call of the system has.
    func nextID() -> CallIdentity.ID {
        state.withLock { state in
            state.lastNumber += 1
            return CallIdentity.ID(number: state.lastNumber)
        }
    }

    /// Whether calls are accepted.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// The calls of programs that are running, in the order in which they were admitted.
    var identities: [CallIdentity] {
        state.withLock { $0.calls.values.filter { !$0.isInternal }.map(\.identity) }
            .sorted { $0.id.number < $1.id.number }
    }

    /// The running call of a number.
    func call(_ id: CallIdentity.ID) -> RunningCall? { state.withLock { $0.calls[id] } }

    /// Admits a call, runs its work, and returns when the call has ended.
    ///
    /// - Parameters:
    ///   - call: A new call.
    ///   - deadline: The time for all of the work; nil for no limit.
    ///   - isPlain: Whether no code of the program can block the thread before the work first
    ///     waits. Then the work begins on the caller's thread, unless that is an actor's.
    ///   - began: Called once the call is admitted.
    ///   - ended: Called once with the call's error, before the call counts as ended.
    ///   - work: The stages of the pipeline after the first.
    /// - Throws: The work's error; `not-running`, `cancelled`, `timeout` or `replaced` if the call
    ///   was ended, instead of the work's error.
    func run<Output: Sendable>(
        _ call: RunningCall, deadline: Duration? = nil, isPlain: Bool = false,
        began: () -> Void, ended: @escaping @Sendable (ClientError?) -> Void,
        work: @escaping @Sendable () async throws(ClientError) -> Output
    ) async throws(ClientError) -> Output {
        guard !call.isEnding, admit(call) else {
            call.finishWithoutRecord()
            throw call.ending ?? .notRunning
        }
        began()
        let actor: (any Actor)? = #isolation
        let beginsHere = isPlain && executor == nil && actor == nil
        let outcome: Result<Output, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let slot = OutcomeSlot(continuation) { error in
                    ended(error)
                    self.remove(call)
                }
                let alarm = deadline.map {
                    // In a task of its own, because the program's cancellation handlers run there.
                    Alarms.shared.add(after: $0) { Task.detached { call.end(.deadlinePassed) } }
                }
                let run: @concurrent @Sendable () async -> Void = {
                    let result: Result<Output, ClientError>
                    do throws(ClientError) {
                        // A call that was ended before it began sends nothing.
                        if let ending = call.ending { throw ending }
                        result = .success(try await work())
                    } catch {
                        result = .failure(call.ending ?? error)
                    }
                    alarm?.cancel()
                    slot.resume(result)
                }
                let task =
                    beginsHere
                    ? Task.immediate(operation: run)
                    : Task(executorPreference: executor, operation: run)
                call.begin(task) { slot.resume(.failure($0)) }
            }
        } onCancel: {
            call.end(.cancelledByCaller)
        }
        return try outcome.get()
    }

    /// Ends the running calls that a condition selects.
    ///
    /// - Returns: Their number.
    @discardableResult
    func end(
        with error: ClientError, where isMeant: (RunningCall) -> Bool = { _ in true }
    ) -> Int {
        let calls = state.withLock { $0.calls.values.filter(isMeant) }
        return calls.filter { $0.end(error) }.count
    }

    /// Takes no more calls of programs.
    ///
    /// - Returns: Whether this was the first to stop.
    func stop() -> Bool {
        state.withLock { state in
            defer { state.isRunning = false }
            return state.isRunning
        }
    }

    /// Returns when no call of a program is running.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.ownCount > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    private func admit(_ call: RunningCall) -> Bool {
        state.withLock { state in
            guard state.isRunning || call.isInternal else { return false }
            state.calls[call.identity.id] = call
            if !call.isInternal { state.ownCount += 1 }
            return true
        }
    }

    private func remove(_ call: RunningCall) {
        let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.calls.removeValue(forKey: call.identity.id) != nil else { return [] }
            if !call.isInternal { state.ownCount -= 1 }
            guard state.ownCount == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        call.owner?.remove(call)
        for continuation in woken { continuation.resume() }
    }
}

/// One call between its start and its end.
final class RunningCall: OwnedCall {
    private struct State {
        var task: Task<Void, Never>?
        var abandon: (@Sendable (ClientError) -> Void)?
        var ending: ClientError?
        var isOver = false
    }

    let identity: CallIdentity
    /// Whether the system makes the call for itself, also while it stops.
    let isInternal: Bool
    let log: CallLog
    private let hub: EventHub
    private let trace: CallTrace?
    private let state = Mutex(State())
    private let ownerReference: WeakOwner?

    /// The time within which the work of an ended call should return. Callers get the error within
    /// 100 ms.
    private static let patience: Duration = .milliseconds(50)

    init(
        _ identity: CallIdentity, isInternal: Bool, owner: WeakOwner?, log: CallLog, hub: EventHub,
        trace: CallTrace?
    ) {
        self.identity = identity
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

    var owner: CallOwner? { ownerReference?.object }

    /// Why the call was ended from outside; nil if it was not.
    var ending: ClientError? { state.withLock { $0.ending } }

    /// Whether the call was ended from outside.
    var isEnding: Bool { state.withLock { $0.ending != nil } }

    /// Whether the call was ended from outside or has finished.
    var hasEnded: Bool { state.withLock { $0.ending != nil || $0.isOver } }

    /// Whether somebody listens to the call's events.
    private var isObserved: Bool { hub.hasListeners || trace?.hasListeners ?? false }

    /// Hands an event on, unless the call has finished.
    func send(_ event: @autoclosure () -> CallEvent) {
        guard isObserved else { return }
        state.withLock { state in
            guard !state.isOver else { return }
            hub.send(event(), of: identity.id)
            trace?.send(event(), of: identity.id)
        }
    }

    /// Hands the last event on.
    func finish() {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            // They refer to the call.
            (state.task, state.abandon) = (nil, nil)
            guard isObserved, let record = log.record else { return }
            hub.send(.finished(record), of: identity.id)
            trace?.send(.finished(record), of: identity.id)
        }
        hub.endEvents(of: identity.id)
        trace?.endEvents()
    }

    /// Ends a call that was not admitted.
    fileprivate func finishWithoutRecord() {
        owner?.remove(self)
        trace?.endEvents()
    }

    /// The events from now on, to the last one.
    func events() -> CallEvents {
        state.withLock { $0.isOver ? EventHub.ended.events() : hub.events(of: identity.id) }
    }

    fileprivate func begin(
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

    /// Ends the call: cancels its work, and gives the caller the error even if the work doesn't
    /// return.
    ///
    /// - Returns: Whether this was the first to end it.
    @discardableResult
    func end(_ error: ClientError) -> Bool {
        let (isFirst, task, abandon) = state.withLock { state in
            guard state.ending == nil else {
                return (false, Task<Void, Never>?.none, (@Sendable (ClientError) -> Void)?.none)
            }
            state.ending = error
            return (true, state.task, state.abandon)
        }
        if let task, let abandon { stop(task, with: error, abandon: abandon) }
        return isFirst
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

/// Resumes a continuation once, with the first outcome.
private final class OutcomeSlot<Output: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Result<Output, ClientError>, Never>?>
    private let atEnd: @Sendable (ClientError?) -> Void

    init(
        _ continuation: CheckedContinuation<Result<Output, ClientError>, Never>,
        atEnd: @escaping @Sendable (ClientError?) -> Void
    ) {
        self.continuation = Mutex(continuation)
        self.atEnd = atEnd
    }

    func resume(_ outcome: Result<Output, ClientError>) {
        guard let continuation = continuation.withLock({ $0.take() }) else { return }
        if case .failure(let error) = outcome { atEnd(error) } else { atEnd(nil) }
        continuation.resume(returning: outcome)
    }
}
