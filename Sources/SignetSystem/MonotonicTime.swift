import Glibc

/// A time of the clock that is never set, and that counts while the machine sleeps.
///
/// The layout of `ContinuousClock.Instant` is known only at run time, so that each copy of a value
/// which contains one is made by generic code (benchmark row `system-empty`).
package struct MonotonicTime: Comparable, Sendable {
    /// Since the machine started.
    private let nanoseconds: Int64

    package static var now: MonotonicTime {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else {
            return MonotonicTime(nanoseconds: 0)
        }
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static func < (first: MonotonicTime, second: MonotonicTime) -> Bool {
        first.nanoseconds < second.nanoseconds
    }

    package static func - (end: MonotonicTime, start: MonotonicTime) -> Duration {
        .nanoseconds(end.nanoseconds - start.nanoseconds)
    }

    /// The time after a duration. More than 100 years count as 100 years.
    package static func + (start: MonotonicTime, duration: Duration) -> MonotonicTime {
        let longest: Int64 = 100 * 366 * 86_400
        let (seconds, attoseconds) = duration.components
        let bounded = min(max(seconds, -longest), longest)
        return MonotonicTime(
            nanoseconds: start.nanoseconds + bounded * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
