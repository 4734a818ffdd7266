import SignetBase
import SignetJSON

/// Finds assignments of secrets in a text: `password=…`, `api-key: …`, `<token>…`.
enum SecretAssignments {
    /// Returns whether a text assigns a literal to a name that suggests a secret.
    static func areContained(in text: ArraySlice<UInt8>) -> Bool {
        var seen: Set<String> = []
        let shortest = isConnection(text) ? 1 : 3
        for position in text.indices {
            let sign = text[position]
            guard sign == 0x3D || sign == 0x3A || sign == 0x3E,
                let name = name(before: position, in: text),
                let value = value(after: position, in: text),
                isLiteral(value, minimumCount: shortest) || sign == 0x3D && opensBracket(value)
            else { continue }
            let words = String(decoding: name, as: UTF8.self)
            guard seen.insert("\(words)\(value.allSatisfy(\.isDigit))").inserted else { continue }
            if cookieNames.contains(words.lowercased()) { return true }
            if SecretName(words).isSecret(of: self.value(of: value)) { return true }
        }
        return false
    }

    /// Returns whether a text is the parameters of a connection to a database: two assignments or
    /// more, and one is of a server or a user. A password in it may have one character.
    private static func isConnection(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count <= 4096, text.count(where: { $0 == UInt8(ascii: "=") }) >= 2 else {
            return false
        }
        let text = text.map(\.lowercased)[...]
        return ["user", "uid", "host=", "server=", "source=", "ssl="].contains {
            text.firstPosition(of: $0) != nil
        }
    }

    /// Returns whether a value starts with a bracket that isn't closed, and isn't a template.
    private static func opensBracket(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.count >= 2, let first = value.first, "{[".utf8.contains(first),
            value.dropFirst().first?.isLetterOrDigit == true, value.last != UInt8(ascii: ":")
        else { return false }
        return !value.contains(first + 2)
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

    static func isQuote(_ byte: UInt8) -> Bool { "\"'`\\".utf8.contains(byte) }

    private static let nameBytes = ASCIISet(lettersDigitsAnd: "_-.")
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingSuffix(while isDropped: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var slice = self
        while let last = slice.last, isDropped(last) { slice.removeLast() }
        return slice
    }
}
