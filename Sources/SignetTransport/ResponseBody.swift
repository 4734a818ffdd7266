/// The bytes of a reply's body, in the chunks in which they came.
///
/// It is read once, by one reader. The engine stops receiving while nobody reads; when the last copy
/// goes unread, the call is given up.
public struct ResponseBody: Sendable, AsyncSequence {
    /// A chunk, never empty.
    public typealias Element = [UInt8]
    /// What ends a body early.
    public typealias Failure = TransportError

    fileprivate final class Reading: Sendable {
        let buffer: BodyBuffer
        init(_ buffer: BodyBuffer) { self.buffer = buffer }
        deinit { buffer.abandon() }
    }

    private let reading: Reading

    /// Makes a body of what an engine puts into a buffer.
    public init(_ buffer: BodyBuffer) { self.reading = Reading(buffer) }

    /// Makes a body of bytes that are there.
    public init(bytes: [UInt8]) {
        let buffer = BodyBuffer(capacity: Swift.max(bytes.count, 1), drained: {}, abandoned: {})
        _ = buffer.offer(bytes)
        buffer.finish()
        self.init(buffer)
    }

    /// Reads the body, chunk by chunk.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reading: Reading

        /// The next chunk, or nil at the end.
        ///
        /// - Throws: `TransportError`: `cut-off`, `timeout`, `reply-too-large`, `cancelled` or another.
        public mutating func next() async throws(TransportError) -> [UInt8]? {
            try await reading.buffer.next()
        }

        /// The next chunk, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?)
            async throws(TransportError) -> [UInt8]?
        {
            try await reading.buffer.next()
        }
    }

    /// Begins, or goes on, reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading: reading) }

    /// Reads the whole body.
    ///
    /// - Parameter limit: In bytes.
    /// - Returns: The bytes.
    /// - Throws: `TransportError`; `reply-too-large` where the body has more than `limit` bytes.
    public func collect(limit: Int = .max) async throws(TransportError) -> [UInt8] {
        var whole: [UInt8] = []
        while let chunk = try await reading.buffer.next() {
            guard chunk.count <= limit - whole.count else {
                throw TransportError(
                    code: .responseTooLarge,
                    message: "the reply's body has more than \(limit) bytes")
            }
            if whole.isEmpty { whole = chunk } else { whole.append(contentsOf: chunk) }
        }
        return whole
    }
}
