#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file written beside its place under a temporary name, brought to the disk and then put there.
///
/// The temporary file of a target has one name for each user (`.NAME.signet-UID.tmp`), mode 0600 from
/// the first moment, and is locked (`flock`) as long as its writer lives. A writer that finds one
/// without a lock knows that its owner was killed, and removes it; one that is held, it waits for.
/// What is not ours, no plain file, open to others or has other names is never touched: then a name
/// nobody can guess is taken instead, so that nothing left behind can stop a run.
enum AtomicWrite {
    /// What may be at the target's name.
    enum Place {
        /// Nothing.
        case anew
        /// Anything.
        case overAnything
        /// This file and no other.
        case over(FileIdentity)
    }

    /// Writes the bytes; an error leaves the target as it was and no temporary file, unless the error
    /// says otherwise.
    ///
    /// A file of another user stays that user's, and where the system does not allow it nothing is
    /// written. A target with other names (hard links) is replaced under this name alone.
    ///
    /// - Parameter path: Without a link as its last part.
    /// - Returns: The new file, open for writing and locked, unless its file system has no locks.
    /// - Throws: `FileFailure`; `alreadyExists` for `anew`, `busy` where the file is no longer the one
    ///   it shall replace, or where another writer of the same file did not end in time.
    static func put(
        _ bytes: Span<UInt8>, at path: String, mode: UInt32, _ place: Place
    ) throws(FileFailure) -> Descriptor {
        let target = try Target(path)
        let temporary = try Temporary(for: target)
        let signals = temporary.signals
        defer { signals.admit() }
        do throws(FileFailure) {
            try fill(temporary.file, bytes, mode: mode, owner: target.foreignOwner())
            try put(temporary.name, on: target, place)
        } catch {
            guard target.remove(temporary.name) else {
                throw FileFailure(
                    path: path, operation: error.operation,
                    reason: "\(error.reason); \(printable(temporary.name)) is left beside it",
                    kind: error.kind)
            }
            throw error
        }
        do throws(FileFailure) {
            try target.folder.synchronize()
        } catch {
            throw FileFailure(
                path: path, operation: "write",
                reason: "the new file is in its place, but the disk did not confirm the folder "
                    + "(\(error.reason)): after a power cut the old one may be there again",
                kind: error.kind)
        }
        return temporary.file
    }

    private static func fill(
        _ file: borrowing Descriptor, _ bytes: Span<UInt8>, mode: UInt32,
        owner: (user: uid_t, group: gid_t)?
    ) throws(FileFailure) {
        if let owner, fchown(file.number, owner.user, owner.group) != 0 {
            throw FileFailure(
                path: file.path, operation: "write",
                reason: "it is user \(owner.user)'s, and a new file cannot be given to them "
                    + "(\(unsafe String(cString: strerror(errno))))", kind: .system)
        }
        // The process's mask may have taken bits away, and none was given too many.
        guard fchmod(file.number, mode) == 0 else {
            throw FileFailure(path: file.path, operation: "write", errno: errno)
        }
        try file.writeAll(bytes)
        try file.synchronize()
    }

    private static func put(
        _ name: String, on target: borrowing Target, _ place: Place
    ) throws(FileFailure) {
        let folder = target.folder.number
        switch place {
        case .anew: return try putAnew(name, on: target)
        case .overAnything: break
        case .over(let expected):
            guard FileIdentity.named(target.name, in: target.folder) == expected else {
                throw FileFailure(
                    path: target.path, operation: "write",
                    reason: "another program put another file in its place meanwhile", kind: .busy)
            }
        }
        guard unsafe renameat(folder, name, folder, target.name) == 0 else {
            throw FileFailure(path: target.path, operation: "write", errno: errno)
        }
    }

    private static func putAnew(
        _ name: String, on target: borrowing Target
    ) throws(FileFailure) {
        let folder = target.folder.number
        if SystemCalls.renameWithoutReplacing(folder, name, target.name) { return }
        guard [EINVAL, ENOSYS, EOPNOTSUPP, EPERM].contains(errno) else {
            throw FileFailure(path: target.path, operation: "create", errno: errno)
        }
        // A kernel or file system that cannot rename without replacing: a second name, then one less.
        guard unsafe linkat(folder, name, folder, target.name, 0) == 0 else {
            throw FileFailure(path: target.path, operation: "create", errno: errno)
        }
        _ = target.remove(name)
    }

    /// The place of a file: its open folder and its name there.
    struct Target: ~Copyable {
        let folder: Descriptor
        let name: String
        let path: String

        init(_ path: String) throws(FileFailure) {
            let (folder, name) = PrivateFile.split(path)
            guard !name.isEmpty, name != ".", name != ".." else {
                throw FileFailure(
                    path: path, operation: "write", reason: "it names no file", kind: .wrongKind)
            }
            do throws(FileFailure) {
                self.folder = try Descriptor(opening: folder, O_RDONLY | O_DIRECTORY)
            } catch {
                throw FileFailure(
                    path: path, operation: "write", reason: error.reason, kind: error.kind)
            }
            self.name = name
            self.path = path
        }

