import Glibc

/// The pauses between attempts, until a deadline. They block the thread.
struct Backoff {
    /// The longest wait for another process that is changing the same file: 10 s.
    static let defaultTimeout: Duration = .seconds(10)

    private let deadline: ContinuousClock.Instant
    private var pause: UInt32 = 500

    init(timeout: Duration = defaultTimeout) { deadline = .now + timeout }

    init(until deadline: ContinuousClock.Instant) { self.deadline = deadline }

    /// Sleeps for 0.5 ms, then twice as long each time, at most 20 ms. Returns false after the
    /// deadline, without sleeping.
    mutating func sleepIfTimeRemains() -> Bool {
        guard ContinuousClock.now < deadline else { return false }
        _ = usleep(pause)
        pause = min(pause * 2, 20_000)
        return true
    }
}
