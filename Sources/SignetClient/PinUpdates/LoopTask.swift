import Synchronization

/// A task that is started once and can be stopped before and after.
final class LoopTask: Sendable {
    private let state = Mutex<(task: Task<Void, Never>?, isStopped: Bool)>((nil, false))

    func start(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped, state.task == nil else { return }
            state.task = Task.detached(priority: .utility) { await body() }
        }
    }

    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task
        }
        task?.cancel()
    }

    deinit { stop() }
}
