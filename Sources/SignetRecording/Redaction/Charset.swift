import SignetBase

/// Reads texts that aren't UTF-8, so that secrets are found in them too.
enum Charset {
    /// Returns the UTF-8 of a body in another charset; nil for UTF-8, and for bytes that aren't
    /// text.
    ///
    /// A byte order mark decides, then the charset of the media type, then the zeros that UTF-16
    /// has between the characters of ASCII.
    static func utf8(of bytes: [UInt8], type: MediaType) -> [UInt8]? {
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) { return utf32(bytes[4...], isBig: false) }
        if bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return utf32(bytes[4...], isBig: true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes[2...], isBig: false) }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes[2...], isBig: true) }
        let start = bytes.prefix(256)
        let zeros = start.indices.filter { start[$0] == 0 }
        if zeros.count * 5 > start.count * 3 { return utf32(bytes[...], isBig: bytes[0] == 0) }
        if zeros.count * 4 > start.count {
            return utf16(
                bytes[...],
                isBig: zeros.count { $0.isMultiple(of: 2) } * 2 > zeros.count)
        }
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        switch type.charset {
        case "utf-16", "utf-16be", "ucs-2", "csutf16": return utf16(bytes[...], isBig: true)
        case "utf-16le": return utf16(bytes[...], isBig: false)
        case "utf-32", "utf-32be": return utf32(bytes[...], isBig: true)
        case "utf-32le": return utf32(bytes[...], isBig: false)
        // Each byte is a character in the charsets of one byte; the letters that differ between
        // them decide nothing.
        case _ where type.isText || !type.charset.isEmpty: return latin1(bytes)
        default: return nil
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isBig: Bool) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var at = bytes.startIndex
        while at + 1 < bytes.endIndex {
            let (first, second) = (UInt16(bytes[at]), UInt16(bytes[at + 1]))
            units.append(isBig ? first << 8 | second : second << 8 | first)
            at += 2
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private static func utf32(_ bytes: ArraySlice<UInt8>, isBig: Bool) -> [UInt8] {
        var units: [UInt32] = []
        var at = bytes.startIndex
        while at + 3 < bytes.endIndex {
            let four = bytes[at..<at + 4]
            units.append(
                isBig
                    ? four.reduce(0) { $0 << 8 | UInt32($1) }
                    : four.reversed().reduce(0) { $0 << 8 | UInt32($1) })
            at += 4
        }
        return Array(String(decoding: units, as: UTF32.self).utf8)
    }

    private static func latin1(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
    }
}
