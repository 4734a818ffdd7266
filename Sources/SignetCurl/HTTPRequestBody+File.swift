import SignetSystem
public import SignetTransport

extension HTTPRequestBody {
    /// Creates a body of a file's bytes, read in pieces of 64 KiB.
    ///
    /// The file is opened now and only once, so a file that replaces it later isn't sent. The body
    /// has a known length and can be sent again. If the file's size or modification time has
    /// changed at the end of a reading, the call ends with `body-changed` and the last piece isn't
    /// sent.
    ///
    /// - Parameter path: A path; `nil` or `-` is standard input. Standard input and pipes can be
    ///   read only once and have no known length.
    /// - Throws: `TransportError` with code `body-failed` if the file can't be opened.
    public static func file(_ path: String?) throws(TransportError) -> HTTPRequestBody {
        do throws(FileFailure) {
            let file = try UnchangedFile(path)
            guard file.size == nil else { return HTTPRequestBody(FileBody(file: file)) }
            return .stream(Pipe(file: file))
        } catch {
            throw TransportError(.bodyFailed, error.message)
        }
    }
}

private let pieceSize = 65_536

private struct FileBody: RequestBodySource {
    let file: UnchangedFile

    var length: Int64? { file.size }
    var isReplayable: Bool { true }

    func makeReader() -> any RequestBodyReader {
        FileReader(file: file, size: file.size ?? 0)
    }
}

private struct FileReader: RequestBodyReader {
    let file: UnchangedFile
    let size: Int64
    var offset: Int64 = 0

    mutating func next() async throws -> [UInt8]? {
        if offset >= size { return nil }
        do throws(FileFailure) {
            let wanted = Int(min(Int64(pieceSize), size - offset))
            let piece = try file.read(at: offset, count: wanted)
            offset += Int64(piece.count)
            // Before the last piece is returned, so that a changed file is never sent completely.
            if piece.count < wanted || offset == size { try file.requireUnchanged() }
            return piece
        } catch {
            throw TransportError(error.kind == .busy ? .bodyChanged : .bodyFailed, error.message)
        }
    }
}

private struct Pipe: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let file: UnchangedFile

    func makeAsyncIterator() -> Pipe { self }

    mutating func next() async throws(TransportError) -> [UInt8]? {
        do throws(FileFailure) {
            let piece = try file.readNext(count: pieceSize)
            return piece.isEmpty ? nil : piece
        } catch {
            throw TransportError(.bodyFailed, error.message)
        }
    }
}
