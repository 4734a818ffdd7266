#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#endif

/// An open file, closed by its one owner. Never handed down to a child process.
package struct Descriptor: ~Copyable {
    let number: Int32
    let path: String

    package init(adopting number: Int32, path: String) {
        self.number = number
        self.path = path
    }

    /// Opens an existing file or folder; never waits for the other end of a pipe.
    init(opening path: String, _ flags: Int32) throws(FileFailure) {
        try self.init(at: AT_FDCWD, path, flags: flags | O_NONBLOCK, mode: 0, shown: path)
    }

    /// Opens or makes a file beside others in a folder that is open.
    init(
        at folder: Int32, _ name: String, flags: Int32, mode: mode_t, shown path: String
    ) throws(FileFailure) {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw FileFailure(
                path: path, operation: "open", reason: "no usable file name", kind: .notFound)
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

    /// What the opened file is, which nobody can exchange after the question.
    package func status() throws(FileFailure) -> stat {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else {
            throw FileFailure(path: path, operation: "examine", errno: errno)
        }
        return status
    }

    /// Which file is open.
    func identity() throws(FileFailure) -> FileIdentity { FileIdentity(try status()) }

    /// What an attempt to lock a file came to.
    enum LockOutcome { case taken, heldByAnother, unsupported }

    /// Takes the file's lock (`flock`) unless another has it; closing the file gives it back, and so
    /// does the end of the process, however it ends.
    func tryLock() throws(FileFailure) -> LockOutcome {
        while true {
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return .taken }
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .heldByAnother
            case ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: return .unsupported
            default: throw FileFailure(path: path, operation: "lock", errno: errno)
            }
        }
    }

    /// Writes zeros over every byte of a regular file and waits until the disk has them.
    func overwrite() throws(FileFailure) {
        let size = Int(try status().st_size)
        guard lseek(number, 0, SEEK_SET) == 0 else {
            throw FileFailure(path: path, operation: "wipe", errno: errno)
        }
        let zeros = [UInt8](repeating: 0, count: min(size, 65_536))
        var left = size
        while left > 0 {
            let count = min(left, zeros.count)
            try writeAll(zeros.span.extracting(first: count))
            left -= count
        }
        try synchronize()
    }

    /// All bytes from here to the end.
    ///
    /// - Throws: `FileFailure` of kind `tooLarge` as soon as there are more than `limit`.
    package func readAll(limit: Int, expected: Int = 0) throws(FileFailure) -> [UInt8] {
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
                    reason: "it holds more than \(limit) bytes", kind: .tooLarge)
            }
            if bytes.count + count > bytes.capacity {
                // What the array would leave behind when it grows may be a key.
                var grown: [UInt8] = []
                grown.reserveCapacity(2 * (bytes.count + count))
                grown.append(contentsOf: bytes)
                wipe(&bytes)
                bytes = grown
            }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Reads the next bytes, as many as there are and fit.
    ///
    /// - Returns: How many; 0 at the end.
    func read(into chunk: inout [UInt8]) throws(FileFailure) -> Int {
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { chunk in
                unsafe Glibc.read(number, chunk.baseAddress, chunk.count)
            }
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: awaitBytes()
            default: throw FileFailure(path: path, operation: "read", errno: errno)
            }
        }
    }

    /// Waits for bytes of a pipe that another program made one that does not wait.
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

    /// Waits until the disk has it.
    func synchronize() throws(FileFailure) {
        while fsync(number) != 0 {
            guard errno == EINTR else {
                throw FileFailure(path: path, operation: "write", errno: errno)
            }
        }
    }

    deinit { _ = close(number) }
}

/// Tells one file from another, also from one that took its name.
package struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// What a name in an open folder leads to, links not followed; nil where nothing is.
    static func named(_ name: String, in folder: borrowing Descriptor) -> FileIdentity? {
        var status = stat()
        guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            return nil
        }
        return FileIdentity(status)
    }
}
