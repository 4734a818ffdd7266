internal import Synchronization

/// What a request carries: bytes, or a stream that is pulled only as fast as the server takes it.
///
/// An engine sends a length that is known as Content-Length and holds the producer to it: a body that is
/// shorter or longer ends the call with `body-length`, and the request is never whole on the wire. Without
/// a length it goes out chunked (HTTP/1.1) or as frames alone (HTTP/2).
public struct RequestBody: Sendable, ExpressibleByArrayLiteral {
    private enum Content: Sendable {
        case bytes([UInt8])
        case source(any RequestBodySource)
    }

    private let content: Content

    /// A body of bytes that are there.
    public init(_ bytes: [UInt8]) { self.content = .bytes(bytes) }

    /// A body of bytes that are there; `[]` is none.
    public init(arrayLiteral bytes: UInt8...) { self.init(bytes) }

    /// A body that a source of one's own yields.
    public init(_ source: some RequestBodySource) { self.content = .source(source) }

    /// A body that is read once, from a sequence of chunks of any size.
    ///
    /// - Parameters:
    ///   - length: In bytes, where it is known; the sequence must yield exactly so many.
    ///   - chunks: Asked for the next chunk when there is room for it; cancelled where the call ends. What
    ///     it throws ends the call with `body-failed`.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil, _ chunks: Chunks
    ) -> RequestBody where Chunks.Element == [UInt8] {
        let once = Once()
        return RequestBody(
            SequenceSource(length: length, isReplayable: false) { () throws(TransportError) in
                try once.use()
                return chunks
            })
    }

    /// A body that can be read again, from a new sequence each time, which must yield the same bytes.
    ///
    /// - Parameters:
    ///   - length: In bytes, where it is known.
    ///   - chunks: Makes a sequence.
    public static func replayable<Chunks: AsyncSequence>(
        length: Int64? = nil, _ chunks: @escaping @Sendable () throws(TransportError) -> Chunks
    ) -> RequestBody where Chunks.Element == [UInt8] {
        RequestBody(SequenceSource(length: length, isReplayable: true, make: chunks))
    }

    /// The bytes, where they are held; nil for a stream.
    public var bytes: [UInt8]? {
        guard case .bytes(let bytes) = content else { return nil }
        return bytes
    }

    /// How many bytes it has, where that is known.
    public var length: Int64? {
        switch content {
        case .bytes(let bytes): Int64(bytes.count)
        case .source(let source): source.length
        }
    }

    /// Whether it can be sent again from its first byte: to another place, or with a new signature.
    public var isReplayable: Bool {
        switch content {
        case .bytes: true
        case .source(let source): source.isReplayable
        }
    }

    /// Begins to read, from the first byte.
    ///
    /// - Throws: `TransportError` with `body-not-replayable` where it was read before and is read once.
    public func makeReader() throws(TransportError) -> Reader {
        switch content {
        case .bytes(let bytes):
            Reader(length: nil, from: HeldReader(rest: bytes.isEmpty ? nil : bytes))
        case .source(let source): Reader(length: source.length, from: try source.makeReader())
        }
    }

    /// Reads a body, chunk by chunk, and holds it to its length.
    ///
    /// The chunk that fills a known length is kept back until the source has said that it was the last.
    public struct Reader {
        private let length: Int64?
        private var source: any RequestBodyReader
        private var count: Int64 = 0
        private var isEnded = false

        fileprivate init(length: Int64?, from source: any RequestBodyReader) {
            self.length = length
            self.source = source
        }

        /// The next chunk, never empty, or nil at the end.
        ///
        /// - Throws: `TransportError`: `body-length`, `body-failed`, `cancelled`, or what the source threw
        ///   of that type.
        public mutating func next() async throws(TransportError) -> [UInt8]? {
            if isEnded { return nil }
            guard let chunk = try await pull() else {
                isEnded = true
                guard let length, count < length else { return nil }
                throw TransportError(
                    code: .bodyLength,
                    message: "the request's body ended after \(count) bytes, wanted \(length)")
            }
            count += Int64(chunk.count)
            guard let length, count >= length else { return chunk }
            isEnded = true
            if count == length, try await pull() == nil { return chunk }
            throw TransportError(
                code: .bodyLength, message: "the request's body has more than its \(length) bytes")
        }

        private mutating func pull() async throws(TransportError) -> [UInt8]? {
            do {
                while true {
                    guard let chunk = try await source.next() else { return nil }
                    if !chunk.isEmpty { return chunk }
                }
            } catch let error as TransportError {
                throw error
            } catch is CancellationError {
                throw TransportError(code: .cancelled, message: "the call was cancelled")
            } catch {
                throw TransportError(
                    code: .bodyFailed, message: "the request's body could not be made: \(error)")
            }
        }
    }
}

/// Where a body comes from.
public protocol RequestBodySource: Sendable {
    /// In bytes, where it is known.
    var length: Int64? { get }
    /// Whether `makeReader` can be called again, for the same bytes.
    var isReplayable: Bool { get }
    /// Begins to read, from the first byte.
    ///
    /// - Throws: `TransportError`.
    func makeReader() throws(TransportError) -> any RequestBodyReader
}

/// One pass over a body.
public protocol RequestBodyReader {
    /// The next chunk, of any size, or nil at the end; asked for when there is room for it.
    mutating func next() async throws -> [UInt8]?
}

private struct HeldReader: RequestBodyReader {
    var rest: [UInt8]?

    mutating func next() async throws -> [UInt8]? { rest.take() }
}

private struct SequenceSource<Chunks: AsyncSequence>: RequestBodySource
where Chunks.Element == [UInt8] {
    let length: Int64?
    let isReplayable: Bool
    let make: @Sendable () throws(TransportError) -> Chunks

    func makeReader() throws(TransportError) -> any RequestBodyReader {
        SequenceReader<Chunks>(iterator: try make().makeAsyncIterator())
    }
}

private struct SequenceReader<Chunks: AsyncSequence>: RequestBodyReader
where Chunks.Element == [UInt8] {
    var iterator: Chunks.AsyncIterator

    mutating func next() async throws -> [UInt8]? {
        try await iterator.next(isolation: #isolation)
    }
}

/// What can be used once.
private final class Once: Sendable {
    private let isUsed = Mutex(false)

    func use() throws(TransportError) {
        let wasUsed = isUsed.withLock { isUsed in
            defer { isUsed = true }
            return isUsed
        }
        guard !wasUsed else {
            throw TransportError(
                code: .bodyNotReplayable,
                message:
                    "the request's body was read before and can be read once: it is not sent again"
            )
        }
    }
}
