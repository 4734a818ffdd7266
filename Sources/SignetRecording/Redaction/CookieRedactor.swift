import SignetBase

/// Replaces the values of cookies. Their names, and attributes that are by their grammar (RFC 6265,
/// section 4.1), stay.
struct CookieRedactor {
    let judge: SecretJudge

    /// `NAME=redacted-1; NAME=redacted-2`.
    func cookies(_ value: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        var result: [UInt8] = []
        let pairs = value.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)
        for (index, pair) in pairs.enumerated() {
            if index > 0 { result.append(ASCII.semicolon) }
            let inner = pair.trimmingBlanks()
            result += pair[..<inner.startIndex]
            result += cookie(inner, at: place, in: &log)
            result += pair[inner.endIndex...]
        }
        return result
    }

    private func mark(
        _ secret: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        secret.isEmpty ? [] : Array(log.mark(secret, at: place).utf8)
    }

    /// A cookie without a name that a browser would show is a secret as a whole.
    private func cookie(
        _ pair: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        let name = pair.prefix { $0 != ASCII.equals }
        guard name.endIndex < pair.endIndex, !name.isEmpty, name.allSatisfy(\.isToken),
            !judge.isSecret(name: Array(name)), !judge.looksSecret(Array(name), named: [])
        else { return mark(pair, at: place, in: &log) }
        let value = pair[(name.endIndex + 1)...]
        let shown = String(decoding: name, as: UTF8.self)
        return name + [ASCII.equals] + mark(value, at: "\(place).\(shown)", in: &log)
    }

    /// Cookies, one a line, as recordings of browsers have them.
    func setCookies(_ value: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        var result: [UInt8] = []
        let lines = value.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if index > 0 { result.append(ASCII.lineFeed) }
            result += setCookie(line, at: place, in: &log)
        }
        return result
    }

    /// `NAME=redacted-1; Path=/; HttpOnly`.
    private func setCookie(
        _ line: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        var result: [UInt8] = []
        let parts = line.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index > 0 { result.append(ASCII.semicolon) }
            let inner = part.trimming(XMLReader.isSpace)
            result += part[..<inner.startIndex]
            result +=
                index == 0
                ? cookie(inner, at: place, in: &log) : attribute(inner, at: place, in: &log)
            result += part[inner.endIndex...]
        }
        return result
    }

    private func attribute(
        _ attribute: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        let name = attribute.prefix { $0 != ASCII.equals }
        let value = name.endIndex < attribute.endIndex ? attribute[(name.endIndex + 1)...] : nil
        let known = String(decoding: name.map(\.lowercased), as: UTF8.self)
        guard Self.names.contains(known) else { return mark(attribute, at: place, in: &log) }
        guard let value, !value.isEmpty, !isPlain(value, of: known) else {
            return Array(attribute)
        }
        return name + [ASCII.equals] + mark(value, at: place, in: &log)
    }

    private static let names: Set<String> = [
        "path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "partitioned",
        "priority", "version",
    ]
    private static let pathBytes = ASCIISet(lettersDigitsAnd: "/-._~%")
    private static let hostBytes = ASCIISet(lettersDigitsAnd: ".-")

    /// Whether a value is by the grammar of its attribute, and doesn't look secret.
    private func isPlain(_ value: ArraySlice<UInt8>, of name: String) -> Bool {
        if RedactionMark.number(of: value) != nil { return true }
        let text = String(decoding: value.map(\.lowercased), as: UTF8.self)
        return switch name {
        case "path":
            value.first == ASCII.slash && value.allSatisfy(Self.pathBytes.contains)
                && !judge.looksSecret(Array(value), named: [])
        case "domain":
            value.count <= 253 && value.allSatisfy(Self.hostBytes.contains)
                && !judge.looksSecret(Array(value), named: [])
        case "expires": Self.isDate(value)
        case "max-age":
            value.count <= 20 && value.drop { $0 == ASCII.minus }.allSatisfy(\.isDigit)
        case "samesite": ["strict", "lax", "none"].contains(text)
        case "priority": ["low", "medium", "high"].contains(text)
        case "version": value.count == 1 && value.allSatisfy(\.isDigit)
        default: false
        }
    }

    /// `Wed, 21 Oct 2026 07:28:00 GMT`, in the manners of RFC 9110, section 5.6.7.
    private static func isDate(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.count <= 40 else { return false }
        let words = value.split { $0 == ASCII.space || $0 == ASCII.comma || $0 == ASCII.minus }
        return words.count <= 6
            && words.allSatisfy { word in
                word.count <= 4 && word.allSatisfy(\.isDigit)
                    || word.count == 8 && word.filter { $0 == ASCII.colon }.count == 2
                        && word.allSatisfy { $0.isDigit || $0 == ASCII.colon }
                    || dateWords.contains(String(decoding: word.map(\.lowercased), as: UTF8.self))
            }
    }

    private static let dateWords: Set<String> = [
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday",
        "thursday", "friday", "saturday", "sunday", "jan", "feb", "mar", "apr", "may", "jun",
        "jul", "aug", "sep", "oct", "nov", "dec", "gmt", "utc",
    ]
}
