/// A JSON number, kept as its text until somebody asks for a type.
///
/// `1e400` and a 40-digit integer survive reading and writing. Equality is that of the text: `1` and
/// `1.0` differ.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number as it stands in the JSON text.
    public let text: String

    /// Takes a number's text, or nil where it is none of RFC 8259, section 6.
    public init?(text: String) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, first == ASCII.minus || ASCII.isDigit(first),
            let end = try? JSONScanner.numberEnd(bytes.span, 0), end == bytes.count
        else { return nil }
        self.text = text
    }

    init(validText: String) { self.text = validText }

    /// Makes an integer of any width; its text has no fraction and no exponent.
    public init(_ value: some BinaryInteger) { self.text = String(value) }

    /// Makes a number of the shortest text that gives this value back, in the form of ECMAScript
    /// (RFC 8785, section 3.2.2.3), or nil for an infinity or a NaN.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.text = Self.text(of: value)
    }

    /// Whether the text has neither fraction nor exponent.
    public var isInteger: Bool {
        text.utf8.allSatisfy { ASCII.isDigit($0) || $0 == ASCII.minus }
    }

    /// The value, where the text is an integer without fraction or exponent (`1.0` and `1e2` are
    /// none) that fits.
    public var int64: Int64? { integer(Int64.self) }

    /// The value, where the text is an integer without fraction or exponent that fits.
    public var uint64: UInt64? { integer(UInt64.self) }

    /// The value, where the text is an integer without fraction or exponent that fits the type.
    public func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        isInteger ? Integer(text) : nil
    }

    /// The nearest binary64 value, or nil where that is not finite (`1e400`).
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The text.
    public var description: String { text }
}
