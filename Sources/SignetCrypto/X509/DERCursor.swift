/// A place in a structure in DER (X.690), which moves over the elements one after the other.
struct DERCursor {
    /// The identifier bytes that this package reads.
    enum Tag {
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octetString: UInt8 = 0x04
        static let sequence: UInt8 = 0x30
    }

    private var position: Int
    private let end: Int

    /// Creates a cursor at the beginning of a range of bytes.
    init(over range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// Whether there is no more element.
    var isAtEnd: Bool { position == end }

    /// Moves over the next element if it has a tag.
    ///
    /// - Returns: The ranges of its contents and of the whole element, or nil for another tag, a
    ///   length that isn't DER, or too few bytes.
    mutating func next(
        _ tag: UInt8, in bytes: Span<UInt8>
    ) -> (contents: Range<Int>, whole: Range<Int>)? {
        guard end - position >= 2, bytes[position] == tag else { return nil }
        var start = position + 2
        var count = Int(bytes[position + 1])
        if count >= 0x80 {
            // The length's shortest form alone (section 10.1), of at most four bytes.
            let size = count - 0x80
            guard (1...4).contains(size), end - start >= size, bytes[start] != 0 else { return nil }
            count = (start..<start + size).reduce(0) { $0 << 8 | Int(bytes[$1]) }
            start += size
            guard count >= 0x80 else { return nil }
        }
        guard count <= end - start else { return nil }
        defer { position = start + count }
        return (start..<start + count, position..<start + count)
    }
}
