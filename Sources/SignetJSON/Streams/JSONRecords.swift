/// The records of a stream of chunks, such as a response's body, one at a time.
///
/// Nothing is read ahead: a chunk is asked for when all records of the last one have been taken.
public struct JSONRecords<Base: AsyncSequence>: AsyncSequence
where Base.Element: Sequence<UInt8> {
    /// A record.
    public typealias Element = JSONRecord

    private let base: Base
    private let reader: JSONRecordReader
    private let skipping: (@Sendable (JSONError) -> Void)?

    /// Reads records from chunks.
    ///
    /// - Parameters:
    ///   - base: The chunks, of any size.
    ///   - reader: The format and limits; a fresh reader.
    ///   - skipping: Told of each defective record, which is then left out; without it the first ends
    ///     the sequence with its error. Of an array nothing follows a defect.
    public init(
        _ base: Base, reader: JSONRecordReader,
        skipping: (@Sendable (JSONError) -> Void)? = nil
    ) {
        self.base = base
        self.reader = reader
        self.skipping = skipping
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), reader: reader, skipping: skipping)
    }

    /// Reads one record after another.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        var reader: JSONRecordReader
        let skipping: (@Sendable (JSONError) -> Void)?
        private var isAtEnd = false

        init(
            base: Base.AsyncIterator, reader: JSONRecordReader,
            skipping: (@Sendable (JSONError) -> Void)?
        ) {
            self.base = base
            self.reader = reader
            self.skipping = skipping
        }

        /// The next record, or nil at the end.
        ///
        /// - Throws: `JSONError` for a defective record, or what the chunks' own sequence throws.
        public mutating func next() async throws -> JSONRecord? {
            try await next(isolation: #isolation)
        }

        /// The next record, on the caller's actor; otherwise as `next()`.
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
    /// The JSON values of these chunks, one at a time and in bounded memory.
    ///
    /// - Parameters:
    ///   - format: How values follow one another.
    ///   - maximumRecordSize: How many bytes one record may have; more is `too-large`.
    ///   - skipping: Told of each defective record, which is then left out; without it the first ends
    ///     the sequence with its error.
    public func jsonRecords(
        _ format: JSONStreamFormat, maximumRecordSize: Int = 1 << 20,
        skipping: (@Sendable (JSONError) -> Void)? = nil
    ) -> JSONRecords<Self> {
        JSONRecords(
            self, reader: JSONRecordReader(format, maximumRecordSize: maximumRecordSize),
            skipping: skipping)
    }
}
