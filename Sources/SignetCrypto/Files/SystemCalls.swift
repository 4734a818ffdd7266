internal import CSignetOpenSSL

/// What the C shim says to the system for us. In a file of its own: with both modules imported, the
/// compiler may take `stat` for the shim's, where other files expect the system's.
enum SystemCalls {
    /// Renames within an open folder unless the new name is taken; false with the error in `errno`.
    static func renameWithoutReplacing(_ folder: Int32, _ old: String, _ new: String) -> Bool {
        unsafe csignet_rename_new(folder, old, new) == 1
    }
}

/// The ending signals (`SIGINT`, `SIGTERM`, `SIGHUP`, `SIGQUIT`) kept from this thread, so that a
/// program of one thread is not ended between making a temporary file and removing it.
struct SignalMask {
    private var before = sigset_t()
    private let areHeld: Bool

    init() { areHeld = unsafe csignet_block_signals(&before) == 1 }

    /// Lets them through again; one that came meanwhile takes effect.
    func admit() {
        guard areHeld else { return }
        var before = before
        unsafe csignet_restore_signals(&before)
    }
}
