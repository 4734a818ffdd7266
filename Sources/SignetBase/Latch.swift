import Synchronization

/// A value that is set once, and that tasks wait for.
package final class Latch<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    /// The value; nil until it is set.
    package var value: Value? { state.withLock { $0.value } }

    /// Creates a latch without a value.
    package init() {}

    /// Sets the value and resumes the tasks that wait for it. Only the first call counts.
    package func set(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Waits until the value is set, and returns it. Cancelling the task doesn't end the wait.
    package func wait() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiting.append(continuation) }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
