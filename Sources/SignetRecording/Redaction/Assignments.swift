import SignetBase

/// Replaces the values that a text assigns to names which the rules call secret, in the manners of
/// most languages: `"iban": "…"`, `iban=…`, `<iban>…`, `login(password: "…")`.
struct Assignments {
    let judge: SecretJudge

    private static let longestName = 80
    private static let nameBytes = ASCIISet(lettersDigitsAnd: "_-.[]")

    func redacted(_ text: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        var result: [UInt8] = []
        var kept = 0
        var at = 0
        while let sign = text[at...].firstIndex(where: { Self.isSign($0) }) {
            at = sign + 1
            guard let name = name(before: sign, from: kept, in: text),
                let value = value(after: sign, of: name, in: text), !value.isEmpty,
                RedactionMark.number(of: text[value]) == nil,
                judge.isSecret(assigned: Array(name.trimming { $0 == ASCII.dot }))
            else { continue }
            let shown = String(decoding: name, as: UTF8.self)
            result += text[kept..<value.lowerBound]
            result += log.mark(text[value], at: "\(place).\(shown)").utf8
            kept = value.upperBound
            at = kept
        }
        return kept == 0 ? text : result + text[kept...]
    }

    /// Whether a text assigns a value to a secret's name.
    func hasSecret(_ text: [UInt8], in log: RedactionLog) -> Bool {
        var trial = log
        return redacted(text, at: "", in: &trial) != text
    }

    private static func isSign(_ byte: UInt8) -> Bool {
        byte == ASCII.equals || byte == ASCII.colon || byte == UInt8(ascii: ">")
    }

    private static func isQuote(_ byte: UInt8) -> Bool {
        byte == ASCII.quote || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`")
            || byte == ASCII.backslash
    }

    /// Returns the name in front of a sign, without its quotation marks; nil if there is none.
    private func name(before sign: Int, from start: Int, in text: [UInt8]) -> ArraySlice<UInt8>? {
        let head = text[Swift.max(start, sign - Self.longestName)..<sign]
        let end = head.suffix { $0.isBlank || Self.isQuote($0) || $0 == ASCII.colon }.startIndex
        let name = head[..<end].suffix { Self.nameBytes.contains($0) || $0 >= 0x80 }
        guard !name.isEmpty else { return nil }
        // The declaration of a variable in GraphQL, as in `($password: String!)`.
        let isDeclared =
            name.startIndex > 0 && text[name.startIndex - 1] == UInt8(ascii: "$")
            && text[sign] == ASCII.colon
            && text[(sign + 1)...].first { !$0.isBlank }?.isUppercaseLetter == true
        return isDeclared ? nil : name
    }

    /// Returns the place of the value after a sign: up to the quotation mark, the tag or the
    /// bracket that ends it, or to the end of the line.
    private func value(
        after sign: Int, of name: ArraySlice<UInt8>, in text: [UInt8]
    ) -> Range<Int>? {
        if text[sign] == UInt8(ascii: ">") {
            // `=>` and `->` assign too; `<name>` has a text.
            guard let before = text[..<name.startIndex].last, "<:".utf8.contains(before) else {
                return nil
            }
            let end = text[(sign + 1)...].firstIndex(of: UInt8(ascii: "<")) ?? text.count
            return trimmed(sign + 1..<end, in: text)
        }
        var start = sign + 1
        while start < text.count,
            XMLReader.isSpace(text[start]) || text[start] == ASCII.equals
                || text[start] == UInt8(ascii: ">")
        {
            start += 1
        }
        guard start < text.count else { return nil }
        // A quotation mark, perhaps escaped, ends at one of the same kind.
        let escapes = text[start...].prefix { $0 == ASCII.backslash }
        if escapes.endIndex < text.count, Self.isQuote(text[escapes.endIndex]) {
            let mark = Array(text[start...escapes.endIndex])
            return quoted(from: escapes.endIndex + 1, mark: mark, in: text)
        }
        if text[start] == ASCII.leftBrace || text[start] == ASCII.leftBracket {
            return start..<end(ofBracketAt: start, in: text)
        }
        let end = text[start...].firstIndex { byte in
            byte < 0x20 && byte != ASCII.tab || ",;&\"'`<>|)}]".utf8.contains(byte)
        }
        let value = trimmed(start..<(end ?? text.count), in: text)
        // A variable that the text declares.
        if text[value.lowerBound] == UInt8(ascii: "$"),
            text.firstRange(of: Array(text[value]) + [ASCII.colon]) != nil
        {
            return nil
        }
        return value
    }

    private func quoted(from start: Int, mark: [UInt8], in text: [UInt8]) -> Range<Int> {
        var at = start
        while at < text.count {
            let escapes = text[at...].prefix { $0 == ASCII.backslash }
            let next = escapes.endIndex
            guard next < text.count else { break }
            if text[next] == mark.last, escapes.count == mark.count - 1 { return start..<at }
            at = escapes.isEmpty ? next + 1 : next + (escapes.count.isMultiple(of: 2) ? 0 : 1)
        }
        return start..<text.count
    }

    private func end(ofBracketAt start: Int, in text: [UInt8]) -> Int {
        var depth = 0
        var isQuoted = false
        var at = start
        while at < text.count {
            switch text[at] {
            case ASCII.backslash: at += 1
            case ASCII.quote: isQuoted.toggle()
            case ASCII.leftBrace where !isQuoted, ASCII.leftBracket where !isQuoted: depth += 1
            case ASCII.rightBrace where !isQuoted, ASCII.rightBracket where !isQuoted:
                depth -= 1
                if depth == 0 { return at + 1 }
            default: break
            }
            at += 1
        }
        return text.count
    }

    private func trimmed(_ range: Range<Int>, in text: [UInt8]) -> Range<Int> {
        let part = text[range].trimming(XMLReader.isSpace)
        return part.isEmpty ? range.lowerBound..<range.lowerBound : part.startIndex..<part.endIndex
    }
}
