import SignetBase

/// Replaces the secrets of the pairs of a query or a form. A value that has a secret is replaced as
/// a whole; all else keeps its bytes and its encoding.
struct PairsRedactor {
    /// Redacts the values.
    let texts: any NestedTexts
    private var judge: SecretJudge { texts.judge }

    private static let nameBytes = ASCIISet(lettersDigitsAnd: "_-.[]%+*:$")

    /// Whether a text of one line is a form, whatever its type says: a name, a sign and a value.
    static func isForm(_ text: [UInt8]) -> Bool {
        let line = text.trimming(XMLReader.isSpace)
        let name = line.prefix { nameBytes.contains($0) }
        guard !name.isEmpty, name.endIndex < line.endIndex, line[name.endIndex] == ASCII.equals
        else { return false }
        return !line.contains { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }
    }

    func redacted(_ text: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        guard !text.isEmpty else { return text }
        var result: [UInt8] = []
        let separator = UInt8(ascii: "&")
        for (index, pair) in text.split(
            separator: separator, omittingEmptySubsequences: false
        ).enumerated() {
            if index > 0 { result.append(separator) }
            let inner = pair.trimming(XMLReader.isSpace)
            guard !inner.isEmpty else {
                result += pair
                continue
            }
            result += pair[..<inner.startIndex]
            result += self.pair(inner, at: place, in: &log)
            result += pair[inner.endIndex...]
        }
        return result
    }

    /// Returns a name and its value, or a text without a name.
    func pair(
        _ pair: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        let encodedName = pair.prefix { $0 != ASCII.equals }
        guard encodedName.endIndex < pair.endIndex else {
            guard texts.hasSecret(Self.decoded(pair), named: [], in: log) else {
                return Array(pair)
            }
            return Array(log.mark(pair, at: place).utf8)
        }
        let name = Self.decoded(encodedName)
        if judge.judged(name).isSecret { return Array(log.mark(pair, at: place).utf8) }
        let encoded = pair[(encodedName.endIndex + 1)...]
        let value = Self.decoded(encoded)
        guard !value.isEmpty, RedactionMark.number(of: value) == nil,
            judge.isSecret(parameter: name) || texts.hasSecret(value, named: name, in: log)
        else { return Array(pair) }
        let shown = String(decoding: name, as: UTF8.self)
        return encodedName + [ASCII.equals] + log.mark(value, at: "\(place).\(shown)").utf8
    }

    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        PercentCoding.appendDecoded(text, plusIsSpace: true, to: &bytes)
        return bytes
    }
}
