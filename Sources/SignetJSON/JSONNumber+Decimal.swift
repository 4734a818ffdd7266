public import FoundationEssentials

extension JSONNumber {
    /// The exact value, or nil if `Decimal` would round it.
    ///
    /// `Decimal` holds up to 38 significant digits (39 if they are below 2^128) times a power of
    /// ten in -128...127. Zeros at either end don't count: `1.50` is `1.5`, and `-0` is zero.
    public var decimal: Decimal? {
        let bytes = text.utf8.span
        var mantissa: UInt128 = 0
        var exponent = 0  // of the mantissa's last digit
        var zeros = 0  // after the mantissa, and not yet part of it
        var sawPoint = false
        var at = bytes[0] == ASCII.minus ? 1 : 0
        let isNegative = at == 1
        while at < bytes.count, bytes[at] | 0x20 != 0x65 {
            let byte = bytes[at]
            at += 1
            if byte == ASCII.point {
                sawPoint = true
                continue
            }
            if sawPoint { exponent -= 1 }
            if byte == ASCII.zero {
                if mantissa > 0 { zeros += 1 }
                continue
            }
            guard let scaled = Self.scaled(mantissa, byTenTo: zeros + 1) else { return nil }
            let digit = UInt128(byte - ASCII.zero)
            let (sum, overflows) = scaled.addingReportingOverflow(digit)
            guard !overflows else { return nil }
            (mantissa, zeros) = (sum, 0)
        }
        guard mantissa > 0 else { return Decimal() }
        exponent += zeros
        if at < bytes.count {
            let written = String(decoding: bytes.copied(at + 1..<bytes.count), as: UTF8.self)
            guard let power = Int(written) else { return nil }
            let (sum, overflows) = exponent.addingReportingOverflow(power)
            guard !overflows else { return nil }
            exponent = sum
        }
        if exponent > 127 {
            guard let scaled = Self.scaled(mantissa, byTenTo: exponent - 127) else { return nil }
            (mantissa, exponent) = (scaled, 127)
        }
        guard exponent >= -128 else { return nil }
        return Decimal(string: "\(isNegative ? "-" : "")\(mantissa)e\(exponent)")
    }

    /// Returns a number times a power of ten, or nil on overflow.
    private static func scaled(_ number: UInt128, byTenTo power: Int) -> UInt128? {
        guard number > 0 else { return 0 }
        var number = number
        for _ in 0..<power {
            let (product, overflows) = number.multipliedReportingOverflow(by: 10)
            guard !overflows else { return nil }
            number = product
        }
        return number
    }
}
