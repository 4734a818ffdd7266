import Glibc
import SignetBase

/// Files with secrets: read only if no other user has access to them, and written atomically.
package enum PrivateFile {
    /// Reads a regular file. Refuses folders, devices and pipes without waiting for them.
    ///
    /// - Parameters:
    ///   - path: The file. Links are followed; the checks concern the opened file.
    ///   - limit: The maximum number of bytes.
    ///   - requirePrivate: Whether to refuse a file of another user, or one that others have access
    ///     to.
    /// - Throws: `FileFailure`. The message of the kind `permissions` contains the `chmod 600` or
    ///   `chown` command that fixes it.
    package static func read(
        _ path: String, limit: Int, requirePrivate: Bool
    ) throws(FileFailure) -> [UInt8] {
        let (bytes, refusal) = try readAllowingUnsafePermissions(path, limit: limit) { refusal in
            refusal == nil || !requirePrivate
        }
        if requirePrivate, let refusal { throw refusal }
        return bytes
    }

    /// Reads a file and returns a refusal if others have access to it.
    ///
    /// The checks concern the opened file, so that links and a replaced file don't matter. A
    /// private file belongs to the process's effective user or root, and its mode has no bits for
    /// group or others. The folder's mode isn't checked: another user can put a file there but not
    /// change its owner, and the folders of container secrets are often open to all.
    ///
    /// - Parameters:
    ///   - path: The file. Links are followed.
    ///   - limit: The maximum number of bytes.
    ///   - tolerated: Mode bits to ignore. On a credential of systemd, the bits of the group are
    ///     only the mask of an access list.
    ///   - shouldRead: Decides before a byte is read. If it returns false, the result has no bytes.
    /// - Returns: The bytes, and a refusal (of kind `permissions`) if the file is not private.
    /// - Throws: `FileFailure`.
    package static func readAllowingUnsafePermissions(
        _ path: String, limit: Int, tolerating tolerated: UInt32 = 0,
        shouldRead: (FileFailure?) -> Bool = { _ in true }
    ) throws(FileFailure) -> (bytes: [UInt8], refusal: FileFailure?) {
        let file = try Descriptor(opening: path, flags: O_RDONLY | O_NOCTTY)
        let status = try file.status()
        try requireRegular(status, path: path, operation: "read")
        let refusal = refusal(
            of: path, owner: status.st_uid, mode: status.st_mode & ~tolerated, user: geteuid())
        guard shouldRead(refusal) else { return ([], refusal) }
        guard status.st_size <= limit else {
            throw FileFailure(
                path: path, operation: "read",
                reason: "found \(status.st_size) bytes, expected at most \(limit)",
                kind: .tooLarge)
        }
        return (try file.readAll(limit: limit, expected: Int(status.st_size)), refusal)
    }

    /// Reads a file or pipe that the process inherited open, and returns a refusal if others have
    /// access to it. The descriptor stays open, so that no other file can get its number and be
    /// read by a second call.
    ///
    /// Any owner is accepted, because the program that opened the file chose it.
    ///
    /// - Parameters:
    ///   - number: The descriptor.
    ///   - limit: The maximum number of bytes.
    ///   - path: The file's name in errors.
    /// - Throws: `FileFailure` if it can't be read or has no bytes.
    package static func readInherited(
        _ number: Int32, limit: Int, shownAs path: String
    ) throws(FileFailure) -> (bytes: [UInt8], refusal: FileFailure?) {
        func failure(_ reason: String) -> FileFailure {
            FileFailure(path: path, operation: "read", reason: reason, kind: .system)
        }
        let file = try Descriptor(copying: number, path: path)
        let status = try file.status()
        guard status.st_mode & S_IFMT != S_IFDIR else { throw failure("it is a folder") }
        let bytes = try file.readAll(limit: limit)
        guard !bytes.isEmpty else { throw failure("it is empty; it can be read only once") }
        guard status.st_mode & S_IFMT == S_IFREG else { return (bytes, nil) }
        let refusal = refusal(
            of: path, owner: status.st_uid, mode: status.st_mode, user: status.st_uid)
        return (bytes, refusal)
    }

    /// Returns why a file with this owner and mode may not contain a secret of `user`, or nil.
    static func refusal(
        of path: String, owner: uid_t, mode: mode_t, user: uid_t
    ) -> FileFailure? {
        guard owner == user || owner == 0 else {
            return FileFailure(
                path: path, operation: "use",
                reason:
                    "found user \(owner)'s file, expected one of user \(user), who runs this, or "
                    + "of root; if it is yours: chown \(user) \(shellWord(path))",
                kind: .permissions)
        }
        guard mode & 0o077 != 0 else { return nil }
        return FileFailure(
            path: path, operation: "use",
            reason: "others than its owner have access to it; chmod 600 \(shellWord(path))",
            kind: .permissions)
    }

    /// Reads a regular file that no other user can have written: it belongs to the process's
    /// effective user or root, and its mode doesn't let others write, nor a group that isn't the
    /// process's own. The checks concern the opened file; links are followed.
    ///
    /// - Throws: `FileFailure`. The message of the kind `permissions` contains the `chmod` command
    ///   that fixes the mode.
    package static func readTrusted(
        _ path: String, limit: Int
    ) throws(FileFailure) -> [UInt8] {
        let file = try Descriptor(opening: path, flags: O_RDONLY | O_NOCTTY)
        let status = try file.status()
        try requireRegular(status, path: path, operation: "read")
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw FileFailure(
                path: path, operation: "use",
                reason: "found user \(status.st_uid)'s file, expected one of user \(geteuid()), "
                    + "who runs this, or of root",
                kind: .permissions)
        }
        let isOwnGroup = status.st_gid == getegid() && status.st_uid == geteuid()
        guard status.st_mode & (isOwnGroup ? 0o002 : 0o022) == 0 else {
            throw FileFailure(
                path: path, operation: "use",
                reason: "others than its owner may write it; chmod go-w \(shellWord(path))",
                kind: .permissions)
        }
        return try file.readAll(limit: limit, expected: Int(status.st_size))
    }

    /// Returns a path to paste into a shell, quoted if necessary.
    private static func shellWord(_ path: String) -> String {
        let isPlain = path.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || "/._-+:@%,=".unicodeScalars.contains($0)
        }
        if isPlain && !path.isEmpty && !path.startsWithBytes(of: "-") { return path }
        return ShellCommand.word(printable(path))
    }

    /// Creates or replaces a file atomically.
    ///
    /// The bytes are written to a temporary file in the same folder, which is renamed once the disk
    /// has it. A reader, and a machine after a power failure, sees either the old file or the new
    /// one. An error leaves the old file and no temporary one. A temporary file of a killed process
    /// is removed.
    ///
    /// The new file's mode is `mode`, independent of the old one's. Another user's file keeps its
    /// owner, or is refused. Other names (hard links) of the file keep the old content.
    ///
    /// Two processes can still overwrite each other's changes; `FileLock` prevents that.
    package static func writeAtomically(
        _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600
    ) throws(FileFailure) {
        _ = try AtomicWrite.write(
            bytes.span, to: try resolved(path), mode: mode, expecting: .anything)
    }

    /// Creates a file atomically, as `writeAtomically` does.
    ///
    /// - Throws: `FileFailure`, of kind `alreadyExists` if anything exists at `path`, even a broken
    ///   link.
    package static func createNew(
        _ bytes: [UInt8], at path: String, mode: UInt32 = 0o600
    ) throws(FileFailure) {
        _ = try AtomicWrite.write(bytes.span, to: path, mode: mode, expecting: .nothing)
    }

    /// Returns the path with links resolved, so that a link's target is replaced, not the link.
    static func resolved(_ path: String) throws(FileFailure) -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            // A broken link must not be replaced by a file.
            guard unsafe lstat(path, &status) != 0 else {
                throw FileFailure(path: path, operation: "write", errno: ENOENT)
            }
            return path
        }
        try requireRegular(status, path: path, operation: "write")
        guard let real = Folder.resolved(path) else {
            throw FileFailure(path: path, operation: "write", errno: errno)
        }
        return real
    }

    /// Splits a path at its last slash. Without one, the folder is `.`.
    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = String(path[...slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    static func requireRegular(
        _ status: stat, path: String, operation: String
    ) throws(FileFailure) {
        let found: String
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: found = "it is a folder, expected a file"
        case S_IFIFO: found = "it is a pipe, expected a file (fd:N reads a pipe)"
        case S_IFSOCK: found = "it is a socket, expected a file"
        default: found = "it is a device, expected a file"
        }
        throw FileFailure(path: path, operation: operation, reason: found, kind: .wrongKind)
    }
}