        /// Owner and group of the file that is there, where it is another user's.
        borrowing func foreignOwner() -> (user: uid_t, group: gid_t)? {
            var status = stat()
            guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_uid != geteuid()
            else { return nil }
            return (status.st_uid, status.st_gid)
        }

        /// Takes a name away; a disk that fails once is asked once more.
        borrowing func remove(_ name: String) -> Bool {
            for _ in 0..<2 {
                if unsafe unlinkat(folder.number, name, 0) == 0 || errno == ENOENT { return true }
            }
            return false
        }
    }

    /// A temporary file that is open and ours alone. Whoever has it removes its name or gives it
    /// away, and then admits the signals that were held before it was made.
    private struct Temporary: ~Copyable {
        let file: Descriptor
        let name: String
        let signals: SignalMask

        init(for target: borrowing Target) throws(FileFailure) {
            // Names may have 255 bytes; what collides for being cut short waits for its turn.
            let shown = String(decoding: target.name.utf8.prefix(160), as: UTF8.self)
            let name = ".\(shown).signet-\(geteuid())"
            var backoff = Backoff(Backoff.defaultTimeout)
            while true {
                let signals = SignalMask()
                do throws(FileFailure) {
                    if let file = try Self.make(name + ".tmp", for: target) {
                        self.init(file: file, name: name + ".tmp", signals: signals)
                        return
                    }
                } catch {
                    signals.admit()
                    throw error
                }
                signals.admit()
                switch try StaleFile.remove(name + ".tmp", of: target) {
                case .isGone: continue
                case .isHeld:
                    guard backoff.sleepIfTimeRemains() else { throw FileFailure.busy(target.path) }
                case .isForeign:
                    let free = "\(name)-\(try Self.suffix(target.path)).tmp"
                    let signals = SignalMask()
                    do throws(FileFailure) {
                        guard let file = try Self.make(free, for: target) else {
                            throw FileFailure(path: target.path, operation: "write", errno: EEXIST)
                        }
                        self.init(file: file, name: free, signals: signals)
                        return
                    } catch {
                        signals.admit()
                        throw error
                    }
                }
            }
        }

        private init(file: consuming Descriptor, name: String, signals: SignalMask) {
            self.file = file
            self.name = name
            self.signals = signals
        }

        /// Makes the file and locks it; nil where the name is taken, or was while it was not locked.
        private static func make(
            _ name: String, for target: borrowing Target
        ) throws(FileFailure) -> Descriptor? {
            let file: Descriptor
            do throws(FileFailure) {
                file = try Descriptor(
                    at: target.folder.number, name,
                    flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, shown: target.path)
            } catch {
                if error.kind == .alreadyExists { return nil }
                throw FileFailure(
                    path: target.path, operation: "write", reason: error.reason, kind: error.kind)
            }
            do throws(FileFailure) {
                switch try file.tryLock() {
                case .unsupported: return file
                case .heldByAnother: return nil
                case .taken:
                    // A writer may have taken it for a dead one's before it was locked.
                    let named = FileIdentity.named(name, in: target.folder)
                    guard try file.identity() == named else { return nil }
                    return file
                }
            } catch {
                _ = target.remove(name)
                throw error
            }
        }

        private static func suffix(_ path: String) throws(FileFailure) -> String {
            do throws(CryptoFailure) {
                return Base64.encode(try RandomBytes.bytes(12), as: .url)
            } catch {
                throw FileFailure(
                    path: path, operation: "write", reason: error.reason, kind: .system)
            }
        }
    }
}

/// A temporary file that is already there when it is to be made.
private enum StaleFile {
    enum Outcome {
        case isGone
        /// Its writer lives.
        case isHeld
        /// Not ours to remove.
        case isForeign
    }

    /// Removes it where its writer is dead.
    static func remove(
        _ name: String, of target: borrowing AtomicWrite.Target
    ) throws(FileFailure) -> Outcome {
        let file: Descriptor
        do throws(FileFailure) {
            file = try Descriptor(
                at: target.folder.number, name,
                flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: 0, shown: target.path)
        } catch {
            return error.kind == .notFound ? .isGone : .isForeign
        }
        let status = try file.status()
        let identity = FileIdentity(status)
        // Killed between a second name and one less: the name is free to go, the file stays.
        let isTarget = FileIdentity.named(target.name, in: target.folder) == identity
        let owners = [geteuid(), target.foreignOwner()?.user ?? geteuid()]
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 == 0 || isTarget,
            owners.contains(status.st_uid), status.st_nlink <= 1 || isTarget
        else { return .isForeign }
        if !isTarget {
            switch try file.tryLock() {
            case .taken: break
            case .heldByAnother: return .isHeld
            case .unsupported: return .isForeign
            }
        }
        guard FileIdentity.named(name, in: target.folder) == identity else { return .isGone }
        return target.remove(name) ? .isGone : .isForeign
    }
}
