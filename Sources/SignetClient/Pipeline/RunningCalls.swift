import SignetBase
import SignetSystem
import Synchronization

/// The calls of a system that have not ended, and whether it takes more.
///
/// Every call that is admitted ends exactly once. If it may wait for something that never returns,
/// its work has a task of its own, so that the caller gets an outcome also then.
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

    /// Sets the alarms of deadlines; nil for those of the process.
    private let alarm: (@Sendable (Duration, @escaping @Sendable () -> Void) -> Void)?

    init(
        executor: (any TaskExecutor)? = nil,
        alarm: (@Sendable (Duration, @escaping @Sendable () -> Void) -> Void)? = nil
    ) {
        self.executor = executor
        self.alarm = alarm
    }

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
    ///   - place: The place of the work. It is a task of its own on Swift's threads or the
    ///     executor's if the caller is on an actor or the system has an executor.
    ///   - isAdmitted: Whether the call is among those that are running already.
    ///   - began: Called once the call is admitted.
    ///   - ended: Called once with the call's error, before the call counts as ended. Returns
    ///     whether all events of the call were delivered.
    ///   - work: The stages of the pipeline after the first.
    /// - Throws: The work's error; `not-running`, `cancelled`, `timeout` or `replaced` if the call
    ///   was ended, instead of the work's error.
    func run(
        _ call: RunningCall, deadline: Duration? = nil, place: WorkPlace = .ownTask,
        isAdmitted: Bool = false,
        began: () -> Void, ended: @escaping @Sendable (ClientError?) -> Bool,
        work: @escaping @Sendable () async throws(ClientError) -> Void
    ) async throws(ClientError) {
        if !isAdmitted {
            guard !call.isEnding, admit(call) else {
                call.finishWithoutRecord()
                throw call.ending ?? .notRunning
            }
        }
        began()
        let actor: (any Actor)? = #isolation
        // An actor's thread has other work.
        let place = executor == nil && actor == nil ? place : .ownTask
        guard place != .callersTask else {
            return try await runInCallersTask(call, deadline: deadline, ended: ended, work: work)
        }
        let slot = OutcomeSlot(of: call, in: self, atEnd: ended)
        await withTaskCancellationHandler {
            await withOneTimeContinuation { continuation in
                slot.begin(continuation)
                let alarm = deadline.flatMap { setAlarm(after: $0, for: call) }
                let run: @concurrent @Sendable () async -> Void = {
                    let failure = await Self.failure(of: work, in: call)
                    alarm?.cancel()
                    slot.end(failure)
                }
                let task =
                    place == .callersThread
                    ? Task.immediate(operation: run)
                    : Task(executorPreference: executor, operation: run)
                call.begin(task) { slot.end($0) }
            }
        } onCancel: {
            call.end(.cancelledByCaller)
        }
        if let failure = slot.failure { throw failure }
    }

    /// Runs work in its caller's task. All that it waits for hears of the call's end.
    private func runInCallersTask(
        _ call: RunningCall, deadline: Duration?, ended: (ClientError?) -> Bool,
        work: () async throws(ClientError) -> Void
    ) async throws(ClientError) {
        call.beginInCallersTask()
        let alarm = deadline.flatMap { setAlarm(after: $0, for: call) }
        let failure = await withTaskCancellationHandler {
            await Self.failure(of: work, in: call)
        } onCancel: {
            call.end(.cancelledByCaller)
        }
        alarm?.cancel()
        if !ended(failure) {
            await withCheckedContinuation { caller in call.afterEvents { caller.resume() } }
        }
        remove(call)
        if let failure { throw failure }
    }

    /// Runs the work of a call.
    ///
    /// - Returns: The call's error; nil for a success.
    private static func failure(
        of work: () async throws(ClientError) -> Void, in call: RunningCall
    ) async -> ClientError? {
        do throws(ClientError) {
            // A call that was ended before it began sends nothing.
            if let ending = call.ending { throw ending }
            try await work()
            // One that was ended while its last code ran says so.
            return call.ending
        } catch {
            return call.ending ?? error
        }
    }

    /// Ends a call when its deadline has passed.
    private func setAlarm(after time: Duration, for call: RunningCall) -> Alarms.Alarm? {
        // In a task of its own, because the program's cancellation handlers run there.
        let end = { @Sendable () -> Void in Task.detached { call.end(.deadlinePassed) } }
        guard let alarm else { return Alarms.shared.add(after: time, action: end) }
        alarm(time, end)
        return nil
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

    /// Adds a call to those that are running, unless the system takes no more.
    func admit(_ call: RunningCall) -> Bool {
        state.withLock { state in
            guard state.isRunning || call.isInternal else { return false }
            state.calls[call.id] = call
            if !call.isInternal { state.ownCount += 1 }
            return true
        }
    }

    fileprivate func remove(_ call: RunningCall) {
        let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.calls.removeValue(forKey: call.id) != nil else { return [] }
            if !call.isInternal { state.ownCount -= 1 }
            guard state.ownCount == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        call.owner?.remove(call)
        for continuation in woken { continuation.resume() }
    }
}

/// The place of a call's work.
enum WorkPlace {
    /// In a task of its own, which is cancelled if the call is ended.
    case ownTask
    /// In a task of its own that begins on the caller's thread.
    case callersThread
    /// In the caller's task: all that the work waits for hears of the call's end.
    case callersTask
}

/// Ends a call once, with the first outcome: its caller continues after the call's observers have
/// the last event.
private final class OutcomeSlot: Sendable {
    private struct State: ~Copyable {
        var caller: OneTimeContinuation?
        var isDecided = false
        var failure: ClientError?
    }

    private let state = Mutex(State())
    private let call: RunningCall
    private let calls: RunningCalls
    private let atEnd: @Sendable (ClientError?) -> Bool

    init(
        of call: RunningCall, in calls: RunningCalls,
        atEnd: @escaping @Sendable (ClientError?) -> Bool
    ) {
        self.call = call
        self.calls = calls
        self.atEnd = atEnd
    }

    /// The call's error, after its caller continued; nil for a success.
    var failure: ClientError? { state.withLock { $0.failure } }

    func begin(_ caller: consuming OneTimeContinuation) {
        var caller: OneTimeContinuation? = caller
        state.withLock { $0.caller = caller.take() }
    }

    func end(_ failure: ClientError?) {
        let isFirst = state.withLock { state in
            guard !state.isDecided else { return false }
            (state.isDecided, state.failure) = (true, failure)
            return true
        }
        guard isFirst else { return }
        if atEnd(failure) { wakeCaller() } else { call.afterEvents { self.wakeCaller() } }
    }

    private func wakeCaller() {
        calls.remove(call)
        let caller = state.withLock { $0.caller.take() }
        caller?.resume()
    }
}
