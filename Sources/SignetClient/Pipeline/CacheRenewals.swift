import SignetCache
import Synchronization

/// The requests that renew stale responses in the background (`stale-while-revalidate`), one at a
/// time for each key.
final class CacheRenewals: Sendable {
    private struct State {
        var tasks: [CacheKey: Task<Void, Never>] = [:]
        var isStopped = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        /// Those that wait, if no renewal is under way.
        mutating func woken() -> [CheckedContinuation<Void, Never>] {
            guard tasks.isEmpty else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = Mutex(State())

    /// The time within which a cancelled renewal should return.
    private static let patience: Duration = .milliseconds(50)

    /// Begins a renewal, unless one of the key is under way or the system stops.
    func begin(_ key: CacheKey, work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped, state.tasks[key] == nil else { return }
            state.tasks[key] = Task {
                await work()
                self.wake { $0.tasks[key] = nil }
            }
        }
    }

    /// Begins no more renewals, and returns when those under way have ended or were given up.
    func stop() async {
        state.withLock { $0.isStopped = true }
        await waitUntilIdle()
    }

    /// Returns when no renewal is under way.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            wake { $0.waiting.append(continuation) }
        }
    }

    /// Cancels the renewals under way, and gives up those that don't return soon, because an engine
    /// may ignore that its task was cancelled.
    func cancel() {
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
        Task.detached {
            try? await Task.sleep(for: Self.patience)
            self.wake { $0.tasks = [:] }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let woken = state.withLock { state in
            change(&state)
            return state.woken()
        }
        for continuation in woken { continuation.resume() }
    }
}
