#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that one process at a time reads and writes; the others wait for its lock (`flock`).
package struct LockedFile: ~Copyable {
    private let file: Descriptor

    /// Opens a file, or makes it with mode 0600, and waits for its lock, which lasts as long as this
    /// value. It blocks the thread.
    ///
    /// - Parameters:
    ///   - deadline: When to give up; the lock is asked for at least once.
    ///   - requirePrivate: Whether the opened file must be this user's or root's and give no rights to
    ///     anyone else, as a key file must.
    /// - Throws: `FileFailure`; of kind `busy` if another process still has the lock, `wrongKind`
    ///   for anything but a regular file, and `permissions`.
    package init(
        path: String, until deadline: ContinuousClock.Instant, requirePrivate: Bool = false
    ) throws(FileFailure) {
        var backoff = Backoff(until: deadline)
        while true {
            let file = try Descriptor(
                at: AT_FDCWD, path, flags: O_RDWR | O_CREAT | O_NOCTTY | O_NONBLOCK, mode: 0o600,
                shown: path)
            let status = try file.status()
            try PrivateFile.requireRegular(status, path, operation: "lock")
            if requirePrivate,
                let refusal = PrivateFile.refusal(
                    of: path, owner: status.st_uid, mode: status.st_mode, user: geteuid())
            {
                throw refusal
            }
            switch try file.tryLock() {
            case .taken:
                var named = stat()
                // Whoever held the lock may have put another file in this one's place.
                if unsafe stat(path, &named) == 0, FileIdentity(named) == FileIdentity(status) {
                    self.file = file
                    return
                }
            case .heldByAnother:
                guard backoff.sleepIfTimeRemains() else { throw FileFailure.busy(path) }
            case .unsupported:
                throw FileFailure(
                    path: path, operation: "lock",
                    reason: "its file system has no locks (flock); move it to another one",
                    kind: .system)
            }
        }
    }

    /// Bytes of the file.
    package borrowing func size() throws(FileFailure) -> Int {
        Int(try file.status().st_size)
    }

    /// Reads up to `count` bytes from `offset` on; fewer where the file ends before.
    package borrowing func read(from offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let start = done
            let taken = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe pread(
                    file.number, bytes.baseAddress! + start, count - start, off_t(offset + start))
            }
            if taken == 0 { break }
            if taken < 0 {
                if errno == EINTR { continue }
                throw FileFailure(path: file.path, operation: "read", errno: errno)
            }
            done += taken
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Cuts the file at `offset` and writes `bytes` there.
    ///
    /// - Parameter isDurable: Whether to wait until the disk has them.
    package borrowing func write(
        _ bytes: [UInt8], at offset: Int, isDurable: Bool = false
    ) throws(FileFailure) {
        guard ftruncate(file.number, off_t(offset)) == 0,
            lseek(file.number, off_t(offset), SEEK_SET) >= 0
        else { throw FileFailure(path: file.path, operation: "write", errno: errno) }
        try file.writeAll(bytes.span)
        if isDurable { try file.synchronize() }
    }

    /// Gives it another name, in the place of whatever has that. This lock is then one of the file
    /// under its new name; who waits for it opens a new one.
    package borrowing func rename(to path: String) throws(FileFailure) {
        guard unsafe Glibc.rename(file.path, path) == 0 else {
            throw FileFailure(path: path, operation: "write", errno: errno)
        }
    }

    /// Puts a new file with these bytes in its place, whole or not at all. This lock is then one of
    /// a file without a name; who waits for it opens the new one.
    package borrowing func replace(with bytes: [UInt8]) throws(FileFailure) {
        try PrivateFile.writeAtomically(bytes, to: file.path)
    }
}
