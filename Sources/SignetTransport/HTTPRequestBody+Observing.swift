extension HTTPRequestBody {
    /// Returns a body of the given length, if it is known, whose chunks a reader makes of this
    /// one's. The trailers are this one's.
    package func converted(
        length: Int64?,
        by makeReader:
            @escaping @Sendable (HTTPRequestBody) throws(TransportError) -> any RequestBodyReader
    ) -> HTTPRequestBody {
        HTTPRequestBody(ConvertedBody(body: self, length: length, make: makeReader))
            .withTrailers(of: self)
    }

    /// Returns the same body, as a stream of pieces of at most 64 KiB.
    ///
    /// It calls `restarting` when an engine starts to read it, and `observer` with the size of each
    /// piece that the engine reads, in bytes.
    package func observed(
        restarting: @escaping @Sendable () -> Void, by observer: @escaping @Sendable (Int) -> Void
    ) -> HTTPRequestBody {
        converted(length: length) { body throws(TransportError) in
            restarting()
            return ObservedReader(reader: try body.makeReader(), observer: observer)
        }
    }

    /// Returns the same body in the same chunks.
    ///
    /// It calls `restarting` when an engine starts to read it, `observer` with each chunk that the
    /// engine reads, and `ending` when it has read the last one.
    package func tapped(
        restarting: @escaping @Sendable () -> Void,
        by observer: @escaping @Sendable ([UInt8]) -> Void,
        ending: @escaping @Sendable () -> Void
    ) -> HTTPRequestBody {
        converted(length: length) { body throws(TransportError) in
            restarting()
            return TappedReader(reader: try body.makeReader(), observer: observer, ending: ending)
        }
    }
}

private struct ConvertedBody: RequestBodySource {
    let body: HTTPRequestBody
    let length: Int64?
    let make: @Sendable (HTTPRequestBody) throws(TransportError) -> any RequestBodyReader

    var isReplayable: Bool { body.isReplayable }

    func makeReader() throws(TransportError) -> any RequestBodyReader { try make(body) }
}

private struct TappedReader: RequestBodyReader {
    var reader: HTTPRequestBody.Reader
    let observer: @Sendable ([UInt8]) -> Void
    let ending: @Sendable () -> Void

    mutating func next() async throws -> [UInt8]? {
        let chunk = try await reader.next()
        if let chunk { observer(chunk) } else { ending() }
        return chunk
    }
}

private struct ObservedReader: RequestBodyReader {
    private static let pieceSize = 65_536

    var reader: HTTPRequestBody.Reader
    let observer: @Sendable (Int) -> Void
    var rest: ArraySlice<UInt8> = []

    mutating func next() async throws -> [UInt8]? {
        if rest.isEmpty {
            guard let chunk = try await reader.next() else { return nil }
            rest = chunk[...]
        }
        let piece = Array(rest.prefix(Self.pieceSize))
        rest = rest.dropFirst(piece.count)
        observer(piece.count)
        return piece
    }
}
