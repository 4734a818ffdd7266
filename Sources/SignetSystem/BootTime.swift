import Glibc

/// The time since the machine started. All its processes share it, and no change of the wall clock
/// moves it.
package enum BootTime {
    /// Returns a text that is another one after each start of the machine; empty if the system
    /// doesn't tell.
    package static func identity() -> String {
        let text = (try? InputFile.read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        return String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self)
    }

    /// Returns the milliseconds since the start, with those in which the machine slept.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
