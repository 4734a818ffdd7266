import SignetBase

extension JSONNumber {
    /// Returns a finite value's text as ECMAScript's Number::toString writes it, as RFC 8785
    /// requires.
    ///
    /// Swift's description has the same digits (the shortest that read back as the value, and of
    /// those the closest), but places the point and the exponent differently.
    static func text(of value: Double) -> String {
        if value == 0 { return "0" }  // negative zero too
        if (1e-4..<1e15).contains(value.magnitude) {  // Swift writes no exponent here either
            let integer = Int64(value)
            return Double(integer) == value ? String(integer) : value.description
        }
        let parts = value.magnitude.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".")
        var digits = Array(mantissa.joined().utf8)
        // The value is 0.digits × 10^scale.
        var scale = mantissa[0].utf8.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        while digits.count > 1, digits.first == ASCII.zero {
            digits.removeFirst()
            scale -= 1
        }
        while digits.count > 1, digits.last == ASCII.zero { digits.removeLast() }
        return (value < 0 ? "-" : "")
            + String(decoding: text(of: digits, scale: scale), as: UTF8.self)
    }

    /// Places the point and the exponent: ECMA-262, Number::toString, steps 6 to 10. `scale` is its
    /// n, the number of digits its k.
    private static func text(of digits: [UInt8], scale: Int) -> [UInt8] {
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: ASCII.zero, count: count) }
        if scale > 21 || scale <= -6 {
            let exponent = scale - 1
            var text = [digits[0]]
            if digits.count > 1 { text += [ASCII.dot] + digits[1...] }
            text += [0x65, exponent < 0 ? ASCII.minus : ASCII.plus]
            return text + String(exponent.magnitude).utf8
        }
        if scale <= 0 { return [ASCII.zero, ASCII.dot] + zeros(-scale) + digits }
        if digits.count <= scale { return digits + zeros(scale - digits.count) }
        return digits[..<scale] + [ASCII.dot] + digits[scale...]
    }
}
