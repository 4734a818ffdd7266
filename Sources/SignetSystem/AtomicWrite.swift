import Glibc
import SignetBase

/// Replaces files atomically: writes a temporary file, waits until the disk has it, and renames it.
///
/// The temporary file has a fixed name for each target and user (`.NAME.signet-UID.tmp`) and the
/// mode 0600, and its writer holds a lock on it (`flock`). A writer that finds an unlocked one
/// removes it, because its owner was killed, and waits for a locked one. If the name belongs to
/// another user's file, to one that isn't regular or that others can access, or to one with several
/// names, the writer leaves it alone and uses a random name, so that no leftover file can block it.
enum AtomicWrite {
    /// The file that is expected at the target's path.
    enum Expectation {
        case nothing
        case anything
        case file(FileIdentity)
    }

    /// Writes a file. If it fails, the target is unchanged and the temporary file removed, unless
    /// the error says otherwise.
    ///
    /// The new file gets the owner of the one it replaces; if the system doesn't allow that,
    /// nothing is written. Other names (hard links) of the replaced file keep the old content.
    ///
    /// - Parameter path: The target; its last component must not be a link.
    /// - Returns: The new file, open for writing and locked, unless its file system has no locks.
    /// - Throws: `FileFailure`: `alreadyExists` if nothing was expected but something exists,
    ///   `busy` if the target is not the expected file, or another process is still writing it
    ///   after 10 s.
    static func write(
        _ bytes: Span<UInt8>, to path: String, mode: UInt32, expecting expected: Expectation
    ) throws(FileFailure) -> Descriptor {
        let target = try Target(path)
        let temporary = try Temporary.make(for: target)
        let signals = temporary.signals
        defer { signals.restore() }
        do throws(FileFailure) {
            try fill(temporary.file, with: bytes, mode: mode, owner: target.foreignOwner())
            try rename(temporary.name, to: target, expecting: expected)
        } catch {
            guard target.remove(temporary.name) else {
                throw error.causing(
                    error.operation, of: path,
                    because:
                        "\(error.reason); the temporary file \(printable(temporary.name)) remains")
            }
            throw error
        }
        do throws(FileFailure) {
            try target.folder.synchronize()
        } catch {
            throw error.causing(
                "write", of: path,
                because: "the new file was written, but the disk did not confirm the folder "
                    + "(\(error.reason)): after a power failure, the old file may be back")
        }
        return temporary.file
    }

    private static func fill(
        _ file: borrowing Descriptor, with bytes: Span<UInt8>, mode: UInt32,
        owner: (user: uid_t, group: gid_t)?
    ) throws(FileFailure) {
        if let owner, fchown(file.number, owner.user, owner.group) != 0 {
            throw FileFailure(
                path: file.path, operation: "write",
                reason:
                    "it belongs to user \(owner.user), and the new file cannot be given to them "
                    + "(\(unsafe String(cString: strerror(errno))))", kind: .system)
        }
        // Set again, because the process's umask may have removed bits.
        guard fchmod(file.number, mode) == 0 else { throw file.failure("write") }
        try file.writeAll(bytes)
        try file.synchronize()
    }

    private static func rename(
        _ name: String, to target: borrowing Target, expecting expected: Expectation
    ) throws(FileFailure) {
        let folder = target.folder.number
        switch expected {
        case .nothing: return try renameWithoutReplacing(name, to: target)
        case .anything: break
        case .file(let identity):
            guard FileIdentity.named(target.name, in: target.folder) == identity else {
                throw FileFailure(
                    path: target.path, operation: "write",
                    reason: "another program has replaced it in the meantime", kind: .busy)
            }
        }
        guard unsafe renameat(folder, name, folder, target.name) == 0 else {
            throw target.failure("write")
        }
    }

    private static func renameWithoutReplacing(
        _ name: String, to target: borrowing Target
    ) throws(FileFailure) {
        let folder = target.folder.number
        if SystemCalls.renameWithoutReplacing(name, to: target.name, in: folder) { return }
        guard [EINVAL, ENOSYS, EOPNOTSUPP, EPERM].contains(errno) else {
            throw target.failure("create")
        }
        // The kernel or file system doesn't support it: add the new name, then remove the old one.
        guard unsafe linkat(folder, name, folder, target.name, 0) == 0 else {
            throw target.failure("create")
        }
        _ = target.remove(name)
    }

    /// A file's open folder and its name there.
    struct Target: ~Copyable {
        let folder: Descriptor
        let name: String
        let path: String

        init(_ path: String) throws(FileFailure) {
            let (folder, name) = PrivateFile.split(path)
            guard !name.isEmpty, name != ".", name != ".." else {
                throw FileFailure(
                    path: path, operation: "write", reason: "it is not the path of a file",
                    kind: .wrongKind)
            }
            do throws(FileFailure) {
                self.folder = try Descriptor(opening: folder, flags: O_RDONLY | O_DIRECTORY)
            } catch {
                throw error.causing("write", of: path)
            }
            self.name = name
            self.path = path
        }

