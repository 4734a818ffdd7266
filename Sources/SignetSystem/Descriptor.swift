import Glibc

/// An open file, closed by its only owner and never inherited by a child process.
struct Descriptor: ~Copyable {
    let number: Int32
    let path: String

    init(adopting number: Int32, path: String) {
        self.number = number
        self.path = path
    }

    /// Opens an existing file or folder. Doesn't wait for the other end of a pipe.
    init(opening path: String, flags: Int32) throws(FileFailure) {
        try self.init(named: path, in: AT_FDCWD, flags: flags | O_NONBLOCK, shownAs: path)
    }

    /// Opens a copy of an open descriptor, with a number above 2. The other one stays open.
    init(copying number: Int32, path: String) throws(FileFailure) {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw FileFailure(path: path, operation: "read", errno: errno) }
        self.init(adopting: copy, path: path)
    }

    /// Opens or creates a file in an open folder.
    ///
    /// - Parameter path: The file's name in errors.
    init(
        named name: String, in folder: Int32, flags: Int32, mode: mode_t = 0, shownAs path: String
    ) throws(FileFailure) {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw FileFailure(
                path: path, operation: "open",
                reason: "the file name is empty or contains a zero byte", kind: .notFound)
        }
        var number: Int32
        repeat {
            number = unsafe openat(folder, name, flags | O_CLOEXEC, mode)
        } while number < 0 && errno == EINTR
        guard number >= 0 else {
            throw FileFailure(path: path, operation: "open", errno: errno)
        }
        self.init(adopting: number, path: path)
    }

    /// Returns the failure of an operation that has just set `errno`.
    func failure(_ operation: String) -> FileFailure {
        FileFailure(path: path, operation: operation, errno: errno)
    }

    /// Returns the status of the open file, which cannot be replaced after this check.
    func status() throws(FileFailure) -> stat {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw failure("examine") }
        return status
    }

    /// Returns the identity of the open file.
    func identity() throws(FileFailure) -> FileIdentity { FileIdentity(try status()) }

    /// The outcome of an attempt to lock a file.
    enum LockOutcome { case acquired, lockedByAnother, unsupported }

    /// Locks the file (`flock`) if it isn't locked. The lock ends when the file is closed or the
    /// process ends.
    func tryLock() throws(FileFailure) -> LockOutcome {
        while true {
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return .acquired }
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .lockedByAnother
            case ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: return .unsupported
            default: throw failure("lock")
            }
        }
    }

    /// Opens a file and waits for its lock. If the lock's previous owner has replaced the file in
    /// the meantime, starts again with the new one.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - followsLinks: Whether the path may be a link to the file.
    ///   - backoff: The pauses, and the end of the wait.
    ///   - open: Opens the file.
    /// - Throws: `FileFailure`, of kind `busy` if another process still has the lock.
    static func locked(
        _ path: String, followsLinks: Bool, backoff: consuming Backoff,
        open: () throws(FileFailure) -> Descriptor
    ) throws(FileFailure) -> Descriptor {
        while true {
            let file = try open()
            if try file.lockIfFree() {
                let flags = followsLinks ? 0 : AT_SYMLINK_NOFOLLOW
                if try file.identity() == FileIdentity.named(path, in: AT_FDCWD, flags: flags) {
                    return file
                }
            } else if !backoff.sleepIfTimeRemains() {
                throw FileFailure.busy(path)
            }
        }
    }

    /// Locks the file as `tryLock` does.
    ///
    /// - Returns: False if another process has the lock.
    /// - Throws: `FileFailure` if locking fails or the file system has no locks.
    func lockIfFree() throws(FileFailure) -> Bool {
        let outcome = try tryLock()
        guard outcome != .unsupported else {
            throw FileFailure(
                path: path, operation: "lock",
                reason: "its file system does not support locks (flock), so two processes could "
                    + "change it at the same time; move it to another one",
                kind: .system)
        }
        return outcome == .acquired
    }

    /// Overwrites a regular file with zeros and waits until the disk has them.
    func overwrite() throws(FileFailure) {
        let size = Int(try status().st_size)
        guard lseek(number, 0, SEEK_SET) == 0 else { throw failure("wipe") }
        let zeros = [UInt8](repeating: 0, count: min(size, 65_536))
        var left = size
        while left > 0 {
            let count = min(left, zeros.count)
            try writeAll(zeros.span.extracting(first: count))
            left -= count
        }
        try synchronize()
    }

    /// Reads from the current position to the end.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes.
    ///   - expected: The number of bytes for which memory is reserved.
    /// - Throws: `FileFailure`, of kind `tooLarge` if there are more than `limit` bytes.
    func readAll(limit: Int, expected: Int = 0) throws(FileFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(max(expected, 0), limit) + 1)
        var chunk = [UInt8](repeating: 0, count: min(65_536, limit + 1))
        defer { wipe(&chunk) }
        while true {
            let count: Int
            do throws(FileFailure) {
                count = try read(into: &chunk)
            } catch {
                wipe(&bytes)
                throw error
            }
            if count == 0 { return bytes }
            if bytes.count + count > limit {
                wipe(&bytes)
                throw FileFailure(
                    path: path, operation: "read",
                    reason: "found more than \(limit) bytes, which is the limit", kind: .tooLarge)
            }
            if bytes.count + count > bytes.capacity {
                // Grows by hand, because the old storage may contain a key and must be wiped.
                var grown: [UInt8] = []
                grown.reserveCapacity(2 * (bytes.count + count))
                grown.append(contentsOf: bytes)
                wipe(&bytes)
                bytes = grown
            }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Reads the next available bytes.
    ///
    /// - Returns: The number of bytes, 0 at the end.
    func read(into chunk: inout [UInt8]) throws(FileFailure) -> Int {
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { chunk in
                unsafe Glibc.read(number, chunk.baseAddress, chunk.count)
            }
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: awaitBytes()
            default: throw failure("read")
            }
        }
    }

    /// Reads from a position in the file, independent of the current one.
    ///
    /// - Returns: `count` bytes, fewer at the end.
    func read(at offset: Int64, count: Int) throws(FileFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let start = done
            let more = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe pread(
                    number, bytes.baseAddress! + start, count - start, off_t(offset) + start)
            }
            if more == 0 { break }
            guard more > 0 || errno == EINTR else { throw failure("read") }
            done += max(more, 0)
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Waits for bytes of a pipe that another program made non-blocking.
    private func awaitBytes() {
        var state = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&state, 1, -1)
    }

    /// Writes every byte.
    func writeAll(_ bytes: Span<UInt8>) throws(FileFailure) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.extracting(written...)
            let count = unsafe rest.withUnsafeBytes { rest in
                unsafe Glibc.write(number, rest.baseAddress, rest.count)
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw FileFailure(path: path, operation: "write", errno: count == 0 ? EIO : errno)
            }
        }
    }

    /// Waits until the disk has the file's contents.
    func synchronize() throws(FileFailure) {
        while fsync(number) != 0 {
            guard errno == EINTR else { throw failure("write") }
        }
    }

    deinit { _ = close(number) }
}

/// A file's identity, independent of its name.
struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// Returns the identity of a name in an open folder, without following links, or nil if nothing
    /// exists.
    static func named(_ name: String, in folder: borrowing Descriptor) -> FileIdentity? {
        named(name, in: folder.number, flags: AT_SYMLINK_NOFOLLOW)
    }

    fileprivate static func named(_ name: String, in folder: Int32, flags: Int32) -> FileIdentity? {
        var status = stat()
        guard unsafe fstatat(folder, name, &status, flags) == 0 else { return nil }
        return FileIdentity(status)
    }
}
