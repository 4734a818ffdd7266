import SignetBase

/// A JSON number, kept as its text until you request a type.
///
/// ```swift
/// let account = try JSONValue(parsing: #"{"id": 9007199254740993, "balance": 0.10}"#)
/// let id = account["id"]?.number?.int64  // exact, although a Double would round it
/// let balance = account["balance"]?.number?.decimal
/// ```
///
/// `1e400` and a 40-digit integer survive reading and writing. Two numbers are equal if their texts
/// are: `1` and `1.0` differ.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number's text, as in the JSON text.
    public let text: String

    /// Creates a number from its text; nil if that is not a number of RFC 8259, section 6.
    public init?(text: String) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, first == ASCII.minus || first.isDigit,
            let end = try? JSONScanner.numberEnd(bytes.span, from: 0), end == bytes.count
        else { return nil }
        self.text = text
    }

    init(validText: String) { self.text = validText }

    /// Creates an integer of any width; its text has no fraction and no exponent.
    public init(_ value: some BinaryInteger) { self.text = String(value) }

    /// Creates a number with the shortest text that reads back as the value, in the form of
    /// ECMAScript (RFC 8785, section 3.2.2.3); nil for an infinity or a NaN.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.text = Self.text(of: value)
    }

    /// Whether the text has neither a fraction nor an exponent.
    public var isInteger: Bool {
        text.utf8.allSatisfy { $0.isDigit || $0 == ASCII.minus }
    }

    /// The value, or nil if it doesn't fit or the text has a fraction or an exponent (`1.0`,
    /// `1e2`).
    public var int64: Int64? { integer(Int64.self) }

    /// The value, or nil if it doesn't fit or the text has a fraction or an exponent.
    public var uint64: UInt64? { integer(UInt64.self) }

    /// Returns the value, or nil if it doesn't fit the type or the text has a fraction or an
    /// exponent.
    public func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        isInteger ? Integer(text) : nil
    }

    /// The nearest binary64 value, or nil if that is not finite (`1e400`).
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The text.
    public var description: String { text }
}
