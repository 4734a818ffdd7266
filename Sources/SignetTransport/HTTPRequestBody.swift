import HTTPTypes
import Synchronization

/// A request's body: bytes, or a stream that is read only as fast as the server accepts it.
///
/// An engine sends a known length as Content-Length and enforces it: a shorter or longer body ends
/// the call with `body-length`, and the request is never sent completely. A body without a known
/// length is sent without Content-Length, over HTTP/1.1 in chunks.
///
/// ```swift
/// let (lines, producer) = AsyncStream.makeStream(of: [UInt8].self)
/// let body = HTTPRequestBody.stream(lines)
/// for number in 1...3 { producer.yield(Array("line \(number)\n".utf8)) }
/// producer.finish()
///
/// var reader = try body.makeReader()
/// var count = 0
/// while let chunk = try await reader.next() { count += chunk.count }
/// precondition(count == 21 && body.length == nil && !body.isReplayable)
/// ```
public struct HTTPRequestBody: Sendable, ExpressibleByArrayLiteral {
    private enum Content: Sendable {
        case bytes([UInt8])
        case source(any RequestBodySource)
    }

    private let content: Content
    var makeTrailers: (@Sendable () async throws -> HTTPFields)?

    /// Creates a body of bytes.
    public init(_ bytes: [UInt8]) { self.content = .bytes(bytes) }

    /// Creates a body of bytes; `[]` is an empty body.
    public init(arrayLiteral bytes: UInt8...) { self.init(bytes) }

    /// Creates a body from a source of your own.
    public init(_ source: some RequestBodySource) { self.content = .source(source) }

    /// Creates a body that is read once, from a sequence of chunks of any size.
    ///
    /// - Parameters:
    ///   - length: In bytes, if it is known. The sequence must yield exactly this many.
    ///   - chunks: The sequence. It is asked for a chunk when there is room for it, and cancelled
    ///     if the call ends early. If it throws, the call ends with `body-failed`.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil, _ chunks: Chunks
    ) -> HTTPRequestBody where Chunks.Element == [UInt8] {
        let once = Once()
        return HTTPRequestBody(
            SequenceSource(length: length, isReplayable: false) { () throws(TransportError) in
                try once.use()
                return chunks
            })
    }

    /// Creates a body that can be read again.
    ///
    /// - Parameters:
    ///   - length: In bytes, if it is known.
    ///   - chunks: Returns a new sequence for each reading. All must yield the same bytes.
    public static func replayable<Chunks: AsyncSequence>(
        length: Int64? = nil, _ chunks: @escaping @Sendable () throws(TransportError) -> Chunks
    ) -> HTTPRequestBody where Chunks.Element == [UInt8] {
        HTTPRequestBody(SequenceSource(length: length, isReplayable: true, make: chunks))
    }

    /// The bytes; `nil` for a stream, and for a body with trailers.
    public var bytes: [UInt8]? {
        guard case .bytes(let bytes) = content, !hasTrailers else { return nil }
        return bytes
    }

    /// The length in bytes; `nil` if it isn't known, and for a body with trailers, which is always
    /// sent in chunks.
    public var length: Int64? {
        if hasTrailers { return nil }
        return switch content {
        case .bytes(let bytes): Int64(bytes.count)
        case .source(let source): source.length
        }
    }

    /// Whether the body can be sent again from its first byte, for example after a redirect or in a
    /// retry.
    public var isReplayable: Bool {
        switch content {
        case .bytes: true
        case .source(let source): source.isReplayable
        }
    }

    /// Starts reading from the first byte.
    ///
    /// - Throws: `TransportError` with code `body-not-replayable` if the body can be read only once
    ///   and was read before.
    public func makeReader() throws(TransportError) -> Reader {
        switch content {
        case .bytes(let bytes):
            Reader(length: nil, from: HeldReader(rest: bytes.isEmpty ? nil : bytes))
        case .source(let source): Reader(length: source.length, from: try source.makeReader())
        }
    }

    /// Reads a body chunk by chunk and enforces its length.
    ///
    /// The chunk that completes a known length is held back until the source confirms its end.
    public struct Reader {
        private let length: Int64?
        private var source: any RequestBodyReader
        private var count: Int64 = 0
        private var isEnded = false

        fileprivate init(length: Int64?, from source: any RequestBodyReader) {
            self.length = length
            self.source = source
        }

        /// Returns the next chunk, never empty, or `nil` at the end.
        ///
        /// - Throws: `TransportError`: `body-length`, `body-failed`, `cancelled`, or a
        ///   `TransportError` of the source.
        public mutating func next() async throws(TransportError) -> [UInt8]? {
            if isEnded { return nil }
            guard let chunk = try await pull() else {
                isEnded = true
                guard let length, count < length else { return nil }
                throw TransportError(
                    .bodyLength,
                    "the request's body ended after \(count) bytes, expected \(length)")
            }
            count += Int64(chunk.count)
            guard let length, count >= length else { return chunk }
            isEnded = true
            if count == length, try await pull() == nil { return chunk }
            throw TransportError(
                .bodyLength, "the request's body has more than the expected \(length) bytes")
        }

        private mutating func pull() async throws(TransportError) -> [UInt8]? {
            do {
                while true {
                    guard let chunk = try await source.next() else { return nil }
                    if !chunk.isEmpty { return chunk }
                }
            } catch {
                throw TransportError(error, thrownBySource: "the request's body could not be read")
            }
        }
    }
}

/// A source of a request's body.
public protocol RequestBodySource: Sendable {
    /// The length in bytes; `nil` if it isn't known.
    var length: Int64? { get }
    /// Whether `makeReader` can be called again and yields the same bytes.
    var isReplayable: Bool { get }
    /// Starts reading from the first byte.
    ///
    /// - Throws: `TransportError`.
    func makeReader() throws(TransportError) -> any RequestBodyReader
}

/// One pass over a body.
public protocol RequestBodyReader {
    /// Returns the next chunk, of any size, or `nil` at the end. It is called when there is room.
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

/// Throws the second time it is used.
private final class Once: Sendable {
    private let isUsed = Atomic(false)

    func use() throws(TransportError) {
        guard !isUsed.exchange(true, ordering: .relaxed) else {
            throw TransportError(
                .bodyNotReplayable, "the request's body can be read only once and was read before")
        }
    }
}

extension TransportError {
    /// Creates the error of a body or of trailers from an error that the caller's code threw.
    ///
    /// Of an error of another type the message contains only the type's name, because the error's
    /// text may contain the data to send.
    init(_ error: any Error, thrownBySource problem: String) {
        switch error {
        case let error as TransportError: self = error
        case is CancellationError: self.init(.cancelled, "the call was cancelled")
        default: self.init(.bodyFailed, "\(problem): \(type(of: error))")
        }
    }
}
