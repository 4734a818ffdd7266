#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that comes in parts, over several runs of a program, and gets its name when it is whole.
///
/// It lies beside its target as `.NAME.signet-UID.part`, with what its owner noted of it in
/// `….part.state`; mode 0600, and locked (`flock`) by the one process that adds to it. A part that is
/// another user's, writable by others, a link or has other names is refused.
package struct PartFile: ~Copyable {
    private let target: AtomicWrite.Target
    private let name: String
    private let file: Descriptor
    private let statePath: String
    /// How many bytes are there.
    package private(set) var size: Int64

    /// Opens or makes the part of a target.
    ///
    /// - Parameter path: The target; links are followed.
    /// - Throws: `FileFailure`; of kind `busy` where another process has it.
    package init(for path: String) throws(FileFailure) {
        let target = try AtomicWrite.Target(try PrivateFile.resolved(path))
        let shown = String(decoding: target.name.utf8.prefix(160), as: UTF8.self)
        let name = ".\(shown).signet-\(geteuid()).part"
        let folder = PrivateFile.split(target.path).folder
        let partPath = folder == "." ? name : folder + name
        // A part that got its target's name between the opening and the lock is no part any more.
        for _ in 0..<100 {
            let file = try Descriptor(
                at: target.folder.number, name,
                flags: O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                mode: 0o600,
                shown: partPath)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                status.st_mode & 0o022 == 0, status.st_nlink <= 1
            else {
                throw FileFailure(
                    path: partPath, operation: "use",
                    reason:
                        "it is no private file of this user, so what it holds cannot be gone on from;"
                        + " remove it", kind: .permissions)
            }
            switch try file.tryLock() {
            case .heldByAnother: throw FileFailure.busy(path)
            case .unsupported:
                throw FileFailure(
                    path: partPath, operation: "lock",
                    reason:
                        "its file system has no locks (flock), so two processes could mix what they"
                        + " write", kind: .system)
            case .taken: break
            }
            guard try file.identity() == FileIdentity.named(name, in: target.folder) else {
                continue
            }
            // A run that was killed just before the part got its name had given it the file's mode.
            guard fchmod(file.number, 0o600) == 0 else {
                throw FileFailure(path: partPath, operation: "use", errno: errno)
            }
            self.size = Int64(try file.status().st_size)
            self.target = target
            self.name = name
            self.file = file
            self.statePath = partPath + ".state"
            return
        }
        throw FileFailure.busy(path)
    }

    /// What was noted of the bytes that are there; nil where nothing was.
    package func state() -> [UInt8]? {
        try? PrivateFile.read(statePath, limit: 65_536, requirePrivate: true)
    }

    /// Throws the bytes away, and notes what the next ones are.
    ///
    /// The emptiness is on the disk before the note is: a machine that loses power between the two never
    /// takes old bytes for new ones.
    package mutating func restart(_ state: [UInt8]) throws(FileFailure) {
        try shorten(to: 0)
        try file.synchronize()
        try PrivateFile.writeAtomically(state, to: statePath)
    }

    /// Takes bytes at the end away.
    package mutating func shorten(to size: Int64) throws(FileFailure) {
        guard ftruncate(file.number, off_t(size)) == 0 else {
            throw FileFailure(path: target.path, operation: "write", errno: errno)
        }
        self.size = size
    }

    /// Adds bytes at the end.
    package mutating func append(_ bytes: [UInt8]) throws(FileFailure) {
        do throws(FileFailure) {
            try file.writeAll(bytes.span)
        } catch {
            throw FileFailure(
                path: target.path, operation: "write", reason: error.reason, kind: error.kind)
        }
        size += Int64(bytes.count)
    }

    /// Brings what is there to the disk.
    package func synchronize() throws(FileFailure) { try file.synchronize() }

    /// Reads all of it, in pieces.
    package func read(_ receive: (Span<UInt8>) throws(FileFailure) -> Void) throws(FileFailure) {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        guard lseek(file.number, 0, SEEK_SET) == 0 else {
            throw FileFailure(path: target.path, operation: "read", errno: errno)
        }
        while true {
            let count = try file.read(into: &buffer)
            if count == 0 { return }
            try receive(buffer.span.extracting(first: count))
        }
    }

    /// Gives the file its name, in the place of what had it.
    ///
    /// - Parameter mode: The file's mode.
    /// - Throws: `FileFailure`.
    package consuming func finish(mode: UInt32) throws(FileFailure) {
        guard fchmod(file.number, mode_t(mode)) == 0 else {
            throw FileFailure(path: target.path, operation: "write", errno: errno)
        }
        try file.synchronize()
        let folder = target.folder.number
        guard unsafe renameat(folder, name, folder, target.name) == 0 else {
            throw FileFailure(path: target.path, operation: "write", errno: errno)
        }
        try target.folder.synchronize()
        _ = target.remove(name + ".state")
    }

    /// Removes the part and what was noted of it.
    package consuming func discard() { remove() }

    private func remove() {
        _ = target.remove(name)
        _ = target.remove(name + ".state")
    }

    // A part of nothing is worth nothing; one that has its target's name is no part any more.
    deinit {
        // A child process that is just being started has the open file too, until it runs its program,
        // and with it the lock: closing alone would leave it locked so long.
        defer { _ = flock(file.number, LOCK_UN) }
        guard size == 0, let identity = try? file.identity(),
            FileIdentity.named(name, in: target.folder) == identity
        else { return }
        remove()
    }
}
