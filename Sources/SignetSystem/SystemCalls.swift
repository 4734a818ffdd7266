import CSignetSystem

/// System calls through the C shim. They have their own file, because with both modules imported,
/// `stat` may mean the shim's declaration, not the system's.
package enum SystemCalls {
    /// Waits for a child process and returns its exit status: 128 plus the signal's number if a
    /// signal ended it, and -1 if it is unknown.
    package static func wait(forChild child: Int32) -> Int32 { signet_wait(child) }

    /// Renames a file in an open folder, unless the new name exists. Returns false and sets `errno`
    /// on failure.
    static func renameWithoutReplacing(_ old: String, to new: String, in folder: Int32) -> Bool {
        unsafe signet_rename_new(folder, old, new) == 1
    }
}

/// Blocks the signals that end a program (`SIGINT`, `SIGTERM`, `SIGHUP`, `SIGQUIT`) on this thread,
/// so that they don't end a program with one thread before it removes its temporary file.
struct SignalMask {
    private var before = sigset_t()
    private let isBlocking: Bool

    init() { isBlocking = unsafe signet_block_signals(&before) == 1 }

    /// Restores the thread's earlier mask. A signal that is pending then takes effect.
    func restore() {
        guard isBlocking else { return }
        var before = before
        unsafe signet_restore_signals(&before)
    }
}
