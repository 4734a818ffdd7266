import Glibc

/// An exclusive lock on a file for changing it, held as long as this value exists.
///
/// The lock (`flock`) is on the file itself. A killed process therefore leaves no lock file behind,
/// a user without access to the file cannot block others, and all links and names of a file share
/// one lock. When `write` replaces the file, the new file is locked before it gets the name; a
/// process that waited for the old one notices that, and locks the new one.
///
/// If the file doesn't exist, nothing is locked. If several processes create it at the same time,
/// one succeeds, and `write` throws `alreadyExists` in the others: they start again and find a file
/// to lock.
///
/// The lock excludes only users of this type. If another program replaced the file in the meantime,
/// `write` throws and leaves it alone. File systems without `flock` are refused.
package struct FileLock: ~Copyable {
    /// The file's path, with links resolved.
    package let path: String
    private var file: Descriptor?

    /// Waits for the lock, blocking the thread.
    ///
    /// - Parameters:
    ///   - path: The file. Links are followed; a broken link is refused.
    ///   - timeout: The longest wait.
    /// - Throws: `FileFailure`, of kind `busy` if another process still has the lock, or
    ///   `wrongKind` if the path isn't a regular file.
    package init(
        guarding path: String, timeout: Duration = Backoff.defaultTimeout
    ) throws(FileFailure) {
        let path = try PrivateFile.resolved(path)
        let file: Descriptor?
        do throws(FileFailure) {
            file = try Descriptor.locked(
                path, followsLinks: false, backoff: Backoff(timeout: timeout)
            ) { () throws(FileFailure) in try Self.open(path) }
        } catch {
            guard error.kind == .notFound else { throw error }
            file = nil
        }
        self.path = path
        self.file = file
    }

    /// Whether nothing is locked, because the file doesn't exist yet.
    package var hasNoFile: Bool { file == nil }

    /// The permissions of the file, for a `write` that keeps them; 0600 if there is no file.
    package var mode: UInt32 {
        get throws(FileFailure) { try (file?.status()).map { $0.st_mode & 0o777 } ?? 0o600 }
    }

    /// Replaces the file atomically and keeps the lock.
    ///
    /// With `wipingOld`, the old file's bytes are overwritten once the disk has the new ones. This
    /// isn't a guarantee: a solid-state disk, a copy-on-write file system (btrfs, ZFS, overlays), a
    /// data journal, a snapshot or a backup can keep the old bytes. A program that has the old file
    /// open reads zeros.
    ///
    /// - Parameters:
    ///   - bytes: The whole new content.
    ///   - mode: The new file's mode, independent of the old one's.
    ///   - wipingOld: Whether to overwrite the old bytes. A file with other names (hard links) is
    ///     then refused before anything is written, because it would keep the content.
    /// - Throws: `FileFailure`, of kind `alreadyExists` if the file didn't exist before but exists
    ///   now, or `busy` if another program replaced it. The operation `wipe` can mean that the new
    ///   file was written but the old bytes may still be on the disk.
    package mutating func write(
        _ bytes: [UInt8], mode: UInt32 = 0o600, wipingOld: Bool = false
    ) throws(FileFailure) {
        let expected: AtomicWrite.Expectation
        if let status = try file?.status() {
            expected = .file(FileIdentity(status))
            if wipingOld { try requireWipeable(status) }
        } else {
            expected = .nothing
        }
        let new = try AtomicWrite.write(bytes.span, to: path, mode: mode, expecting: expected)
        let old = file.take()
        file = consume new
        guard wipingOld, let old else { return }
        do throws(FileFailure) {
            guard try old.status().st_nlink == 0 else { throw Self.otherNames(path) }
            try old.overwrite()
        } catch {
            throw error.causing(
                "wipe", of: path,
                because: "the new file was written, but the old file's bytes may still be on the "
                    + "disk (\(error.reason))")
        }
    }

    /// Releases the lock.
    package consuming func release() {}

    private mutating func requireWipeable(_ status: stat) throws(FileFailure) {
        guard status.st_nlink == 1 else { throw Self.otherNames(path) }
        // The file may have been opened only for reading.
        let flags = fcntl(file?.number ?? -1, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE == O_RDWR else {
            throw FileFailure(
                path: path, operation: "wipe", reason: "this process has no permission to write it",
                kind: .system)
        }
    }

    private static func otherNames(_ path: String) -> FileFailure {
        FileFailure(
            path: path, operation: "wipe",
            reason:
                "it has another name (a hard link), which would keep its bytes; remove that",
            kind: .system)
    }

    /// Opens the regular file for writing, which wiping and the locks of some network file systems
    /// need, or else for reading.
    private static func open(_ path: String) throws(FileFailure) -> Descriptor {
        let flags = O_NOFOLLOW | O_NOCTTY
        let file: Descriptor
        do throws(FileFailure) {
            file = try Descriptor(opening: path, flags: O_RDWR | flags)
        } catch {
            if error.kind == .notFound { throw error }
            file = try Descriptor(opening: path, flags: O_RDONLY | flags)
        }
        try PrivateFile.requireRegular(file.status(), path: path, operation: "change")
        return file
    }
}
