import SignetBase

extension UInt8 {
    /// Whether the byte is allowed in a key after the first byte (RFC 9651, section 3.1.2).
    var isKey: Bool {
        isLowercaseLetter || isDigit || self == 0x5F || self == ASCII.minus || self == ASCII.dot
            || self == 0x2A
    }

    /// Whether the byte is a control character that a field value cannot contain: any but tab.
    var isControl: Bool { (self < 0x20 && self != ASCII.tab) || self == 0x7F }

    /// Whether the byte is allowed in a path or a query (RFC 3986). Percent signs are not included.
    var isPathOrQuery: Bool {
        isHostName || self == ASCII.slash || self == ASCII.question || self == ASCII.colon
            || self == ASCII.at
    }

    /// Whether the byte is allowed in a registered name (RFC 3986, section 3.2.2).
    var isHostName: Bool {
        switch self {
        case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true  // ! $ & ' ( ) * + , ; =
        default: isUnreserved
        }
    }

    /// Whether the byte is unreserved in URIs (RFC 3986, section 2.3).
    var isUnreserved: Bool {
        isLetterOrDigit || self == ASCII.minus || self == ASCII.dot || self == 0x5F || self == 0x7E
    }
}

extension [UInt8] {
    /// Whether the bytes are a key (RFC 9651, section 3.1.2).
    var isKey: Bool {
        guard let first, first.isLowercaseLetter || first == 0x2A else { return false }
        return allSatisfy(\.isKey)
    }

    /// Appends a text's UTF-8 bytes.
    mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    /// Appends a number in decimal.
    mutating func append(decimal number: Int64) {
        if number < 0 { append(ASCII.minus) }
        append(decimal: number.magnitude)
    }

    private mutating func append(decimal number: UInt64) {
        if number >= 10 { append(decimal: number / 10) }
        append(ASCII.zero + UInt8(number % 10))
    }

    /// Appends a String of RFC 9651, section 4.1.6. The bytes must be printable ASCII.
    mutating func append(quoted text: some Sequence<UInt8>) {
        append(ASCII.quote)
        for byte in text {
            if byte == ASCII.quote || byte == ASCII.backslash { append(ASCII.backslash) }
            append(byte)
        }
        append(ASCII.quote)
    }
}

extension String {
    /// Whether every character is printable ASCII, as a String of RFC 9651 requires.
    var isPrintableASCII: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }

    /// The text with ASCII letters in lower case.
    var asciiLowercased: String { String(decoding: utf8.map(\.lowercased), as: UTF8.self) }

    /// Whether both are equal except for the case of ASCII letters.
    func isSame(ignoringCaseOf other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let (bytes, others) = (utf8.span, other.utf8.span)
        for index in bytes.indices where bytes[index].lowercased != others[index].lowercased {
            return false
        }
        return true
    }

    /// The bytes with ASCII letters in lower case.
    var lowercasedBytes: [UInt8] {
        let source = utf8.span
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: source.count) { (target: inout OutputSpan<UInt8>) in
            for index in source.indices { target.append(source[index].lowercased) }
        }
        return bytes
    }

    /// Whether both are equal except for the case of ASCII letters; `lowercase` must be in lower
    /// case.
    func isSame(asLowercase lowercase: [UInt8]) -> Bool {
        guard utf8.count == lowercase.count else { return false }
        let bytes = utf8.span
        for index in bytes.indices where bytes[index].lowercased != lowercase[index] {
            return false
        }
        return true
    }
}
