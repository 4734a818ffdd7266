internal import SignetCrypto
public import SignetTransport

extension RequestBody {
    /// A body that is a file's bytes, read in pieces of 64 KiB.
    ///
    /// The file is opened here and once: another that takes its name later is not the one sent. It can be
    /// sent again, and its length is known; a file whose size or time of change is another one at the
    /// end of a reading ends the call with `body-changed`, and its last piece is not sent.
    ///
    /// - Parameter path: nil or `-` is standard input, which as any pipe is read once and has no length.
    /// - Throws: `TransportError` with `body-failed` where it cannot be opened.
    public static func file(_ path: String?) throws(TransportError) -> RequestBody {
        do throws(FileFailure) {
            let file = try UnchangedFile(path)
            guard file.size == nil else { return RequestBody(FileBody(file: file)) }
            return .stream(Pipe(file: file))
        } catch {
            throw TransportError(code: .bodyFailed, message: error.message)
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
            // Before the last piece is handed out.
            if piece.count < wanted || offset == size { try file.requireUnchanged() }
            return piece
        } catch {
            throw TransportError(
                code: error.kind == .busy ? .bodyChanged : .bodyFailed, message: error.message)
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
            throw TransportError(code: .bodyFailed, message: error.message)
        }
    }
}
