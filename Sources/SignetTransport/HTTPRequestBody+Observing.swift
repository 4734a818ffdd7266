extension HTTPRequestBody {
    /// Returns the same body, as a stream of pieces of at most 64 KiB.
    ///
    /// It calls `restarting` when an engine starts to read it, and `observer` with the size of each
    /// piece that the engine reads, in bytes.
    package func observed(
        restarting: @escaping @Sendable () -> Void, by observer: @escaping @Sendable (Int) -> Void
    ) -> HTTPRequestBody {
        HTTPRequestBody(ObservedBody(body: self, restarting: restarting, observer: observer))
            .withTrailers(of: self)
    }
}

extension HTTPRequestBody {
    /// Returns the same body in the same chunks.
    ///
    /// It calls `restarting` when an engine starts to read it, `observer` with each chunk that the
    /// engine reads, and `ending` when it has read the last one.
    package func tapped(
        restarting: @escaping @Sendable () -> Void,
        by observer: @escaping @Sendable ([UInt8]) -> Void,
        ending: @escaping @Sendable () -> Void
    ) -> HTTPRequestBody {
        HTTPRequestBody(
            TappedBody(body: self, restarting: restarting, observer: observer, ending: ending)
        ).withTrailers(of: self)
    }
}

private struct TappedBody: RequestBodySource {
    let body: HTTPRequestBody
    let restarting: @Sendable () -> Void
    let observer: @Sendable ([UInt8]) -> Void
    let ending: @Sendable () -> Void

    var length: Int64? { body.length }
    var isReplayable: Bool { body.isReplayable }

    func makeReader() throws(TransportError) -> any RequestBodyReader {
        restarting()
        return TappedReader(reader: try body.makeReader(), observer: observer, ending: ending)
    }
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

private struct ObservedBody: RequestBodySource {
    let body: HTTPRequestBody
    let restarting: @Sendable () -> Void
    let observer: @Sendable (Int) -> Void

    var length: Int64? { body.length }
    var isReplayable: Bool { body.isReplayable }

    func makeReader() throws(TransportError) -> any RequestBodyReader {
        restarting()
        return ObservedReader(reader: try body.makeReader(), observer: observer)
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
