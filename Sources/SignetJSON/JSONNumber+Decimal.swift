public import FoundationEssentials
import SignetBase

extension JSONNumber {
    /// The exact value, or nil if `Decimal` would round it.
    ///
    /// `Decimal` holds up to 38 significant digits (39 if they are below 2^128) times a power of
    /// ten in -128...127. Zeros at either end don't count: `1.50` is `1.5`, and `-0` is zero.
    public var decimal: Decimal? {
        let parts = text.utf8.split { $0 | 0x20 == 0x65 }
        let mantissa = parts[0].split(separator: ASCII.dot)
        var digits = Array(mantissa.joined().drop { $0 == ASCII.minus || $0 == ASCII.zero })
        let zeros = digits.reversed().prefix { $0 == ASCII.zero }.count
        digits.removeLast(zeros)
        guard !digits.isEmpty else { return Decimal() }
        var exponent = zeros - (mantissa.count > 1 ? mantissa[1].count : 0)
        if parts.count > 1 {
            guard let power = Int(Substring(parts[1])) else { return nil }
            let (sum, overflows) = exponent.addingReportingOverflow(power)
            guard !overflows else { return nil }
            exponent = sum
        }
        if exponent > 127 {
            // A mantissa below 2^128 has at most 39 digits.
            guard exponent < 127 + 39 else { return nil }
            digits += repeatElement(ASCII.zero, count: exponent - 127)
            exponent = 127
        }
        guard exponent >= -128, let number = UInt128(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        return Decimal(string: "\(text.startsWithBytes(of: "-") ? "-" : "")\(number)e\(exponent)")
    }
}
