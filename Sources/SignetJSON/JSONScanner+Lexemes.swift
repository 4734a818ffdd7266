import SignetBase

extension JSONScanner {
    /// Returns the position after any white space.
    @inline(__always)
    static func skipSpace(_ bytes: borrowing Span<UInt8>, from start: Int) -> Int {
        var at = start
        while at < bytes.count {
            let byte = bytes[at]
            guard byte <= ASCII.space else { return at }
            guard
                byte == ASCII.space || byte == ASCII.lineFeed || byte == ASCII.carriageReturn
                    || byte == ASCII.tab
            else { return at }
            at &+= 1
        }
        return at
    }

    /// Returns the position after `true`, `false` or `null`. `last` is its last four bytes as a
    /// little-endian number.
    @inline(__always)
    static func literalEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int, of word: StaticString, last: UInt32
    ) throws(JSONError) -> Int {
        let end = start &+ word.utf8CodeUnitCount
        guard halfWord(bytes, at: end &- 4) == last else {
            throw brokenLiteral(bytes, from: start, of: word)
        }
        return end
    }

    /// Finds the wrong byte in a literal, whose first byte is right.
    @inline(never)
    private static func brokenLiteral(
        _ bytes: borrowing Span<UInt8>, from start: Int, of word: StaticString
    ) -> JSONError {
        var at = start
        for expected in word.description.utf8 {
            guard at < bytes.count, bytes[at] == expected else { break }
            at &+= 1
        }
        return .malformed(bytes, at: at, expected: "the rest of \(word)")
    }

    /// Returns the position after a number (RFC 8259, section 6).
    @inline(__always)
    static func numberEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        let count = bytes.count
        var at = start
        if bytes[at] == ASCII.minus { at &+= 1 }
        guard at < count, bytes[at].isDigit else {
            throw .malformed(bytes, at: at, expected: "a digit")
        }
        if bytes[at] == ASCII.zero {
            at &+= 1
            if at < count, bytes[at].isDigit {
                throw .malformed(
                    at: at, found: "a digit after a leading zero",
                    expected: "a number without leading zeros")
            }
        } else {
            while at < count, bytes[at].isDigit { at &+= 1 }
        }
        guard at < count else { return at }
        if bytes[at] == ASCII.dot {
            at = try digitsEnd(bytes, from: at + 1)
        }
        if at < count, bytes[at] | 0x20 == 0x65 {
            at &+= 1
            if at < count, bytes[at] == ASCII.plus || bytes[at] == ASCII.minus { at &+= 1 }
            at = try digitsEnd(bytes, from: at)
        }
        return at
    }

    @inline(__always)
    private static func digitsEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        var at = start
        while at < bytes.count, bytes[at].isDigit { at &+= 1 }
        guard at > start else { throw .malformed(bytes, at: at, expected: "a digit") }
        return at
    }

    /// Returns the position after a string's closing quotation mark. `start` is the opening one,
    /// and `isEscaped` becomes true if the string has escapes.
    @inline(__always)
    static func stringEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int, isEscaped: inout Bool
    ) throws(JSONError) -> Int {
        let count = bytes.count
        var at = start &+ 1
        // Most strings are short; blocks pay off only for long ones.
        var blocksFrom = at &+ 32
        while at < count {
            if at >= blocksFrom {
                at = plainEnd(bytes, from: at)
                blocksFrom = at &+ 64
                guard at < count else { break }
            }
            if let word = word(bytes, at: at) {
                let special = specialBytes(word)
                at &+= special == 0 ? 8 : special.trailingZeroBitCount &>> 3
                if special == 0 { continue }
            }
            let byte = bytes[at]
            if byte == ASCII.quote { return at &+ 1 }
            if byte >= 0x20, byte < 0x80, byte != ASCII.backslash {
                at &+= 1
            } else if byte == ASCII.backslash {
                isEscaped = true
                at = try escapeEnd(bytes, from: at)
            } else if byte >= 0x80 {
                at = try sequenceEnd(bytes, from: at)
            } else {
                throw .malformed(
                    at: at, found: "a control character in a string", expected: "an escape for it")
            }
        }
        throw .malformed(
            at: count, found: "the end of the text",
            expected: "the end of the string that begins at byte \(start)")
    }

    /// Skips blocks of 64 bytes of ASCII that need no escape; returns the position after them.
    ///
    /// The compiler vectorises the inner loop, because it has one sum and no early exit.
    private static func plainEnd(_ bytes: borrowing Span<UInt8>, from start: Int) -> Int {
        var at = start
        while at >= 0, at <= bytes.count &- 64 {
            let block = bytes.extracting(at..<at &+ 64)
            var found: UInt8 = 0
            for offset in block.indices {
                let byte = block[offset]
                // As a signed number, a byte that isn't ASCII is below the space too.
                found |=
                    (Int8(bitPattern: byte) < 0x20 ? 1 : 0) | (byte == ASCII.quote ? 1 : 0)
                    | (byte == ASCII.backslash ? 1 : 0)
            }
            if found != 0 { return at }
            at &+= 64
        }
        return at
    }

    /// Returns the position after an escape, or after a surrogate pair of two escapes.
    private static func escapeEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        guard start + 1 < bytes.count else {
            throw .malformed(
                at: bytes.count, found: "the end of the text", expected: "the rest of an escape")
        }
        switch bytes[start + 1] {
        case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74:
            return start + 2
        case 0x75:
            let unit = try codeUnit(bytes, from: start)
            guard unit & 0xf800 == 0xd800 else { return start + 6 }
            guard unit < 0xdc00, start + 7 < bytes.count, bytes[start + 6] == ASCII.backslash,
                bytes[start + 7] == 0x75, try codeUnit(bytes, from: start + 6) & 0xfc00 == 0xdc00
            else {
                throw .malformed(
                    at: start, found: "a lone surrogate",
                    expected: "a pair of a high and a low surrogate")
            }
            return start + 12
        default:
            throw .malformed(
                at: start, found: "a backslash without a valid escape",
                expected: "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
        }
    }

    /// Returns the code unit of `\uXXXX`. `start` is the backslash.
    private static func codeUnit(
        _ bytes: borrowing Span<UInt8>, from start: Int
    ) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for at in start + 2..<start + 6 {
            guard at < bytes.count, let digit = bytes[at].hexDigitValue else {
                throw .malformed(bytes, at: min(at, bytes.count), expected: "a hexadecimal digit")
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Returns the position after a well-formed UTF-8 sequence (Unicode 16, table 3-7) that isn't
    /// ASCII.
    private static func sequenceEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        let lead = bytes[start]
        let size: Int
        var lowest: UInt8 = 0x80
        var highest: UInt8 = 0xbf
        switch lead {
        case 0xc2...0xdf: size = 2
        case 0xe0: (size, lowest) = (3, 0xa0)
        case 0xed: (size, highest) = (3, 0x9f)
        case 0xe1...0xef: size = 3
        case 0xf0: (size, lowest) = (4, 0x90)
        case 0xf4: (size, highest) = (4, 0x8f)
        case 0xf1...0xf3: size = 4
        default: throw .malformed(at: start, found: "a byte that is not UTF-8", expected: "UTF-8")
        }
        guard start + size <= bytes.count else {
            throw .malformed(at: start, found: "a cut-off UTF-8 sequence", expected: "UTF-8")
        }
        var at = start &+ 1
        guard bytes[at] >= lowest, bytes[at] <= highest else {
            throw .malformed(at: start, found: "a sequence that is not UTF-8", expected: "UTF-8")
        }
        at &+= 1
        while at < start &+ size {
            guard bytes[at] & 0xc0 == 0x80 else {
                throw .malformed(
                    at: start, found: "a sequence that is not UTF-8", expected: "UTF-8")
            }
            at &+= 1
        }
        return at
    }

    /// Appends the unescaped content of a validated string.
    static func unescape(
        _ bytes: borrowing Span<UInt8>, in range: Range<Int>, into output: inout [UInt8]
    ) {
        var at = range.lowerBound
        while at < range.upperBound {
            let byte = bytes[at]
            guard byte == ASCII.backslash else {
                output.append(byte)
                at &+= 1
                continue
            }
            at &+= 2
            switch bytes[at - 1] {
            case 0x62: output.append(ASCII.backspace)
            case 0x66: output.append(ASCII.formFeed)
            case 0x6e: output.append(ASCII.lineFeed)
            case 0x72: output.append(ASCII.carriageReturn)
            case 0x74: output.append(ASCII.tab)
            case 0x75:
                var value = validCodeUnit(bytes, at: at)
                at &+= 4
                if value & 0xfc00 == 0xd800 {
                    value =
                        0x10000 + (value & 0x3ff) << 10 + validCodeUnit(bytes, at: at + 2) & 0x3ff
                    at &+= 6
                }
                guard let scalar = Unicode.Scalar(value) else { continue }  // impossible
                output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            case let other: output.append(other)
            }
        }
    }

    /// Returns the code unit of four hexadecimal digits.
    private static func validCodeUnit(_ bytes: borrowing Span<UInt8>, at start: Int) -> UInt32 {
        var unit: UInt32 = 0
        for at in start..<start + 4 { unit = unit << 4 | UInt32(bytes[at].hexDigitValue ?? 0) }
        return unit
    }
}
