package import HTTPTypes
import SignetBase
import SignetCrypto
package import SignetSystem

/// The times, pauses and random numbers of a system. Tests replace them.
package struct SystemClock: Sendable {
    /// The time in Unix seconds.
    package var now: @Sendable () -> Int64 = { UnixTime.now() }
    /// The monotonic time.
    package var instant: @Sendable () -> MonotonicTime = { .now }
    /// Waits between attempts; throws if the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void = {
        try await Task.sleep(for: $0)
    }
    /// Runs an action at a deadline, in place of the alarms of the process; nil in programs.
    package var alarm: (@Sendable (Duration, @escaping @Sendable () -> Void) -> Void)?
    /// A random number in 0..<1.
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// Reads the time that a response asks to wait before another attempt, at a Unix time.
    package var retryAfter: @Sendable (HTTPResponse, Int64) -> Duration? = {
        RetryStrategy.wait($0, now: $1)
    }

    /// The clocks of the machine.
    package init() {}
}
