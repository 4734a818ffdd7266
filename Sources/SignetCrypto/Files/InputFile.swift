#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What a command reads: a file, a pipe, or standard input.
package enum InputFile {
    /// The most bytes of an input for which nothing else is said: 64 MiB.
    package static let defaultLimit = 64 << 20

    /// Reads all of it.
    ///
    /// - Parameters:
    ///   - path: nil or `-` is standard input. Folders and block devices are refused; a pipe without
    ///     a writer is empty.
    ///   - limit: The most bytes that are taken.
    /// - Returns: Its bytes.
    /// - Throws: `FileFailure`; of kind `tooLarge` as soon as there are more bytes than `limit`.
    package static func read(
        _ path: String?, limit: Int = defaultLimit
    ) throws(FileFailure) -> [UInt8] {
        let file = try open(path)
        let status = try file.status()
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        guard !isRegular || path == nil || path == "-" || status.st_size <= limit else {
            throw FileFailure(
                path: file.path, operation: "read",
                reason: "it holds \(status.st_size) bytes, at most \(limit) are taken",
                kind: .tooLarge)
        }
        return try file.readAll(limit: limit, expected: isRegular ? Int(status.st_size) : 0)
    }

    /// The folder from which relative paths in a file count: the file's own, or the current one.
    package static func folder(of path: String?) -> String {
        guard let path, path != "-" else { return "." }
        return PrivateFile.split(path).folder
    }

    /// Opens an input.
    ///
    /// - Parameter path: nil or `-` is standard input. Folders and block devices are refused; a pipe
    ///   without a writer is empty.
    /// - Throws: `FileFailure`.
    static func open(_ path: String?) throws(FileFailure) -> Descriptor {
        guard let path, path != "-" else {
            let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else {
                throw FileFailure(path: "standard input", operation: "read", errno: errno)
            }
            return Descriptor(adopting: copy, path: "standard input")
        }
        let file = try Descriptor(opening: path, O_RDONLY | O_NOCTTY)
        switch try file.status().st_mode & S_IFMT {
        case S_IFDIR:
            throw FileFailure(
                path: path, operation: "read", reason: "it is a folder", kind: .wrongKind)
        case S_IFBLK, S_IFSOCK:
            throw FileFailure(
                path: path, operation: "read", reason: "it is no file", kind: .wrongKind)
        case S_IFREG: break
        default:
            // Only the opening must not wait; the bytes of a slow writer are worth waiting for.
            let flags = fcntl(file.number, F_GETFL)
            if flags >= 0 { _ = fcntl(file.number, F_SETFL, flags & ~O_NONBLOCK) }
        }
        return file
    }
}
