/// Names of single bytes.
@usableFromInline package enum ASCII {
    @inlinable package static var backspace: UInt8 { 0x08 }
    @inlinable package static var tab: UInt8 { 0x09 }
    @inlinable package static var lineFeed: UInt8 { 0x0A }
    @inlinable package static var formFeed: UInt8 { 0x0C }
    @inlinable package static var carriageReturn: UInt8 { 0x0D }
    @inlinable package static var space: UInt8 { 0x20 }
    @inlinable package static var quote: UInt8 { 0x22 }
    @inlinable package static var leftParenthesis: UInt8 { 0x28 }
    @inlinable package static var rightParenthesis: UInt8 { 0x29 }
    @inlinable package static var plus: UInt8 { 0x2B }
    @inlinable package static var comma: UInt8 { 0x2C }
    @inlinable package static var minus: UInt8 { 0x2D }
    @inlinable package static var dot: UInt8 { 0x2E }
    @inlinable package static var slash: UInt8 { 0x2F }
    @inlinable package static var zero: UInt8 { 0x30 }
    @inlinable package static var nine: UInt8 { 0x39 }
    @inlinable package static var colon: UInt8 { 0x3A }
    @inlinable package static var semicolon: UInt8 { 0x3B }
    @inlinable package static var equals: UInt8 { 0x3D }
    @inlinable package static var question: UInt8 { 0x3F }
    @inlinable package static var at: UInt8 { 0x40 }
    @inlinable package static var leftBracket: UInt8 { 0x5B }
    @inlinable package static var backslash: UInt8 { 0x5C }
    @inlinable package static var rightBracket: UInt8 { 0x5D }
    @inlinable package static var underscore: UInt8 { 0x5F }
    @inlinable package static var leftBrace: UInt8 { 0x7B }
    @inlinable package static var rightBrace: UInt8 { 0x7D }
}

/// The kinds of ASCII characters. Inlinable, because signing and JSON check each byte of a text.
extension UInt8 {
    @inlinable package var isDigit: Bool { self &- 0x30 < 10 }

    @inlinable package var isUppercaseLetter: Bool { self &- 0x41 < 26 }

    @inlinable package var isLowercaseLetter: Bool { self &- 0x61 < 26 }

    @inlinable package var isLetter: Bool { (self | 0x20).isLowercaseLetter }

    @inlinable package var isLetterOrDigit: Bool { isDigit || isLetter }

    /// Whether the byte is a space or a tab.
    @inlinable package var isBlank: Bool { self == ASCII.space || self == ASCII.tab }

    /// Whether the byte is printable ASCII other than the space.
    @inlinable package var isVisible: Bool { self > 0x20 && self < 0x7F }

    /// Whether the byte is allowed in a token (RFC 9110, section 5.6.2).
    @inlinable package var isToken: Bool {
        switch self {
        // ! # $ % & ' * + - . ^ _ ` | ~
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: isLetterOrDigit
        }
    }

    @inlinable package var isHexDigit: Bool { hexDigitValue != nil }

    /// The value of a hexadecimal digit, or nil for any other byte.
    @inlinable package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// The byte with an ASCII letter in lower case.
    @inlinable package var lowercased: UInt8 { isUppercaseLetter ? self | 0x20 : self }
}

// Inlinable, so that the compiler specializes them for the caller's collection. The benchmark
// `sigv4-verify` needs this.
extension BidirectionalCollection<UInt8> {
    /// Returns the bytes without the spaces and tabs at both ends.
    @inlinable package func trimmingBlanks() -> SubSequence { trimming(\.isBlank) }

    /// Returns the bytes without those at both ends that meet a condition.
    @inlinable package func trimming(_ isTrimmed: (UInt8) -> Bool) -> SubSequence {
        let rest = drop(while: isTrimmed)
        guard let last = rest.lastIndex(where: { !isTrimmed($0) }) else { return rest }
        return rest[...last]
    }
}

extension Collection<UInt8> {
    /// Decodes hexadecimal digits; nil for an odd number of them or any other byte.
    @inlinable package func decodingHexadecimal() -> [UInt8]? {
        guard count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 2)
        var index = startIndex
        while index < endIndex {
            let next = self.index(after: index)
            guard let high = self[index].hexDigitValue, let low = self[next].hexDigitValue
            else { return nil }
            bytes.append(high << 4 | low)
            index = self.index(after: next)
        }
        return bytes
    }
}

extension [UInt8] {
    /// The bytes in hexadecimal.
    ///
    /// - Parameter ten: The digit after 9, `a` or `A`.
    @inlinable package func hexadecimal(ten: UInt8 = 0x61) -> [UInt8] {
        var text: [UInt8] = []
        text.append(hexadecimal: self, ten: ten)
        return text
    }

    /// Appends other bytes in hexadecimal.
    ///
    /// - Parameter ten: The digit after 9, `a` or `A`.
    @inlinable package mutating func append(hexadecimal bytes: [UInt8], ten: UInt8 = 0x61) {
        // Branch-free: the digits are random, so a branch would often be mispredicted.
        func digit(_ value: UInt8) -> UInt8 {
            ASCII.zero &+ value &+ (value &+ 6) >> 4 &* (ten &- ASCII.zero &- 10)
        }
        guard !bytes.isEmpty else { return }
        append(addingCapacity: 2 * bytes.count) { (target: inout OutputSpan<UInt8>) in
            target.append(repeating: 0, count: 2 * bytes.count)
            var digits = target.mutableSpan
            for index in bytes.indices {
                digits[2 * index] = digit(bytes[index] >> 4)
                digits[2 * index + 1] = digit(bytes[index] & 15)
            }
        }
    }
}
