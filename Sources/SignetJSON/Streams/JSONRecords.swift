/// The records of a stream of chunks, such as a response's body.
///
/// The sequence requests a chunk only after it has returned all records of the previous one.
public struct JSONRecords<Base: AsyncSequence>: AsyncSequence
where Base.Element: Sequence<UInt8> {
    /// A record.
    public typealias Element = JSONRecord

    private let base: Base
    private let reader: JSONRecordReader
    private let skipping: (@Sendable (JSONError) -> Void)?

    /// Creates a sequence of the records in chunks.
    ///
    /// - Parameters:
    ///   - base: The chunks, of any size.
    ///   - reader: A new reader with the format and the limits.
    ///   - skipping: Receives the error of each defective record, which the sequence then skips.
    ///     Without it the first error ends the sequence. An array always ends at its first error.
    public init(
        _ base: Base, reader: JSONRecordReader,
        skipping: (@Sendable (JSONError) -> Void)? = nil
    ) {
        self.base = base
        self.reader = reader
        self.skipping = skipping
    }

    /// Returns an iterator that starts with the first chunk.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), reader: reader, skipping: skipping)
    }

    /// Reads the records in order.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        var reader: JSONRecordReader
        let skipping: (@Sendable (JSONError) -> Void)?
        var isAtEnd = false

        /// Returns the next record, or nil at the end.
        ///
        /// - Throws: `JSONError` for a defective record, or an error of the sequence of chunks.
        public mutating func next() async throws -> JSONRecord? {
            try await next(isolation: #isolation)
        }

        /// Returns the next record like `next()`, on the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(any Error) -> JSONRecord? {
            while true {
                do throws(JSONError) {
                    if let record = try reader.next() { return record }
                } catch {
                    guard let skipping else { throw error }
                    skipping(error)
                    continue
                }
                if isAtEnd { return nil }
                if let chunk = try await base.next(isolation: actor) {
                    reader.append(chunk)
                } else {
                    isAtEnd = true
                    reader.finish()
                }
            }
        }
    }
}

extension JSONRecords: Sendable where Base: Sendable {}

extension AsyncSequence where Element: Sequence<UInt8> {
    /// Returns the JSON values in these chunks, one at a time and in bounded memory.
    ///
    /// - Parameters:
    ///   - format: The format of the stream.
    ///   - maximumRecordSize: The maximum size of a record in bytes; more is `too-large`.
    ///   - skipsByteOrderMark: Whether one byte order mark at the beginning is skipped.
    ///   - skipping: Receives the error of each defective record, which the sequence then skips.
    ///     Without it the first error ends the sequence. An array always ends at its first error.
    public func jsonRecords(
        _ format: JSONStreamFormat, maximumRecordSize: Int = 1 << 20,
        skipsByteOrderMark: Bool = false, skipping: (@Sendable (JSONError) -> Void)? = nil
    ) -> JSONRecords<Self> {
        JSONRecords(
            self,
            reader: JSONRecordReader(
                format, maximumRecordSize: maximumRecordSize,
                skipsByteOrderMark: skipsByteOrderMark),
            skipping: skipping)
    }
}
