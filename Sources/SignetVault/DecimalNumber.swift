public import SignetJSON

/// A decimal number with all its digits, for example an amount of money. It's never rounded to
/// binary64, so 0.1 is exactly a tenth and 9007199254740993 differs from 9007199254740992.
///
/// Numbers with the same value are equal: 1, 1.0 and 10e-1.
public struct DecimalNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number as a JSON number.
    public let json: JSONNumber
    private let isNegative: Bool
    /// The value is 0.digits × 10^scale; no zeros at either end, empty for zero.
    private let digits: [UInt8]
    private let scale: Int

    /// Reads a number (RFC 8259, section 6), or returns nil if the text isn't a number.
    public init?(_ text: String) {
        guard let number = JSONNumber(text: text) else { return nil }
        self.init(number)
    }

    /// Creates a decimal number from a JSON number.
    public init(_ number: JSONNumber) {
        let text = Array(number.text.utf8)
        let isNegative = text.first == UInt8(ascii: "-")
        let magnitude = text.dropFirst(isNegative ? 1 : 0).prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let whole = magnitude.prefix { $0 != UInt8(ascii: ".") }
        var digits = whole + magnitude[whole.endIndex...].dropFirst()
        let leading = digits.prefix { $0 == 0x30 }.count
        digits.removeFirst(leading)
        while digits.last == 0x30 { digits.removeLast() }
        self.json = number
        self.isNegative = isNegative && !digits.isEmpty
        self.digits = Array(digits)
        let exponent = Self.exponent(text[magnitude.endIndex...].dropFirst())
        self.scale = digits.isEmpty ? 0 : whole.count - leading + exponent
    }

    /// Reads an exponent, which may be missing, and clamps it.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int {
        guard !text.isEmpty else { return 0 }
        let limit = text.first == UInt8(ascii: "-") ? -exponentLimit : exponentLimit
        let exponent = Int(String(decoding: text, as: UTF8.self)) ?? limit
        return min(max(exponent, -exponentLimit), exponentLimit)
    }

    /// The largest magnitude of an exponent. It exceeds the number of digits of any text in memory.
    private static let exponentLimit = 1 << 60

    /// The number as written in its input.
    public var text: String { json.text }

    /// The nearest binary64 value, or nil if that isn't finite.
    public var double: Double? { json.double }

    /// Returns the value as a number of units of 10^-`places`, for example cents for two places:
    /// 12.3 gives 1230, and 0.005 gives nil because the value is never rounded.
    ///
    /// - Parameter places: The number of decimal places, from 0.
    /// - Returns: nil if the value isn't a whole number of units or doesn't fit.
    public func units(places: Int) -> Int64? {
        guard !digits.isEmpty else { return 0 }
        guard (0...1000).contains(places), (1...19).contains(scale + places),
            digits.count <= scale + places
        else { return nil }
        var value: Int64 = 0
        for index in 0..<(scale + places) {
            let digit = index < digits.count ? Int64(digits[index] - 0x30) : 0
            let (product, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = product.subtractingReportingOverflow(digit)
            guard !first, !second else { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// The number as written in its input.
    public var description: String { text }

    /// Returns whether both have the same value.
    public static func == (left: DecimalNumber, right: DecimalNumber) -> Bool {
        left.isNegative == right.isNegative && left.scale == right.scale
            && left.digits == right.digits
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isNegative)
        hasher.combine(scale)
        hasher.combine(digits)
    }

    /// Returns whether the left value is less than the right one; the comparison is exact.
    public static func < (left: DecimalNumber, right: DecimalNumber) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isCloserToZero(than: left) : left.isCloserToZero(than: right)
    }

    private func isCloserToZero(than other: DecimalNumber) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        if scale != other.scale { return scale < other.scale }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}

extension DecimalNumber: Codable {
    /// Decodes a JSON number with all its digits. Requires SignetJSON's decoder.
    public init(from decoder: any Decoder) throws {
        self.init(try JSONNumber(from: decoder))
    }

    /// Encodes the JSON number as written in its input.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}
