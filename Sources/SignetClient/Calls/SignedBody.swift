import SignetSigning
import SignetTransport

extension HTTPRequestBody {
    /// Reads all of the body, to know its digests.
    ///
    /// - Throws: The body's own `ClientError`, or `body-not-replayable` if the body can't be read
    ///   again to send it.
    func digests(_ algorithms: Set<BodyDigest>) async throws(ClientError) -> BodyDigests {
        guard isReplayable else {
            throw ClientError(
                .bodyNotReplayable,
                "a body whose digest is signed is read twice: expected bytes, a file, or a stream that"
                    + " can be read again")
        }
        do {
            var digester = try BodyDigester(algorithms.union([.sha256]))
            var reader = try makeReader()
            while let chunk = try await reader.next() { try digester.update(chunk) }
            return try digester.finish()
        } catch let error as TransportError {
            throw ClientError(error)
        } catch let error as SigningError {
            throw ClientError(error)
        } catch {
            throw ClientError(.bodyFailed, "it cannot be read")
        }
    }

    /// The same body, whose last chunk is sent only if the whole body is what was signed.
    func held(to digests: BodyDigests) -> HTTPRequestBody {
        converted(length: digests.byteCount) { body throws(TransportError) in
            DigestedReader(reader: try body.makeReader(), digests: digests)
        }
    }
}

private final class DigestedReader: RequestBodyReader {
    private var reader: HTTPRequestBody.Reader
    private let digests: BodyDigests
    private var digester: BodyDigester?
    private var last: [UInt8]?
    private var isEnded = false

    init(reader: HTTPRequestBody.Reader, digests: BodyDigests) {
        self.reader = reader
        self.digests = digests
    }

    func next() async throws -> [UInt8]? {
        if isEnded { return nil }
        if digester == nil { digester = try BodyDigester([.sha256]) }
        while let chunk = try await reader.next() {
            try digester?.update(chunk)
            if let last {
                self.last = chunk
                return last
            }
            last = chunk
        }
        isEnded = true
        let sent = try digester.take()?.finish()
        guard sent?.byteCount == digests.byteCount, sent?[.sha256] == digests[.sha256] else {
            throw TransportError(
                .bodyChanged,
                "the request's body changed after it was signed")
        }
        return last
    }
}
