#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Reads a file, a pipe or standard input in pieces, into one buffer that is used again and again.
package struct ChunkReader: ~Copyable {
    private let file: Descriptor
    private var buffer: [UInt8]
    private var count = 0
    /// Whether the file can be read a second time.
    package let isRepeatable: Bool

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: nil or `-` is standard input. Folders and block devices are refused.
    ///   - capacity: The most bytes of a piece.
    /// - Throws: `FileFailure`.
    package init(_ path: String?, capacity: Int = 65_536) throws(FileFailure) {
        let file = try InputFile.open(path)
        // Standard input may be a file that another program read a part of: it begins there, once.
        self.isRepeatable =
            try file.status().st_mode & S_IFMT == S_IFREG && lseek(file.number, 0, SEEK_CUR) == 0
        self.file = file
        self.buffer = [UInt8](repeating: 0, count: capacity)
    }

    /// The piece that was read last.
    package var chunk: Span<UInt8> {
        @_lifetime(borrow self) borrowing get { buffer.span.extracting(first: count) }
    }

    /// Reads the next piece.
    ///
    /// - Returns: How many bytes it has; 0 at the end.
    /// - Throws: `FileFailure`.
    package mutating func next() throws(FileFailure) -> Int {
        count = 0
        count = try file.read(into: &buffer)
        return count
    }

    /// Goes back to the beginning.
    ///
    /// - Throws: `FileFailure`, also for what cannot be read twice.
    package mutating func rewind() throws(FileFailure) {
        count = 0
        guard lseek(file.number, 0, SEEK_SET) == 0 else {
            throw FileFailure(path: file.path, operation: "read again", errno: errno)
        }
    }
}
