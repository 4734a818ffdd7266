import CSignetSystem

/// Keeps the keys in a process's memory out of core files and crash reports.
///
/// ```swift
/// // First in `main`, before a key is read:
/// let areOff = CoreDumps.disable()
/// print(areOff)
/// ```
public enum CoreDumps {
    /// Turns off core files and Swift's crash report for this process. The `signet` tool calls it
    /// first.
    ///
    /// Afterwards the kernel writes no core file, and other processes of the same user can neither
    /// read this process's memory nor attach a debugger. A crash only ends the process with a
    /// signal; Swift's report would show the bytes that the registers point to.
    ///
    /// Removes the handlers of SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV and SIGTRAP;
    /// install your own afterwards. A child process that runs another program inherits only the
    /// (soft) limit on core files.
    ///
    /// In a program built with AddressSanitizer, which must read the memory, it turns off only core
    /// files.
    ///
    /// - Returns: Whether the system accepted every setting.
    @discardableResult
    public static func disable() -> Bool {
        signet_disable_core_dumps() == 1
    }
}
