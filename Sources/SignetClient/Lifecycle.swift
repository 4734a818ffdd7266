internal import Synchronization

/// Whether the system takes calls, and how many are under way.
///
/// Every call that was let in leaves once.
final class Lifecycle: Sendable {
    private enum Phase { case running, stopping, stopped }

    private struct State {
        var phase = Phase.running
        var callsUnderWay = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var pauses: [Int: Task<Void, Never>] = [:]
        var nextPause = 0
    }

    private let state = Mutex(State())

    /// Lets a call in, or says that none is taken any more.
    func admit() -> Bool {
        state.withLock { state in
            guard state.phase == .running else { return false }
            state.callsUnderWay += 1
            return true
        }
    }

    /// Counts a call out and wakes whoever waits for the last one.
    func leave() {
        let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.callsUnderWay -= 1
            guard state.callsUnderWay == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in woken { continuation.resume() }
    }

    /// Takes no more calls.
    ///
    /// - Returns: Whether this was the first to stop.
    func stop() -> Bool {
        let pauses = state.withLock { state -> [Task<Void, Never>]? in
            guard state.phase == .running else { return nil }
            state.phase = .stopping
            defer { state.pauses = [:] }
            return Array(state.pauses.values)
        }
        for pause in pauses ?? [] { pause.cancel() }
        return pauses != nil
    }

    /// Waits between two attempts, for less where the system stops or the caller is cancelled.
    ///
    /// - Returns: Whether another attempt may be made.
    func pause(_ duration: Duration) async -> Bool {
        let sleeper = Task { () -> Void in try? await Task.sleep(for: duration) }
        let number = state.withLock { state -> Int? in
            guard state.phase == .running else { return nil }
            state.nextPause += 1
            state.pauses[state.nextPause] = sleeper
            return state.nextPause
        }
        guard let number else {
            sleeper.cancel()
            return false
        }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { $0.pauses[number] = nil }
        return isRunning && !Task.isCancelled
    }

    /// Returns when no call is under way.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let idle = state.withLock { state in
                guard state.callsUnderWay > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if idle { continuation.resume() }
        }
    }

    /// Marks the end; `isRunning` is false from `stop()` on.
    func finish() { state.withLock { $0.phase = .stopped } }

    /// Whether calls are taken.
    var isRunning: Bool { state.withLock { $0.phase == .running } }
}
