import Glibc

/// The input of a command: a file, a pipe, or standard input.
package enum InputFile {
    /// The default maximum size of an input: 64 MiB.
    package static let defaultLimit = 64 << 20

    /// Reads the whole input.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `-` is standard input. Folders and block devices are refused. A
    ///     pipe without a writer is empty.
    ///   - limit: The maximum number of bytes.
    /// - Throws: `FileFailure`, of kind `tooLarge` if there are more than `limit` bytes.
    package static func read(
        _ path: String?, limit: Int = defaultLimit
    ) throws(FileFailure) -> [UInt8] {
        let file = try open(path)
        let status = try file.status()
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        guard !isRegular || path == nil || path == "-" || status.st_size <= limit else {
            throw FileFailure(
                path: file.path, operation: "read",
                reason: "found \(status.st_size) bytes, expected at most \(limit)",
                kind: .tooLarge)
        }
        return try file.readAll(limit: limit, expected: isRegular ? Int(status.st_size) : 0)
    }

    /// Returns the folder for relative paths in a file: the file's folder, or the current one for
    /// standard input.
    package static func folder(of path: String?) -> String {
        guard let path, path != "-" else { return "." }
        return PrivateFile.split(path).folder
    }

    /// Opens an input.
    ///
    /// - Parameter path: The file; nil or `-` is standard input. Folders and block devices are
    ///   refused. A pipe without a writer is empty.
    /// - Throws: `FileFailure`.
    static func open(_ path: String?) throws(FileFailure) -> Descriptor {
        guard let path, path != "-" else {
            return try Descriptor(copying: STDIN_FILENO, path: "standard input")
        }
        let file = try Descriptor(opening: path, flags: O_RDONLY | O_NOCTTY)
        switch try file.status().st_mode & S_IFMT {
        case S_IFDIR:
            throw FileFailure(
                path: path, operation: "read", reason: "it is a folder, expected a file",
                kind: .wrongKind)
        case S_IFBLK, S_IFSOCK:
            throw FileFailure(
                path: path, operation: "read",
                reason: "it is a block device or a socket, expected a file", kind: .wrongKind)
        case S_IFREG: break
        default:
            // Only opening must not wait for a writer; reading may.
            let flags = fcntl(file.number, F_GETFL)
            if flags >= 0 { _ = fcntl(file.number, F_SETFL, flags & ~O_NONBLOCK) }
        }
        return file
    }
}
