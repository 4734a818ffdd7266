import Synchronization

/// A wait that others can end.
package final class Wakeup: Sendable {
    private let state = Mutex<(isSet: Bool, waiting: CheckedContinuation<Void, Never>?)>(
        (false, nil))

    package init() {}

    /// Ends the wait, or the next one.
    package func set() {
        let waiting = state.withLock { state in
            state.isSet = state.waiting == nil
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits until it is ended, some time has passed, or the task is cancelled.
    package func wait(atMost time: Duration, by clock: SystemClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            group.addTask { try? await clock.sleep(time) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isSet || Task.isCancelled {
                        state.isSet = false
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.take() }?.resume()
        }
    }
}
