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
        HTTPRequestBody(DigestedBody(body: self, digests: digests)).withTrailers(of: self)
    }
}

private struct DigestedBody: RequestBodySource {
    let body: HTTPRequestBody
    let digests: BodyDigests

    var length: Int64? { digests.byteCount }
    var isReplayable: Bool { body.isReplayable }

    func makeReader() throws(TransportError) -> any RequestBodyReader {
        DigestedReader(reader: try body.makeReader(), digests: digests)
    }
}

private struct DigestedReader: RequestBodyReader {
    var reader: HTTPRequestBody.Reader
    let digests: BodyDigests
    let digester = DigesterBox()
    var last: [UInt8]?
    var isEnded = false

    mutating func next() async throws -> [UInt8]? {
        if isEnded { return nil }
        while let chunk = try await reader.next() {
            try digester.update(chunk)
            if let last {
                self.last = chunk
                return last
            }
            last = chunk
        }
        isEnded = true
        let sent = try digester.finish()
        guard sent.byteCount == digests.byteCount, sent[.sha256] == digests[.sha256] else {
            throw TransportError(
                .bodyChanged,
                "the request's body changed after it was signed")
        }
        return last
    }
}

/// Holds a noncopyable value in a class, so that a copyable reader can own it.
private final class DigesterBox {
    private var digester: BodyDigester?

    func update(_ chunk: [UInt8]) throws(SigningError) {
        if digester == nil { digester = try BodyDigester([.sha256]) }
        try digester?.update(chunk)
    }

    func finish() throws(SigningError) -> BodyDigests {
        if digester == nil { digester = try BodyDigester([.sha256]) }
        guard let digester = digester.take() else {
            throw SigningError(.cryptoFailed, "the digest is finished")
        }
        return try digester.finish()
    }
}
