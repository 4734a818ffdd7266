/// Bytes in which each text follows its length, so that no two lists of texts give the same bytes.
struct LengthPrefixed {
    private(set) var bytes: [UInt8] = []

    init() {}

    /// Starts with a label and a zero byte.
    init(label: StaticString) {
        bytes.reserveCapacity(160)
        bytes.append(contentsOf: label.description.utf8)
        bytes.append(0)
    }

    /// Appends the count of a text's UTF-8 bytes as a 32-bit big-endian number, then the bytes.
    mutating func append(_ text: String) {
        append(UInt64(text.utf8.count), bytes: 4)
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a number as 64 bits, big-endian.
    mutating func append(_ number: UInt64) { append(number, bytes: 8) }

    private mutating func append(_ number: UInt64, bytes count: Int) {
        for shift in (0..<UInt64(count)).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> (shift * 8)))
        }
    }
}
