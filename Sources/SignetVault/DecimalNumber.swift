import SignetJSON

/// A JSON number's exact value, for comparing: no rounding to binary64, so that a limit of
/// 9007199254740992 does not let 9007199254740993 pass.
struct DecimalNumber: Comparable, Hashable {
    private let isNegative: Bool
    /// The value is 0.digits × 10^scale; no zeros at either end, empty for zero.
    private let digits: [UInt8]
    private let scale: Int

    init(_ number: JSONNumber) {
        var digits: [UInt8] = []
        var scale = 0
        var isFraction = false
        var exponent = 0
        let text = Array(number.text.utf8)
        var position = text.first == UInt8(ascii: "-") ? 1 : 0
        let isNegative = position == 1
        while position < text.count {
            let byte = text[position]
            position += 1
            if (0x30...0x39).contains(byte) {
                digits.append(byte)
                if !isFraction { scale += 1 }
            } else if byte == UInt8(ascii: ".") {
                isFraction = true
            } else {
                let rest = text[position...]
                let far = rest.first == UInt8(ascii: "-") ? -Self.beyond : Self.beyond
                exponent = Int(String(decoding: rest, as: UTF8.self)) ?? far
                exponent = min(max(exponent, -Self.beyond), Self.beyond)
                break
            }
        }
        let leading = digits.prefix { $0 == 0x30 }.count
        digits.removeFirst(leading)
        while digits.last == 0x30 { digits.removeLast() }
        self.isNegative = isNegative && !digits.isEmpty
        self.digits = digits
        self.scale = digits.isEmpty ? 0 : scale - leading + exponent
    }

    /// An exponent no text of a sane length reaches by its digits.
    private static let beyond = 1 << 60

    static func < (left: DecimalNumber, right: DecimalNumber) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isCloserToZero(than: left) : left.isCloserToZero(than: right)
    }

    private func isCloserToZero(than other: DecimalNumber) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        if scale != other.scale { return scale < other.scale }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
