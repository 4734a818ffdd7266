import Glibc

/// A file that one process at a time reads and writes. Others wait for its lock (`flock`).
package struct LockedFile: ~Copyable {
    private let file: Descriptor

    /// Opens a file, or creates it with mode 0600, and waits for its lock, which it holds as long
    /// as this value exists. Blocks the thread.
    ///
    /// - Parameters:
    ///   - path: The file. Links are followed.
    ///   - deadline: The end of the wait. The lock is tried at least once.
    ///   - requirePrivate: Whether to refuse a file of another user than this one or root, or one
    ///     that others have access to.
    /// - Throws: `FileFailure`, of kind `busy` if another process still has the lock, `wrongKind`
    ///   if the path isn't a regular file, or `permissions`.
    package init(
        path: String, until deadline: ContinuousClock.Instant, requirePrivate: Bool = false
    ) throws(FileFailure) {
        file = try Descriptor.locked(
            path, followsLinks: true, backoff: Backoff(until: deadline)
        ) { () throws(FileFailure) in
            let file = try Descriptor(
                named: path, in: AT_FDCWD, flags: O_RDWR | O_CREAT | O_NOCTTY | O_NONBLOCK,
                mode: 0o600, shownAs: path)
            let status = try file.status()
            try PrivateFile.requireRegular(status, path: path, operation: "lock")
            if requirePrivate,
                let refusal = PrivateFile.refusal(
                    of: path, owner: status.st_uid, mode: status.st_mode, user: geteuid())
            {
                throw refusal
            }
            return file
        }
    }

    // Unlocks explicitly: a child process that is starting still shares the open file and its lock
    // until it runs its program.
    deinit { _ = flock(file.number, LOCK_UN) }

    /// Returns the file's size in bytes.
    package borrowing func size() throws(FileFailure) -> Int {
        Int(try file.status().st_size)
    }

    /// Reads `count` bytes from `offset` on, fewer at the end.
    package borrowing func read(from offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
        try file.read(at: Int64(offset), count: count)
    }

    /// Truncates the file at `offset` and appends `bytes`.
    ///
    /// - Parameter isDurable: Whether to wait until the disk has the bytes.
    package borrowing func write(
        _ bytes: [UInt8], at offset: Int, isDurable: Bool = false
    ) throws(FileFailure) {
        guard ftruncate(file.number, off_t(offset)) == 0,
            lseek(file.number, off_t(offset), SEEK_SET) >= 0
        else { throw file.failure("write") }
        try file.writeAll(bytes.span)
        if isDurable { try file.synchronize() }
    }

    /// Renames the file and replaces any file that has the new name. The lock stays with the
    /// renamed file; a process that waits for the old name opens a new file.
    package borrowing func rename(to path: String) throws(FileFailure) {
        guard unsafe Glibc.rename(file.path, path) == 0 else {
            throw FileFailure(path: path, operation: "write", errno: errno)
        }
    }

    /// Replaces the file atomically. The lock stays with the old file, which then has no name; a
    /// process that waits opens the new file.
    package borrowing func replace(with bytes: [UInt8]) throws(FileFailure) {
        try PrivateFile.writeAtomically(bytes, to: file.path)
    }
}
