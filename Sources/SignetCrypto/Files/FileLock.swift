#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The right to change a file, which one process at a time has; it lasts as long as this value.
///
/// The lock (`flock`) is that of the file itself. So there is no lock file that a killed process or
/// another user could leave behind; whoever may not open the file cannot hold others up, as anybody
/// who may read the folder could with a lock on that; and a link, a second name and the file share
/// one lock. A file that is replaced hands its lock on: the new one is locked before it gets the
/// name, and a waiter looks whether what it locked still has the name.
///
/// Where no file is, nothing is locked. Of several processes that make it at once one succeeds, and
/// `write` fails for the others with `alreadyExists`: they begin again, and now find a file to lock.
///
/// Only those who use this type are kept out. A file that another program replaced meanwhile is
/// noticed in `write`, and left as it is. A file system without `flock` is refused.
package struct FileLock: ~Copyable {
    /// The file, links followed.
    package let path: String
    private var file: Descriptor?

    /// Waits for the lock, blocking the thread.
    ///
    /// - Parameters:
    ///   - path: Links are followed; a link to nothing is refused.
    ///   - patience: The longest wait.
    /// - Throws: `FileFailure`; of kind `busy` where another process still has the lock, `wrongKind`
    ///   for what is no file.
    package init(
        guarding path: String, patience: Duration = .seconds(10)
    ) throws(FileFailure) {
        let path = try PrivateFile.resolved(path)
        var backoff = Backoff(patience)
        while let file = try Self.open(path) {
            let status = try file.status()
            try PrivateFile.requireRegular(status, path, operation: "change")
            switch try file.tryLock() {
            case .taken:
                var named = stat()
                // Whoever had the lock may have put another file in this one's place.
                if unsafe lstat(path, &named) == 0, FileIdentity(named) == FileIdentity(status) {
                    self.path = path
                    self.file = consume file
                    return
                }
            case .heldByAnother:
                guard backoff.sleepIfTimeRemains() else { throw FileFailure.busy(path) }
            case .unsupported:
                throw FileFailure(
                    path: path, operation: "lock",
                    reason: "its file system has no locks (flock), so two processes could lose "
                        + "each other's changes; move it to another one", kind: .system)
            }
        }
        self.path = path
        self.file = nil
    }

    /// Whether no file was there when the lock was asked for.
    package var hasNoFile: Bool { file == nil }

    /// Puts bytes in the place of the file, whole or not at all, and keeps the lock.
    ///
    /// With `wipingOld` the old file's bytes are then overwritten on the disk, after the new ones are
    /// safe there. That is the best a program can do and no promise: a solid-state disk, a file
    /// system that copies on write (btrfs, ZFS, overlays), a journal of data, a snapshot or a backup
    /// can keep the old bytes. A program that reads the old file just then reads zeros.
    ///
    /// - Parameters:
    ///   - bytes: The whole new content.
    ///   - mode: The new file's mode, whatever the old one's was.
    ///   - wipingOld: Whether to overwrite what is replaced.
    /// - Throws: `FileFailure`: `alreadyExists` where no file was there and now one is, `busy` where
    ///   another file has taken the place. With `wipingOld` a file with other names (hard links) is
    ///   refused at first, for it would live on under them; operation `wipe` says that the new file
    ///   stands and the old one's bytes may still be on the disk.
    package mutating func write(
        _ bytes: [UInt8], mode: UInt32 = 0o600, wipingOld: Bool = false
    ) throws(FileFailure) {
        let place: AtomicWrite.Place
        if let status = try file?.status() {
            place = .over(FileIdentity(status))
            if wipingOld { try demandWipeable(status) }
        } else {
            place = .anew
        }
        let new = try AtomicWrite.put(bytes.span, at: path, mode: mode, place)
        let old = file.take()
        file = consume new
        guard wipingOld, let old else { return }
        do throws(FileFailure) {
            guard try old.status().st_nlink == 0 else {
                throw Self.otherNames(path)
            }
            try old.overwrite()
        } catch {
            throw FileFailure(
                path: path, operation: "wipe",
                reason: "the new file is in its place, but the old one's bytes may still be on the "
                    + "disk (\(error.reason))", kind: error.kind)
        }
    }

    /// Gives the lock back now.
    package consuming func release() {}

    private mutating func demandWipeable(_ status: stat) throws(FileFailure) {
        guard status.st_nlink == 1 else { throw Self.otherNames(path) }
        // Asked of the system, for the file may have been opened for reading alone.
        let flags = fcntl(file?.number ?? -1, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE == O_RDWR else {
            throw FileFailure(
                path: path, operation: "wipe", reason: "it may not be written", kind: .system)
        }
    }

    private static func otherNames(_ path: String) -> FileFailure {
        FileFailure(
            path: path, operation: "wipe",
            reason: "it has another name (a hard link), under which it would live on; remove that",
            kind: .system)
    }

    /// Opened for writing, which wiping and the locks of some network file systems need, or else for
    /// reading; nil where nothing is.
    private static func open(_ path: String) throws(FileFailure) -> Descriptor? {
        let flags = O_NOFOLLOW | O_NOCTTY
        do throws(FileFailure) {
            return try Descriptor(opening: path, O_RDWR | flags)
        } catch {
            if error.kind == .notFound { return nil }
        }
        do throws(FileFailure) {
            return try Descriptor(opening: path, O_RDONLY | flags)
        } catch {
            if error.kind == .notFound { return nil }
            throw error
        }
    }
}
