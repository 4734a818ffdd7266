internal import CSignetOpenSSL

/// Keeping secrets out of what is written down when a process crashes.
package enum MemoryDumps {
    /// Asks the system never to write this process's memory to a core file, nor to let other
    /// processes of the same user read it, and keeps Swift's runtime from printing a crash report,
    /// which shows the bytes that the registers point to (on Linux the default; `SWIFT_BACKTRACE`).
    ///
    /// A sanitizer that watches the process needs to read it; then only the size of a core file is
    /// set to none.
    ///
    /// - Returns: Whether the system took it.
    @discardableResult
    package static func disable() -> Bool {
        csignet_disable_memory_dumps() == 1
    }
}
