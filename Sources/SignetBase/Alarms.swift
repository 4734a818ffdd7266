import Synchronization

/// Runs actions after a time, for deadlines that most work never reaches.
///
/// Cancelling an alarm frees its memory. A sleeping task keeps its memory until its deadline, even
/// if it was cancelled (Swift 6.3): a thousand calls a second with a deadline of a minute each
/// would hold 40 MB.
package final class Alarms: Sendable {
    /// A pending action.
    package struct Alarm: Sendable {
        fileprivate let alarms: Alarms
        fileprivate let tick: Int64
        fileprivate let number: UInt64

        /// Removes the action, unless it has begun.
        package func cancel() { alarms.remove(self) }
    }

    private struct State {
        var actions: [Int64: [UInt64: @Sendable () -> Void]] = [:]
        var lastNumber: UInt64 = 0
        /// The ticks for which a task sleeps.
        var wakes: Set<Int64> = []

        /// Returns the tick if a new task must sleep for it, because no other one wakes in time.
        mutating func newWake(for tick: Int64?) -> Int64? {
            guard let tick, wakes.allSatisfy({ $0 > tick }) else { return nil }
            wakes.insert(tick)
            return tick
        }
    }

    /// The alarms of this process.
    package static let shared = Alarms()

    /// Actions of one tick run together, so an action runs up to 10 ms late.
    private static let tickLength = Duration.milliseconds(10)
    /// A hundred years: the time in nanoseconds has 64 bits.
    private static let maximum = Duration.seconds(3_155_760_000)
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    package init() {}

    /// The number of actions that wait.
    package var count: Int { state.withLock { $0.actions.values.reduce(0) { $0 + $1.count } } }

    /// The number of tasks that sleep.
    package var sleepingCount: Int { state.withLock { $0.wakes.count } }

    /// Runs an action after a time, on any thread, unless the alarm is cancelled before.
    ///
    /// - Parameters:
    ///   - time: The time from now, at most a hundred years.
    ///   - action: Must not block.
    package func add(after time: Duration, action: @escaping @Sendable () -> Void) -> Alarm {
        let due = start.duration(to: .now) + min(max(time, .zero), Self.maximum)
        let tick = Int64(due / Self.tickLength) + 1
        let (number, wake) = state.withLock { state in
            state.lastNumber += 1
            state.actions[tick, default: [:]][state.lastNumber] = action
            return (state.lastNumber, state.newWake(for: tick))
        }
        if let wake { sleep(until: wake) }
        return Alarm(alarms: self, tick: tick, number: number)
    }

    private func remove(_ alarm: Alarm) {
        // Free the action after the lock is released, because freeing its captures may set or
        // cancel alarms.
        _ = state.withLock { state in
            let action = state.actions[alarm.tick]?.removeValue(forKey: alarm.number)
            if state.actions[alarm.tick]?.isEmpty ?? false { state.actions[alarm.tick] = nil }
            return action
        }
    }

    private func sleep(until tick: Int64) {
        Task.detached { [self] in
            let time = start + Self.tickLength * Double(tick)
            try? await Task.sleep(until: time, clock: .continuous)
            wake(for: tick)
        }
    }

    private func wake(for tick: Int64) {
        let now = Int64(start.duration(to: .now) / Self.tickLength)
        let (due, next) = state.withLock { state in
            state.wakes.remove(tick)
            let ticks = state.actions.keys.filter { $0 <= max(now, tick) }.sorted()
            let due = ticks.compactMap { state.actions.removeValue(forKey: $0) }
            return (due, state.newWake(for: state.actions.keys.min()))
        }
        if let next { sleep(until: next) }
        for action in due.lazy.flatMap(\.values) { action() }
    }
}
