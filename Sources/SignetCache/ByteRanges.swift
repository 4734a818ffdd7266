import SignetBase

/// The single range of a `Range` field (RFC 9110, section 14.1.2).
enum RangeRequest: Equatable {
    case from(Int64, through: Int64?)
    case last(Int64)

    /// Reads one range of bytes; nil for several ranges, another unit and another form. A server
    /// may ignore such a field (section 14.2), and so may a cache that has the whole response.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let unit = "bytes="
        guard bytes.count > unit.utf8.count,
            bytes.prefix(unit.utf8.count).map(\.lowercased).elementsEqual(unit.utf8)
        else { return nil }
        let range = bytes[unit.utf8.count...].trimmingBlanks()
        let parts = range.split(separator: ASCII.minus, omittingEmptySubsequences: false)
        guard parts.count == 2, let last = Self.position(parts[1]) else { return nil }
        guard !parts[0].isEmpty else {
            guard let last else { return nil }
            self = .last(last)
            return
        }
        guard let first = Self.position(parts[0]), let first, (last ?? .max) >= first else {
            return nil
        }
        self = .from(first, through: last)
    }

    /// The positions in a content of a known length; nil if there are none.
    func resolved(in total: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < total else { return nil }
            return first..<min(last.map { $0 + 1 } ?? total, total)
        case .last(let count):
            guard count > 0, total > 0 else { return nil }
            return max(0, total - count)..<total
        }
    }

    /// Reads a position; nil if it isn't a number, and a nil number if it is empty.
    private static func position(_ digits: ArraySlice<UInt8>) -> Int64?? {
        if digits.isEmpty { return .some(nil) }
        return ContentRange.number(digits).map { .some($0) }
    }
}

/// A part of a content whose whole length is known.
public struct ContentPart: Sendable, Hashable {
    /// The positions of the stored bytes in the whole content.
    public let range: Range<Int64>
    /// The length of the whole content.
    public let total: Int64

    /// Creates a part. Returns `nil` if the range is empty or isn't inside the content.
    public init?(range: Range<Int64>, total: Int64) {
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= total else { return nil }
        self.range = range
        self.total = total
    }

    /// Reads `Content-Range: bytes 0-4/10`; nil for an unknown length and for positions that
    /// contradict each other (RFC 9110, section 14.4).
    init?(contentRange text: String?) {
        guard let field = ContentRange(text), let range = field.range, let total = field.total
        else { return nil }
        self.init(range: range.lowerBound..<(range.upperBound + 1), total: total)
    }

    /// The value of `Content-Range`.
    var contentRange: String { "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)" }

    var isWhole: Bool { range == 0..<total }
}
