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
        let (bytes, isPrivate) = try readTellingMode(path, limit: limit) { isPrivate in
            isPrivate || !requirePrivate
        }
        guard isPrivate || !requirePrivate else { throw permissions(path) }
        return bytes
    }

    /// Reads a file and tells whether nobody but its owner has a bit in its mode.
    ///
    /// - Parameters:
    ///   - path: Links are followed.
    ///   - limit: The most bytes it may have.
    ///   - tolerated: Bits that do no harm: systemd shows the mask of an access list as the group's.
    ///   - wanted: Asked before a byte is read; on false the bytes stay empty.
    /// - Returns: Its bytes, and whether the mode is private.
    /// - Throws: `FileFailure`.
    static func readTellingMode(
        _ path: String, limit: Int, tolerating tolerated: UInt32 = 0,
        wanted: (Bool) -> Bool = { _ in true }
    ) throws(FileFailure) -> (bytes: [UInt8], isPrivate: Bool) {
        let file = try Descriptor(opening: path, O_RDONLY | O_NOCTTY)
        let status = try file.status()
        try demandRegular(status, path, operation: "read")
        let isPrivate = status.st_mode & 0o077 & ~tolerated == 0
        guard wanted(isPrivate) else { return ([], isPrivate) }
        guard status.st_size <= limit else {
            throw FileFailure(
                path: path, operation: "read",
                reason: "it holds \(status.st_size) bytes, at most \(limit) are taken",
                kind: .tooLarge)
        }
        return (try file.readAll(limit: limit, expected: Int(status.st_size)), isPrivate)
    }

    /// The failure of a file that others may read.
    static func permissions(_ path: String) -> FileFailure {
        FileFailure(
            path: path, operation: "use",
            reason: "others than its owner have rights on it; chmod 600 \(printable(path))",
            kind: .permissions)
    }

    /// Puts `bytes` in the place of the file at `path`, or makes it, in one step.
    ///
    /// The bytes are written beside it under a name nobody can guess, brought to the disk and then
    /// renamed; so a reader, and a machine that loses power, sees the old file or the new one. An
    /// error leaves the old file and nothing beside it. What an earlier run that was killed left
    /// behind is never in the way.
    package static func writeAtomically(
        _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600
    ) throws(FileFailure) {
        let path = try resolved(path)
        let temporary = try TemporaryFile(beside: path, bytes.span, mode: mode)
        guard
            unsafe renameat(
                temporary.folder.number, temporary.name, temporary.folder.number, temporary.target)
                == 0
        else { throw FileFailure(path: path, operation: "write", errno: errno) }
        try temporary.folder.synchronize()
    }

    /// Makes a file that was not there; with the same steps, so that it is whole or absent.
    ///
    /// - Throws: `FileFailure` of kind `alreadyExists` where anything is at `path`, a broken link
    ///   too.
    package static func createNew(
        _ bytes: [UInt8], _ path: String, mode: UInt32 = 0o600
    ) throws(FileFailure) {
        let temporary = try TemporaryFile(beside: path, bytes.span, mode: mode)
        if unsafe linkat(
            temporary.folder.number, temporary.name, temporary.folder.number, temporary.target, 0)
            != 0
        {
            guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS else {
                throw FileFailure(path: path, operation: "create", errno: errno)
            }
            // A file system without hard links: take the name first, then replace what we put there.
            _ = try Descriptor(
                at: temporary.folder.number, temporary.target,
                flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, shown: path)
            guard
                unsafe renameat(
                    temporary.folder.number, temporary.name, temporary.folder.number,
                    temporary.target) == 0
            else { throw FileFailure(path: path, operation: "create", errno: errno) }
        }
        try temporary.folder.synchronize()
    }

    /// The file that `path` leads to when it is a link; a link is kept and its target replaced.
    private static func resolved(_ path: String) throws(FileFailure) -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            // A broken link would be replaced by a file in the wrong place.
            guard unsafe lstat(path, &status) != 0 else {
                throw FileFailure(path: path, operation: "write", errno: ENOENT)
            }
            return path
        }
        try demandRegular(status, path, operation: "write")
        guard let real = unsafe realpath(path, nil) else {
            throw FileFailure(path: path, operation: "write", errno: errno)
        }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The folder of the file that `path` leads to.
    static func folder(of path: String) throws(FileFailure) -> String {
        TemporaryFile.split(try resolved(path)).folder
    }

    private static func demandRegular(
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

/// A file beside the one that is to come, removed unless it is kept.
private struct TemporaryFile: ~Copyable {
    let folder: Descriptor
    let name: String
    let target: String

    init(beside path: String, _ bytes: Span<UInt8>, mode: UInt32) throws(FileFailure) {
        let (folderPath, target) = Self.split(path)
        guard !target.isEmpty, target != ".", target != ".." else {
            throw FileFailure(
                path: path, operation: "write", reason: "it names no file", kind: .wrongKind)
        }
        let folder: Descriptor
        do throws(FileFailure) {
            folder = try Descriptor(opening: folderPath, O_RDONLY | O_DIRECTORY)
        } catch {
            throw FileFailure(
                path: path, operation: "write", reason: error.reason, kind: error.kind)
        }
        let name: String
        do throws(CryptoFailure) {
            let suffix = try RandomBytes.bytes(12)
            name = ".signet-\(Base64.encode(suffix, .url)).tmp"
        } catch {
            throw FileFailure(
                path: path, operation: "write", reason: error.reason, kind: .system)
        }
        let file = try Descriptor(
            at: folder.number, name, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
            mode: mode & 0o600, shown: path)
        do throws(FileFailure) {
            // The process's mask may have taken bits away, and none was given too many.
            guard fchmod(file.number, mode) == 0 else {
                throw FileFailure(path: path, operation: "write", errno: errno)
            }
            try file.writeAll(bytes)
            try file.synchronize()
        } catch {
            _ = unsafe unlinkat(folder.number, name, 0)
            throw error
        }
        self.folder = folder
        self.name = name
        self.target = target
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = String(path[...slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    deinit { _ = unsafe unlinkat(folder.number, name, 0) }
}
