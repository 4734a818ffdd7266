#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that is read in pieces, from anywhere in it, and must stay what it was when it was opened; or a
/// pipe, which is read once.
package final class UnchangedFile: Sendable {
    /// Its bytes; nil for a pipe and for standard input, which have no length and no beginning.
    package let size: Int64?
    private let file: Descriptor
    private let stamp: Stamp

    private struct Stamp: Sendable, Hashable {
        let size: Int64
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            size = Int64(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    /// Opens a file.
    ///
    /// - Parameter path: nil or `-` is standard input. Folders and block devices are refused.
    /// - Throws: `FileFailure`.
    package init(_ path: String?) throws(FileFailure) {
        let file = try InputFile.open(path)
        let status = try file.status()
        let isFile = status.st_mode & S_IFMT == S_IFREG && path != nil && path != "-"
        self.size = isFile ? Int64(status.st_size) : nil
        self.stamp = Stamp(status)
        self.file = file
    }

    /// Reads bytes of a file.
    ///
    /// - Returns: `count` bytes from `offset` on, less at the end.
    /// - Throws: `FileFailure`.
    package func read(at offset: Int64, count: Int) throws(FileFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var taken = 0
        while taken < count {
            let more = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe pread(
                    file.number, bytes.baseAddress! + taken, count - taken, off_t(offset) + taken)
            }
            if more > 0 { taken += more } else if more == 0 { break }
            guard more >= 0 || errno == EINTR else {
                throw FileFailure(path: file.path, operation: "read", errno: errno)
            }
        }
        bytes.removeLast(count - taken)
        return bytes
    }

    /// Reads the next bytes of a pipe, waiting for them.
    ///
    /// - Returns: At most `count` bytes; none at the end.
    /// - Throws: `FileFailure`.
    package func readNext(count: Int) throws(FileFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = try file.read(into: &bytes)
        bytes.removeLast(count - taken)
        return bytes
    }

    /// Demands that the file has its size still and was not written to since it was opened.
    ///
    /// - Throws: `FileFailure` of kind `busy`.
    package func requireUnchanged() throws(FileFailure) {
        guard Stamp(try file.status()) == stamp else {
            throw FileFailure(
                path: file.path, operation: "read",
                reason: "it changed while it was read", kind: .busy)
        }
    }
}