        /// The beginning of the names of its temporary files.
        ///
        /// A name can have 255 bytes. Long names may collide here; their writers wait for each
        /// other.
        var temporaryName: String {
            ".\(String(decoding: name.utf8.prefix(160), as: UTF8.self)).signet-\(geteuid())"
        }

        /// Returns the failure of an operation that has just set `errno`.
        borrowing func failure(_ operation: String) -> FileFailure {
            FileFailure(path: path, operation: operation, errno: errno)
        }

        /// Returns the owner and group of the existing file, if it belongs to another user.
        borrowing func foreignOwner() -> (user: uid_t, group: gid_t)? {
            var status = stat()
            guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_uid != geteuid()
            else { return nil }
            return (status.st_uid, status.st_gid)
        }

        /// Removes a name. Retries once if the disk fails.
        borrowing func remove(_ name: String) -> Bool {
            for _ in 0..<2 {
                if unsafe unlinkat(folder.number, name, 0) == 0 || errno == ENOENT { return true }
            }
            return false
        }
    }

    /// A locked temporary file. Its owner renames or removes it, and then restores the signals that
    /// were blocked when it was created.
    private struct Temporary: ~Copyable {
        let file: Descriptor
        let name: String
        let signals: SignalMask

        /// Waits until no other writer has the target's temporary name, and creates the file.
        static func make(for target: borrowing Target) throws(FileFailure) -> Temporary {
            let name = target.temporaryName
            var backoff = Backoff()
            while true {
                if let made = try Temporary(named: name + ".tmp", for: target) { return made }
                switch try StaleFile.remove(name + ".tmp", of: target) {
                case .removed: continue
                case .locked:
                    guard backoff.sleepIfTimeRemains() else { throw FileFailure.busy(target.path) }
                case .foreign:
                    let free = "\(name)-\(TemporaryName.suffix()).tmp"
                    if let made = try Temporary(named: free, for: target) { return made }
                    throw FileFailure(path: target.path, operation: "write", errno: EEXIST)
                }
            }
        }

        /// Blocks the signals and creates the file. Returns nil if it cannot have the name.
        private init?(named name: String, for target: borrowing Target) throws(FileFailure) {
            let signals = SignalMask()
            do throws(FileFailure) {
                guard let file = try Self.create(name, for: target) else {
                    signals.restore()
                    return nil
                }
                self.file = file
            } catch {
                signals.restore()
                throw error
            }
            self.name = name
            self.signals = signals
        }

        /// Creates and locks the file. Returns nil if the name exists, or another writer got the
        /// file before it was locked.
        private static func create(
            _ name: String, for target: borrowing Target
        ) throws(FileFailure) -> Descriptor? {
            let file: Descriptor
            do throws(FileFailure) {
                file = try Descriptor(
                    named: name, in: target.folder.number,
                    flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, shownAs: target.path
                )
            } catch {
                if error.kind == .alreadyExists { return nil }
                throw error.causing("write", of: target.path)
            }
            do throws(FileFailure) {
                switch try file.tryLock() {
                case .unsupported: return file
                case .lockedByAnother: return nil
                case .acquired:
                    // Another writer may have removed it as a leftover before it was locked.
                    let named = FileIdentity.named(name, in: target.folder)
                    guard try file.identity() == named else { return nil }
                    return file
                }
            } catch {
                _ = target.remove(name)
                throw error
            }
        }
    }
}

/// A temporary file that already exists.
private enum StaleFile {
    enum Outcome {
        case removed
        /// Its writer is alive.
        case locked
        /// It must not be removed.
        case foreign
    }

    /// Removes the file if its writer is dead.
    static func remove(
        _ name: String, of target: borrowing AtomicWrite.Target
    ) throws(FileFailure) -> Outcome {
        let file: Descriptor
        do throws(FileFailure) {
            file = try Descriptor(
                named: name, in: target.folder.number,
                flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, shownAs: target.path)
        } catch {
            return error.kind == .notFound ? .removed : .foreign
        }
        let status = try file.status()
        let identity = FileIdentity(status)
        // If so, the writer was killed after it added the target's name. Remove only this name.
        let isTarget = FileIdentity.named(target.name, in: target.folder) == identity
        let owners = [geteuid(), target.foreignOwner()?.user ?? geteuid()]
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 == 0 || isTarget,
            owners.contains(status.st_uid), status.st_nlink <= 1 || isTarget
        else { return .foreign }
        if !isTarget {
            switch try file.tryLock() {
            case .acquired: break
            case .lockedByAnother: return .locked
            case .unsupported: return .foreign
            }
        }
        guard FileIdentity.named(name, in: target.folder) == identity else { return .removed }
        return target.remove(name) ? .removed : .foreign
    }
}
