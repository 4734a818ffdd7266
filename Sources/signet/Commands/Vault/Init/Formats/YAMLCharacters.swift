#if Tool
import SignetVault

/// The characters that the parser changes although YAML 1.2 takes them for text (sections 5.2 and
/// 5.4).
///
/// It takes three of them for line breaks, as YAML 1.1 does, and drops a byte-order mark at the
/// beginning of a line or of a scalar, where it may also be an escape. It refuses the escapes of
/// two surrogates, with which JSON writes a character above U+FFFF, although YAML 1.2 has every
/// text of JSON. While it reads the text, other characters replace them.
struct YAMLCharacters {
    private static let changed: Set<Unicode.Scalar> = [
        "\u{85}", "\u{2028}", "\u{2029}", byteOrderMark,
    ]
    private static let byteOrderMark: Unicode.Scalar = "\u{FEFF}"

    /// The text for the parser.
    let masked: String
    /// The part of the text in the place of each replacement.
    private var originals: [Unicode.Scalar: Substring] = [:]

    /// Replaces the characters that the text has.
    init(masking text: String) throws(MalformedSource) {
        let parts = Self.parts(of: text)
        var replacements: [Substring: Unicode.Scalar] = [:]
        let found = Set(parts.filter(\.isChanged).map(\.text))
        if !found.isEmpty {
            for (part, other) in zip(found, try UnusedCharacters.choose(found.count, for: text)) {
                replacements[part] = other
                originals[other] = part
            }
        }
        var masked = ""
        for part in parts {
            if part.isChanged, let other = replacements[part.text] {
                masked.unicodeScalars.append(other)
            } else {
                masked += part.text
            }
        }
        self.masked = masked
    }

    /// Returns a scalar that the parser read, with its own characters.
    func restored(_ text: String, isDoubleQuoted: Bool) -> String {
        guard !originals.isEmpty else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard let original = originals[scalar] else {
                result.append(scalar)
                continue
            }
            if isDoubleQuoted, let escaped = Self.escape(at: original.unicodeScalars) {
                result.append(escaped.scalar)
            } else {
                result.append(contentsOf: original.unicodeScalars)
            }
        }
        return String(result)
    }

    /// Splits a text before and after each character, or escape of one, that the parser changes.
    private static func parts(of text: String) -> [(text: Substring, isChanged: Bool)] {
        let scalars = text.unicodeScalars
        var parts: [(text: Substring, isChanged: Bool)] = []
        var start = scalars.startIndex
        var index = start
        while index < scalars.endIndex {
            var isChanged = changed.contains(scalars[index])
            var end = scalars.index(after: index)
            if scalars[index] == "\\", end < scalars.endIndex {
                if scalars[end] == "\\" {
                    end = scalars.index(after: end)
                } else if let escape = escape(at: scalars[index...]) {
                    isChanged = true
                    end = escape.end
                }
            }
            if isChanged {
                parts += [(text[start..<index], false), (text[index..<end], true)]
                start = end
            }
            index = end
        }
        return parts + [(text[start...], false)]
    }

    /// Returns the character and the end of the escape that a text begins with, if the parser
    /// changes or refuses it.
    private static func escape(
        at text: Substring.UnicodeScalarView
    ) -> (scalar: Unicode.Scalar, end: String.Index)? {
        guard let first = unit(at: text) else { return nil }
        if first.value == byteOrderMark.value { return (byteOrderMark, first.end) }
        guard UTF16.isLeadSurrogate(UInt16(truncatingIfNeeded: first.value)), !first.isLong,
            let second = unit(at: text[first.end...]), !second.isLong,
            UTF16.isTrailSurrogate(UInt16(truncatingIfNeeded: second.value)),
            let scalar = Unicode.Scalar(
                0x10000 + (first.value - 0xD800) << 10 + (second.value - 0xDC00))
        else { return nil }
        return (scalar, second.end)
    }

    /// Returns the number and the end of an escape `\uXXXX` or `\UXXXXXXXX`.
    private static func unit(
        at text: Substring.UnicodeScalarView
    ) -> (value: UInt32, isLong: Bool, end: String.Index)? {
        let isLong = text.starts(with: #"\U"#.unicodeScalars)
        guard isLong || text.starts(with: #"\u"#.unicodeScalars) else { return nil }
        let digits = text.dropFirst(2).prefix(isLong ? 8 : 4)
        guard digits.count == (isLong ? 8 : 4), digits.allSatisfy(\.properties.isASCIIHexDigit),
            let value = UInt32(String(digits), radix: 16)
        else { return nil }
        return (value, isLong, digits.endIndex)
    }
}
#endif
