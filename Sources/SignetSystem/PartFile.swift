import Glibc

/// A file that is written over several runs of a program and gets its name when it is complete.
///
/// Until then it is in the target's folder as `.NAME.signet-UID.part`, with its owner's notes in
/// `….part.state`. It has mode 0600, and one process at a time locks it (`flock`) and appends to
/// it. A part that belongs to another user, is writable by others, is a link or has several names
/// is refused.
package struct PartFile: ~Copyable {
    private let target: AtomicWrite.Target
    private let name: String
    private let file: Descriptor
    private let statePath: String
    /// The number of bytes so far.
    package private(set) var size: Int64

    /// Opens or creates the part of a target.
    ///
    /// - Parameter path: The target. Links are followed.
    /// - Throws: `FileFailure`, of kind `busy` if another process has locked the part.
    package init(for path: String) throws(FileFailure) {
        let target = try AtomicWrite.Target(try PrivateFile.resolved(path))
        let name = target.temporaryName + ".part"
        let folder = PrivateFile.split(target.path).folder
        let partPath = folder == "." ? name : folder + name
        // Retries if the part got its target's name after it was opened and before it was locked.
        for _ in 0..<100 {
            let file = try Descriptor(
                named: name, in: target.folder.number,
                flags: O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                mode: 0o600, shownAs: partPath)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                status.st_mode & 0o022 == 0, status.st_nlink <= 1
            else {
                throw FileFailure(
                    path: partPath, operation: "use",
                    reason:
                        "it is not a private file of this user and cannot be continued;"
                        + " remove it", kind: .permissions)
            }
            guard try file.lockIfFree() else { throw FileFailure.busy(path) }
            guard try file.identity() == FileIdentity.named(name, in: target.folder) else {
                continue
            }
            // A run that was killed just before the rename has already set the target's mode.
            guard fchmod(file.number, 0o600) == 0 else { throw file.failure("use") }
            self.size = Int64(try file.status().st_size)
            self.target = target
            self.name = name
            self.file = file
            self.statePath = partPath + ".state"
            return
        }
        throw FileFailure.busy(path)
    }

    /// Returns the notes about the bytes so far, or nil if they are missing.
    package func state() -> [UInt8]? {
        try? PrivateFile.read(statePath, limit: 65_536, requirePrivate: true)
    }

    /// Discards the bytes and writes notes about the next ones.
    ///
    /// The disk has the empty file before it has the notes, so that the notes never describe old
    /// bytes after a power failure.
    package mutating func restart(_ state: [UInt8]) throws(FileFailure) {
        try truncate(to: 0)
        try file.synchronize()
        try PrivateFile.writeAtomically(state, to: statePath)
    }

    /// Truncates the file.
    package mutating func truncate(to size: Int64) throws(FileFailure) {
        guard ftruncate(file.number, off_t(size)) == 0 else { throw target.failure("write") }
        self.size = size
    }

    /// Appends bytes.
    package mutating func append(_ bytes: [UInt8]) throws(FileFailure) {
        do throws(FileFailure) {
            try file.writeAll(bytes.span)
        } catch {
            throw error.causing("write", of: target.path)
        }
        size += Int64(bytes.count)
    }

    /// Waits until the disk has the bytes so far.
    package func synchronize() throws(FileFailure) { try file.synchronize() }

    /// Reads the bytes so far in pieces, until `receive` throws.
    ///
    /// - Throws: `FileFailure`, or the error that `receive` throws.
    package func read(_ receive: (Span<UInt8>) throws -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        guard lseek(file.number, 0, SEEK_SET) == 0 else { throw target.failure("read") }
        while true {
            let count = try file.read(into: &buffer)
            if count == 0 { return }
            try receive(buffer.span.extracting(first: count))
        }
    }

    /// Gives the file its target's name, and replaces any file that has it.
    ///
    /// - Parameter mode: The file's mode.
    /// - Throws: `FileFailure`.
    package consuming func finish(mode: UInt32) throws(FileFailure) {
        guard fchmod(file.number, mode_t(mode)) == 0 else { throw target.failure("write") }
        try file.synchronize()
        let folder = target.folder.number
        guard unsafe renameat(folder, name, folder, target.name) == 0 else {
            throw target.failure("write")
        }
        try target.folder.synchronize()
        _ = target.remove(name + ".state")
    }

    /// Removes the part and its notes.
    package consuming func discard() { remove() }

    private func remove() {
        _ = target.remove(name)
        _ = target.remove(name + ".state")
    }

    // Removes an empty part, unless it already has its target's name.
    deinit {
        // Unlocks explicitly: a child process that is starting still shares the open file and its
        // lock until it runs its program.
        defer { _ = flock(file.number, LOCK_UN) }
        guard size == 0, let identity = try? file.identity(),
            FileIdentity.named(name, in: target.folder) == identity
        else { return }
        remove()
    }
}
