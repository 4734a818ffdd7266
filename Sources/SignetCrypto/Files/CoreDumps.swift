internal import CSignetOpenSSL

/// Keeps a process's memory, which holds keys, out of what is written down when the process crashes.
public enum CoreDumps {
    /// Turns core files and Swift's crash report off for this process.
    ///
    /// Call it first in `main`, before any key is read; the `signet` tool does so. From then on the kernel
    /// writes no core file, other processes of the same user cannot read this one's memory or attach a
    /// debugger, and a crash ends the process by its signal alone. Swift's report would show the bytes that
    /// the registers point to. Handlers of the signals SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV and
    /// SIGTRAP are removed: install your own afterwards. A child process keeps the limit on core files; the
    /// rest it does not inherit once it runs another program.
    ///
    /// In a program built with AddressSanitizer, which must read the memory, only core files are turned off.
    ///
    /// - Returns: Whether the system accepted all of it.
    @discardableResult
    public static func disable() -> Bool {
        csignet_disable_core_dumps() == 1
    }
}
