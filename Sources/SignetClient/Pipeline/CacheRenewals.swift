import SignetCache
import Synchronization

/// The requests that renew stale responses in the background (`stale-while-revalidate`), one at a
/// time for each key.
final class CacheRenewals: Sendable {
    private struct State {
        var tasks: [CacheKey: Task<Void, Never>] = [:]
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Begins a renewal, unless one of the key is under way or the system stops.
    func begin(_ key: CacheKey, work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped, state.tasks[key] == nil else { return }
            state.tasks[key] = Task {
                await work()
                self.state.withLock { $0.tasks[key] = nil }
            }
        }
    }

    /// Begins no more renewals, and returns when those under way have ended.
    func stop() async {
        let tasks = state.withLock { state in
            state.isStopped = true
            return Array(state.tasks.values)
        }
        for task in tasks { await task.value }
    }

    /// Cancels the renewals under way.
    func cancel() {
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }
}
