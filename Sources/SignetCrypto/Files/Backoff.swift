#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Asking again and again, at most for a while. It blocks the thread.
struct Backoff {
    /// How long a process waits for another that changes the same file: 10 s.
    static let defaultTimeout: Duration = .seconds(10)

    private let deadline: ContinuousClock.Instant
    private var pause: UInt32 = 500

    init(_ patience: Duration) { deadline = .now + patience }

    init(until deadline: ContinuousClock.Instant) { self.deadline = deadline }

    /// Sleeps 0.5 ms, the next times longer, at most 20 ms; false once the time is up.
    mutating func sleepIfTimeRemains() -> Bool {
        guard ContinuousClock.now < deadline else { return false }
        _ = usleep(pause)
        pause = min(pause * 2, 20_000)
        return true
    }
}
