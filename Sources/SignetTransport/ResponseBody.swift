/// A response's body, in the chunks in which it arrived.
///
/// It can be read once, by one reader. The engine stops receiving while the reader is slower than
/// the server. If the last copy is released before the body was read, the call is cancelled.
public struct ResponseBody: Sendable, AsyncSequence {
    /// A chunk, never empty.
    public typealias Element = [UInt8]
    /// The error that ends a body early.
    public typealias Failure = TransportError

    fileprivate final class Reading: Sendable {
        let buffer: BodyBuffer
        init(_ buffer: BodyBuffer) { self.buffer = buffer }
        deinit { buffer.abandon() }
    }

    private let reading: Reading

    /// Creates a body that reads what an engine writes into a buffer.
    public init(_ buffer: BodyBuffer) { self.reading = Reading(buffer) }

    /// Creates a body of bytes.
    public init(bytes: [UInt8]) {
        let buffer = BodyBuffer(capacity: Swift.max(bytes.count, 1), drained: {}, abandoned: {})
        _ = buffer.offer(bytes)
        buffer.finish()
        self.init(buffer)
    }

    /// Reads the body chunk by chunk.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reading: Reading

        /// Returns the next chunk, or `nil` at the end.
        ///
        /// - Throws: `TransportError`, for example `cut-off`, `timeout`, `reply-too-large` or
        ///   `cancelled`.
        public mutating func next() async throws(TransportError) -> [UInt8]? {
            try await reading.buffer.next()
        }

        /// Returns the next chunk, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?)
            async throws(TransportError) -> [UInt8]?
        {
            try await reading.buffer.next()
        }
    }

    /// Starts reading, or continues after an earlier iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading: reading) }

    /// Reads the whole body.
    ///
    /// - Parameter limit: The maximum size in bytes.
    /// - Throws: `TransportError`, with code `reply-too-large` if the body has more than `limit`
    ///   bytes.
    public func collect(limit: Int = .max) async throws(TransportError) -> [UInt8] {
        var whole: [UInt8] = []
        while let chunk = try await reading.buffer.next() {
            guard chunk.count <= limit - whole.count else {
                throw TransportError(
                    .responseTooLarge, "the response's body has more than \(limit) bytes")
            }
            if whole.isEmpty { whole = chunk } else { whole.append(contentsOf: chunk) }
        }
        return whole
    }
}
