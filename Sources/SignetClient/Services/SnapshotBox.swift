import Logging
import Synchronization

/// The one place that holds the current snapshot; counts how often it was replaced.
final class SnapshotBox: Sendable {
    private struct State {
        var snapshot: SystemSnapshot
        var generation = 1
        var isClosed = false
        /// Called after each change.
        var observers: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>
    private let logger: Logger

    init(_ snapshot: SystemSnapshot, logger: Logger) {
        state = Mutex(State(snapshot: snapshot))
        self.logger = logger
    }

    /// The current snapshot.
    var current: SystemSnapshot { state.withLock { $0.snapshot } }

    /// The current snapshot, and its number from 1.
    var numbered: (snapshot: SystemSnapshot, generation: Int) {
        state.withLock { ($0.snapshot, $0.generation) }
    }

    /// Calls a closure after each change from now on.
    func observe(_ changed: @escaping @Sendable () -> Void) {
        state.withLock { $0.observers.append(changed) }
    }

    /// Refuses later changes.
    func close() { state.withLock { $0.isClosed = true } }

    /// Makes a new snapshot of the current one; does so again if another change came first.
    ///
    /// - Throws: `not-running` after it was closed; the error of `make`.
    func change(
        _ make: (SystemSnapshot) throws(ClientError) -> SystemSnapshot
    ) throws(ClientError) {
        while true {
            let (current, generation) = numbered
            let next = try make(current)
            guard try replace(generation, with: next) else { continue }
            if next.policy != current.policy { next.logFindings(to: logger) }
            logger.debug(
                "configuration changed", metadata: ["mode": "\(next.mode.mode.rawValue)"])
            for changed in state.withLock({ $0.observers }) { changed() }
            return
        }
    }

    private func replace(
        _ generation: Int, with snapshot: SystemSnapshot
    ) throws(ClientError) -> Bool {
        try state.withLock { state throws(ClientError) in
            guard !state.isClosed else { throw .notRunning }
            guard state.generation == generation else { return false }
            state.snapshot = snapshot
            state.generation += 1
            return true
        }
    }
}
