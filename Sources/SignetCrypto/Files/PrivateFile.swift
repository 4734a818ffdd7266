#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Files that hold secrets: read only where nobody else can, written whole or not at all.
package enum PrivateFile {
    /// Reads a file; folders, devices and pipes are refused without waiting for them.
    ///
    /// - Parameters:
    ///   - path: Links are followed; what counts is the file that was opened.
    ///   - limit: The most bytes it may have.
    ///   - requirePrivate: Whether a bit for group or others in its mode refuses it.
    /// - Returns: Its bytes.
    /// - Throws: `FileFailure`; of kind `permissions` the message holds `chmod 600` and the path.
    package static func read(
        _ path: String, limit: Int, requirePrivate: Bool
    ) throws(FileFailure) -> [UInt8] {
        let (bytes, refusal) = try readAllowingUnsafePermissions(path, limit: limit) { refusal in
            refusal == nil || !requirePrivate
        }
        if requirePrivate, let refusal { throw refusal }
        return bytes
    }

    /// Reads a file and tells why it may not hold a secret.
    ///
    /// What counts is the file that was opened, so that a link, or a swap between the question and
    /// the reading, changes nothing. It must be the process's effective user's or root's, and have
    /// no bit for group or others. The folder's mode is not asked for: whoever can put another file
    /// there cannot make it ours, and the folders of container secrets are often open to all.
    ///
    /// - Parameters:
    ///   - path: Links are followed.
    ///   - limit: The most bytes it may have.
    ///   - tolerated: Bits that do no harm: systemd shows the mask of an access list as the group's.
    ///   - wanted: Asked before a byte is read; on false the bytes stay empty.
    /// - Returns: Its bytes, and the refusal (of kind `permissions`) of a file that is not private.
    /// - Throws: `FileFailure`.
    static func readAllowingUnsafePermissions(
        _ path: String, limit: Int, tolerating tolerated: UInt32 = 0,
        wanted: (FileFailure?) -> Bool = { _ in true }
    ) throws(FileFailure) -> (bytes: [UInt8], refusal: FileFailure?) {
        let file = try Descriptor(opening: path, O_RDONLY | O_NOCTTY)
        let status = try file.status()
        try requireRegular(status, path, operation: "read")
        let refusal = refusal(
            of: path, owner: status.st_uid, mode: status.st_mode & ~tolerated, user: geteuid())
        guard wanted(refusal) else { return ([], refusal) }
        guard status.st_size <= limit else {
            throw FileFailure(
                path: path, operation: "read",
                reason: "it holds \(status.st_size) bytes, at most \(limit) are taken",
                kind: .tooLarge)
        }
        return (try file.readAll(limit: limit, expected: Int(status.st_size)), refusal)
    }

    /// Why a file of that owner and mode may not hold a secret of a user's, or nil.
    static func refusal(
        of path: String, owner: uid_t, mode: mode_t, user: uid_t
    ) -> FileFailure? {
        guard owner == user || owner == 0 else {
            return FileFailure(
                path: path, operation: "use",
                reason: "it is user \(owner)'s, wanted \(user)'s, who runs this, or root's; "
                    + "if it is yours: chown \(user) \(shellWord(path))",
                kind: .permissions)
        }
        guard mode & 0o077 != 0 else { return nil }
        return FileFailure(
            path: path, operation: "use",
            reason: "others than its owner have rights on it; chmod 600 \(shellWord(path))",
            kind: .permissions)
    }

    /// A path as a person can paste it into a shell: quoted where it is no plain word.
    private static func shellWord(_ path: String) -> String {
        let isPlain = path.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || "/._-+:@%,=".unicodeScalars.contains($0)
        }
        if isPlain && !path.isEmpty && !path.hasPrefix("-") { return path }
        let quoted = printable(path).split(separator: "'", omittingEmptySubsequences: false)
        return "'" + quoted.joined(separator: "'\\''") + "'"
    }

    /// Puts `bytes` in the place of the file at `path`, or makes it, in one step.
    ///
    /// The bytes are written beside it, brought to the disk and then renamed; so a reader, and a
    /// machine that loses power, sees the old file or the new one. An error leaves the old file and
    /// nothing beside it. What an earlier run that was killed left behind is removed.
    ///
    /// The mode is `mode`, however wide the old file's was; another user's file stays theirs, or is
    /// refused; of a file with several names (hard links) this one alone is replaced.
    ///
    /// Nothing keeps two processes from losing each other's changes: `FileLock` does.
    package static func writeAtomically(
        _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600
    ) throws(FileFailure) {
        _ = try AtomicWrite.put(bytes.span, at: try resolved(path), mode: mode, .overAnything)
    }

    /// Makes a file that was not there; with the same steps, so that it is whole or absent.
    ///
    /// - Throws: `FileFailure` of kind `alreadyExists` where anything is at `path`, a broken link
    ///   too.
    package static func createNew(
        _ bytes: [UInt8], at path: String, mode: UInt32 = 0o600
    ) throws(FileFailure) {
        _ = try AtomicWrite.put(bytes.span, at: path, mode: mode, .anew)
    }

    /// The file that `path` leads to when it is a link; a link is kept and its target replaced.
    static func resolved(_ path: String) throws(FileFailure) -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            // A broken link would be replaced by a file in the wrong place.
            guard unsafe lstat(path, &status) != 0 else {
                throw FileFailure(path: path, operation: "write", errno: ENOENT)
            }
            return path
        }
        try requireRegular(status, path, operation: "write")
        guard let real = unsafe realpath(path, nil) else {
            throw FileFailure(path: path, operation: "write", errno: errno)
        }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// A path as its folder, `.` where it names none, and the name after its last slash.
    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = String(path[...slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    static func requireRegular(
        _ status: stat, _ path: String, operation: String
    ) throws(FileFailure) {
        let found: String
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: found = "it is a folder"
        case S_IFIFO: found = "it is a pipe, wanted a file (fd:N reads a pipe)"
        case S_IFSOCK: found = "it is a socket, wanted a file"
        default: found = "it is a device, wanted a file"
        }
        throw FileFailure(path: path, operation: operation, reason: found, kind: .wrongKind)
    }
}
