import SignetBase

extension JSONNumber {
    /// Returns the nearest value if a single division finds it, otherwise nil.
    ///
    /// That works for at most 15 digits and a power of ten that binary64 holds exactly (Clinger
    /// 1990).
    static func exactDouble(_ bytes: borrowing Span<UInt8>, in range: Range<Int>) -> Double? {
        guard range.count <= 17 else { return nil }
        var at = range.lowerBound
        let isNegative = bytes[at] == ASCII.minus
        if isNegative { at += 1 }
        var digits: UInt64 = 0
        var count = 0
        var fraction = 0
        var sawPoint = false
        while at < range.upperBound {
            let byte = bytes[at]
            if byte.isDigit {
                digits = digits &* 10 &+ UInt64(byte &- ASCII.zero)
                count += 1
                if sawPoint { fraction += 1 }
            } else if byte == ASCII.dot {
                sawPoint = true
            } else {
                return nil
            }
            at += 1
        }
        guard count <= 15 else { return nil }
        let value = Double(digits) / powersOfTen[fraction]
        return isNegative ? -value : value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}
