#if Tool
import SignetBase
import SignetCrypto
import SignetSigning
import SignetSystem
import SignetTransport

/// A body in a file, which is read through one buffer.
struct BodyFile: ~Copyable {
    private var reader: ChunkReader
    private let path: String
    private var digests: BodyDigests?

    init(_ path: String) throws {
        self.reader = try ChunkReader(path)
        self.path = path
    }

    /// Whether it can be read again, which a pipe cannot.
    var isRepeatable: Bool { reader.isRepeatable }

    /// Reads the whole file, to compute its digests.
    mutating func digest(_ algorithms: Set<BodyDigest>) throws -> BodyDigests {
        var digester = try BodyDigester(algorithms)
        while try reader.next() > 0 { try digester.update(reader.chunk) }
        let digests = try digester.finish()
        self.digests = digests
        return digests
    }

    /// Reads all of it again and writes it out.
    ///
    /// - Throws: `ToolError` with `body-changed` if the file is no longer what was digested.
    mutating func write(to terminal: Terminal) throws {
        try reader.rewind()
        var digester = try BodyDigester([.sha256])
        while try reader.next() > 0 {
            try digester.update(reader.chunk)
            try terminal.write(reader.chunk)
        }
        let written = try digester.finish()
        guard let digests, written.byteCount == digests.byteCount,
            digests[.sha256] == nil || written[.sha256] == digests[.sha256]
        else {
            throw ToolError(
                .bodyChanged,
                "\(Terminal.printable(path)) changed while it was signed: don't use the output")
        }
    }

    /// Reads all of it into a verification.
    mutating func feed(_ stream: inout StreamedVerification) throws {
        while try reader.next() > 0 { try stream.update(reader.chunk) }
    }

    /// Goes back to the beginning, if that is possible.
    mutating func rewind() throws { try reader.rewind() }
}
#endif
