import Glibc

/// Reads a file, a pipe or standard input in chunks, into one reused buffer.
package struct ChunkReader: ~Copyable {
    private let file: Descriptor
    private var buffer: [UInt8]
    private var count = 0
    /// Whether the file can be read again.
    package let isRepeatable: Bool

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `-` is standard input. Folders and block devices are refused.
    ///   - capacity: The maximum number of bytes in a chunk.
    /// - Throws: `FileFailure`.
    package init(_ path: String?, capacity: Int = 65_536) throws(FileFailure) {
        let file = try InputFile.open(path)
        // Standard input may be a file that another program has partly read. Rewinding it would go
        // too far back.
        self.isRepeatable =
            try file.status().st_mode & S_IFMT == S_IFREG && lseek(file.number, 0, SEEK_CUR) == 0
        self.file = file
        self.buffer = [UInt8](repeating: 0, count: capacity)
    }

    /// The last chunk.
    package var chunk: Span<UInt8> {
        @_lifetime(borrow self) borrowing get { buffer.span.extracting(first: count) }
    }

    /// Reads the next chunk.
    ///
    /// - Returns: The number of bytes, 0 at the end.
    /// - Throws: `FileFailure`.
    package mutating func next() throws(FileFailure) -> Int {
        count = 0
        count = try file.read(into: &buffer)
        return count
    }

    /// Returns to the beginning.
    ///
    /// - Throws: `FileFailure`, for example for a pipe.
    package mutating func rewind() throws(FileFailure) {
        count = 0
        guard lseek(file.number, 0, SEEK_SET) == 0 else { throw file.failure("read again") }
    }
}
