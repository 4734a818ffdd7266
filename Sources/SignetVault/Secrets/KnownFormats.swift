import SignetBase

/// Recognises formats of text and bytes that look random: pins, UUIDs, hashes, certificates and
/// keys.
enum KnownFormats {
    /// Returns whether a text is a pin: `sha256/` and the base64 of 32 bytes.
    static func isPin(_ text: ArraySlice<UInt8>) -> Bool {
        text.count == 51 && text.starts(with: "sha256/".utf8) && text.last == UInt8(ascii: "=")
            && text.dropFirst(7).dropLast().allSatisfy(base64Bytes.contains)
    }

    /// Returns whether a text is a UUID (RFC 9562): hexadecimal digits in groups of 8, 4, 4, 4 and
    /// 12.
    static func isUUID(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        let groups = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy(\.isHexDigit)
    }

    /// Returns a text without the named hash at its end: `sha256:` and hexadecimal (container
    /// images), or `sha384-` and base64 (Subresource Integrity, section 3).
    static func removingHash(from text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        for (name, hex, base64) in [("sha256", 64, 44), ("sha384", 96, 64), ("sha512", 128, 88)] {
            let tail = text.suffix(name.utf8.count + 1 + hex)
            if tail.starts(with: "\(name):".utf8), tail.dropFirst(7).count == hex,
                tail.dropFirst(7).allSatisfy(\.isHexDigit)
            {
                return text[..<tail.startIndex]
            }
            let other = text.suffix(name.utf8.count + 1 + base64)
            if other.starts(with: "\(name)-".utf8), other.dropFirst(7).count == base64,
                other.dropFirst(7).allSatisfy({
                    base64Bytes.contains($0) || $0 == UInt8(ascii: "=")
                })
            {
                return text[..<other.startIndex]
            }
        }
        return text
    }

    private static let base64Bytes = ASCIISet(lettersDigitsAnd: "+/")
}
