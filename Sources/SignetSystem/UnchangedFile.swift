import Glibc

/// A file that is read in pieces and must not change until it has been read, or a pipe, which is
/// read once.
package final class UnchangedFile: Sendable {
    /// The number of bytes, or nil for a pipe and standard input, which have no fixed size.
    package let size: Int64?
    private let file: Descriptor
    private let stamp: [Int]

    /// Returns the size and the modification time, which change with the contents.
    private static func stamp(_ status: stat) -> [Int] {
        [Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// Opens a file.
    ///
    /// - Parameter path: The file; nil or `-` is standard input. Folders and block devices are
    ///   refused.
    /// - Throws: `FileFailure`.
    package init(_ path: String?) throws(FileFailure) {
        let file = try InputFile.open(path)
        let status = try file.status()
        let isFile = status.st_mode & S_IFMT == S_IFREG && path != nil && path != "-"
        self.size = isFile ? Int64(status.st_size) : nil
        self.stamp = Self.stamp(status)
        self.file = file
    }

    /// Reads bytes of a file.
    ///
    /// - Returns: `count` bytes from `offset` on, fewer at the end.
    /// - Throws: `FileFailure`.
    package func read(at offset: Int64, count: Int) throws(FileFailure) -> [UInt8] {
        try file.read(at: offset, count: count)
    }

    /// Waits for the next bytes of a pipe and reads them.
    ///
    /// - Returns: At most `count` bytes, none at the end.
    /// - Throws: `FileFailure`.
    package func readNext(count: Int) throws(FileFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = try file.read(into: &bytes)
        bytes.removeLast(count - taken)
        return bytes
    }

    /// Checks that the file's size and modification time are the same as when it was opened.
    ///
    /// - Throws: `FileFailure` of kind `busy` if they are not.
    package func requireUnchanged() throws(FileFailure) {
        guard Self.stamp(try file.status()) == stamp else {
            throw FileFailure(
                path: file.path, operation: "read",
                reason: "it changed while it was being read", kind: .busy)
        }
    }
}
