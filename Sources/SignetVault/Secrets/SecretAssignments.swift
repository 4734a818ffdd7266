internal import SignetBase
import SignetJSON

/// Finds assignments of secrets in a text: `password=…`, `api-key: …`, `<token>…`, `--token …`.
enum SecretAssignments {
    /// Returns whether a text assigns a literal to a name that suggests a secret.
    static func areContained(in text: ArraySlice<UInt8>) -> Bool {
        var seen: Set<String> = []
        for position in text.indices {
            let sign = text[position]
            guard sign == 0x3D || sign == 0x3A || sign == 0x3E,
                let name = name(before: position, in: text),
                let value = value(after: position, in: text), isLiteral(value, minimumCount: 3)
            else { continue }
            let words = String(decoding: name, as: UTF8.self)
            guard seen.insert("\(words)\(value.allSatisfy(\.isDigit))").inserted else { continue }
            if cookieNames.contains(words.lowercased()) { return true }
            if SecretName(words).isSecret(of: self.value(of: value)) { return true }
        }
        return isOption(in: text)
    }

    private static let cookieNames: Set<String> = [
        "jsessionid", "phpsessid", "sessionid", "session", "sid", "connect.sid",
    ]

    /// Returns the name that a sign follows, or nil.
    private static func name(
        before position: Int, in text: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        let head = text[..<position].suffix(80)
        let name = head.trimmingSuffix { $0.isBlank || isQuote($0) }
            .reversed().prefix { nameBytes.contains($0) || $0 >= 0x80 }
        guard (2...64).contains(name.count) else { return nil }
        let end = name.startIndex.base
        let start = name.endIndex.base
        switch text[position] {
        case UInt8(ascii: ">"):
            return text[..<start].last == UInt8(ascii: "<") ? text[start..<end] : nil
        case UInt8(ascii: ":"):
            // Only at the start of a line or member: a sentence may have a colon anywhere.
            let before = text[..<start].suffix(16).trimmingSuffix { $0.isBlank || isQuote($0) }
                .trimmingSuffix { $0 == UInt8(ascii: "-") || $0.isBlank }
            guard let last = before.last else {
                return start - text.startIndex < 16 ? text[start..<end] : nil
            }
            return "\n\r,;{(|=".utf8.contains(last) ? text[start..<end] : nil
        default: return text[start..<end]
        }
    }

    /// Returns the value that follows a sign, or nil for a comparison or a URL.
    private static func value(
        after position: Int, in text: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        let rest = text[(position + 1)...]
        guard rest.first != UInt8(ascii: "="), !rest.starts(with: "//".utf8) else { return nil }
        return rest.prefix(256).drop { $0.isBlank || isQuote($0) }
            .prefix { $0 > 0x20 && !",;\"'`&|<>".utf8.contains($0) }
    }

    /// Returns whether a command has an option such as `--token VALUE` or `-u USER:PASSWORD`, or
    /// a text is a line of .netrc.
    private static func isOption(in text: ArraySlice<UInt8>) -> Bool {
        let words = text.split { $0.isBlank || $0 == 0x0A || $0 == 0x0D }
        let isNetrc = ["machine", "default"].contains {
            words.first?.elementsEqual($0.utf8) == true
        }
        let isSSHPass = words.contains { $0.elementsEqual("sshpass".utf8) }
        return zip(words, words.dropFirst()).contains { option, value in
            guard value.first != UInt8(ascii: "-"), isLiteral(value, minimumCount: 3) else {
                return false
            }
            if isNetrc, option.elementsEqual("password".utf8) { return true }
            if isQuote(value[value.startIndex]) {
                // SQL: `PASSWORD '…'`, `IDENTIFIED BY '…'`.
                let word = String(decoding: option.prefix(16).map(\.lowercased), as: UTF8.self)
                if word == "password" || word == "by" { return true }
            }
            if isSSHPass, option.elementsEqual("-p".utf8) { return true }
            if option.elementsEqual("-u".utf8) || option.elementsEqual("--user".utf8) {
                return value.contains(UInt8(ascii: ":"))
            }
            guard option.starts(with: "--".utf8), option.count <= 64 else { return false }
            return SecretName(String(decoding: option.dropFirst(2), as: UTF8.self))
                .isSecret(of: self.value(of: value))
        }
    }

    // MARK: - Values

    /// Returns the value as the type that its text has.
    static func value(of text: ArraySlice<UInt8>) -> JSONValue {
        let text = String(decoding: text, as: UTF8.self)
        return JSONNumber(text: text).map(JSONValue.number) ?? .string(text)
    }

    /// Returns whether a value is a literal, not a placeholder, a pattern or a word such as "true".
    static func isLiteral(_ value: ArraySlice<UInt8>, minimumCount: Int) -> Bool {
        guard value.count >= minimumCount, let first = value.first else { return false }
        let rest = value.dropFirst()
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "<"), UInt8(ascii: "["), UInt8(ascii: "("),
            UInt8(ascii: "\\"), UInt8(ascii: "="):
            return false
        case UInt8(ascii: "$"):
            guard let next = rest.first, next.isLetter || next == UInt8(ascii: "_") else {
                return rest.first.map { !"{($".utf8.contains($0) } ?? false
            }
            // `$NAME` and `$name` are variables; `$ecret99` isn't.
            let isUpper = rest.allSatisfy {
                $0.isUppercaseLetter || $0.isDigit || $0 == UInt8(ascii: "_")
            }
            return !isUpper
                && !rest.allSatisfy { $0.isLowercaseLetter || $0 == UInt8(ascii: "_") }
        case UInt8(ascii: "%"):
            if rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(\.isHexDigit) { return true }
            return value.count > 3 && rest.first.map { !"({".utf8.contains($0) } ?? false
        case UInt8(ascii: "*"), UInt8(ascii: "."):
            return !rest.allSatisfy { "*.+?)$".utf8.contains($0) }
        default: return !harmless.contains { $0.elementsEqual(value.map(\.lowercased)) }
        }
    }

    /// Values that are not a secret after such a name, as in templates.
    private static let harmless = [
        "true", "false", "yes", "no", "null", "none", "nil", "required", "optional", "string",
    ].map { Array($0.utf8) }

    private static func isQuote(_ byte: UInt8) -> Bool { "\"'`\\".utf8.contains(byte) }

    private static let nameBytes = ASCIISet(lettersDigitsAnd: "_-.")
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingSuffix(while isDropped: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var slice = self
        while let last = slice.last, isDropped(last) { slice.removeLast() }
        return slice
    }
}
