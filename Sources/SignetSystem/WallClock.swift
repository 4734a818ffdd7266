import Glibc

/// The time of day, which may be set back.
package enum WallClock {
    /// Unix milliseconds.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
