#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What a command reads: a file, a pipe, or standard input.
package enum InputFile {
    /// The most bytes of an input for which nothing else is said: 64 MiB.
    package static let usualLimit = 64 << 20

    /// Reads all of it.
    ///
    /// - Parameters:
    ///   - path: nil or `-` is standard input. Folders and block devices are refused; a pipe without
    ///     a writer is empty.
    ///   - limit: The most bytes that are taken.
    /// - Returns: Its bytes.
    /// - Throws: `FileFailure`; of kind `tooLarge` as soon as there are more bytes than `limit`.
    package static func read(
        _ path: String?, limit: Int = usualLimit
    ) throws(FileFailure) -> [UInt8] {
        guard let path, path != "-" else {
            let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else {
                throw FileFailure(path: "standard input", operation: "read", errno: errno)
            }
            return try Descriptor(adopting: copy, path: "standard input").readAll(limit: limit)
        }
        let file = try Descriptor(opening: path, O_RDONLY | O_NOCTTY)
        let status = try file.status()
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            throw FileFailure(
                path: path, operation: "read", reason: "it is a folder", kind: .wrongKind)
        case S_IFBLK, S_IFSOCK:
            throw FileFailure(
                path: path, operation: "read", reason: "it is no file", kind: .wrongKind)
        case S_IFREG:
            guard status.st_size <= limit else {
                throw FileFailure(
                    path: path, operation: "read",
                    reason: "it holds \(status.st_size) bytes, at most \(limit) are taken",
                    kind: .tooLarge)
            }
        default:
            // Only the opening must not wait; the bytes of a slow writer are worth waiting for.
            let flags = fcntl(file.number, F_GETFL)
            if flags >= 0 { _ = fcntl(file.number, F_SETFL, flags & ~O_NONBLOCK) }
        }
        return try file.readAll(limit: limit, expected: Int(status.st_size))
    }
}
