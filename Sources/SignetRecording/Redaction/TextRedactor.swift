import SignetBase
import SignetJSON

/// Replaces the secrets of one text, such as a string of JSON or the value of a field: also those
/// inside JSON, forms, assignments and URLs that the text has.
struct TextRedactor: NestedTexts {
    /// The depth of texts in texts.
    static let maximumDepth = 8

    let judge: SecretJudge
    var depth = 0

    /// Redacts texts in a text of this one.
    fileprivate var deeper: TextRedactor { TextRedactor(judge: judge, depth: depth + 1) }

    func redacted(
        _ bytes: [UInt8], named name: [UInt8], at place: @autoclosure () -> String,
        in log: inout RedactionLog
    ) -> [UInt8]? {
        guard !bytes.isEmpty, RedactionMark.number(of: bytes) == nil,
            !judge.isPlain(bytes[...], named: judge.judged(name)) || judge.known.occur(in: bytes),
            !judge.isClean(bytes, named: name)
        else { return nil }
        if judge.isSecret(member: name) { return Array(log.mark(bytes, at: place()).utf8) }
        let place = place()
        var text = judge.replacingKnown(bytes, at: place, in: &log)
        if let inner = inside(text, named: name, at: place, in: &log) {
            text = inner
        } else if judge.looksSecret(text, named: name) {
            return Array(log.mark(bytes, at: place).utf8)
        }
        guard text == bytes else { return text }
        judge.noteClean(bytes, named: name)
        return nil
    }

    /// Returns a text that has a form of its own without its secrets; nil if it is plain, or if
    /// something in it looks secret that no form explains.
    private func inside(
        _ text: [UInt8], named name: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8]? {
        guard depth < Self.maximumDepth else { return nil }
        if let json = JSONText(text) {
            return json.redacted(by: deeper, named: name, at: place, in: &log)
        }
        var result = text
        if PairsRedactor.isForm(text) {
            result = PairsRedactor(texts: deeper).redacted(text, at: place, in: &log)
        } else {
            if XMLRedactor.isXML(text) {
                result = XMLRedactor(texts: deeper).redacted(text, at: place, in: &log)
            }
            result = urls(result, at: place, in: &log)
        }
        result = Assignments(judge: judge).redacted(result, at: place, in: &log)
        return judge.looksSecret(result, named: name) ? nil : result
    }

    /// Returns a text without the secrets of the URLs in it.
    private func urls(_ text: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        var result: [UInt8] = []
        var kept = 0
        var at = 0
        while let colon = text[at...].firstIndex(of: ASCII.colon) {
            at = colon + 1
            guard text[at...].starts(with: "//".utf8) else { continue }
            let scheme = text[kept..<colon].suffix { $0.isLetterOrDigit }
            let end = text[(colon + 3)...].firstIndex(where: Self.endsURL) ?? text.count
            let url = Array(text[scheme.startIndex..<end])
            result += text[kept..<scheme.startIndex]
            result += URLRedactor(texts: deeper).redacted(url, at: place, in: &log)
            kept = end
            at = end
        }
        return kept == 0 ? text : result + text[kept...]
    }

    private static func endsURL(_ byte: UInt8) -> Bool {
        byte <= 0x20 || "\"'`<>\\{}|^".utf8.contains(byte)
    }
}

/// A JSON text, also behind a byte order mark, a guard such as `)]}'`, or the name of a function
/// that is called with it (JSONP).
struct JSONText {
    private let before: [UInt8]
    private let reader: JSONReader
    private let after: [UInt8]
    /// The longest text in front of the value.
    private static let longestPrefix = 256

    /// Returns nil for another text, and for a number or a word alone.
    init?(_ bytes: [UInt8]) {
        let start = bytes.hasByteOrderMark ? ByteOrderMark.bytes.count : 0
        guard let first = bytes[start...].firstIndex(where: { $0 > ASCII.space }) else {
            return nil
        }
        if Self.begins(bytes[first]) || bytes[first] == ASCII.quote {
            guard let reader = try? JSONReader(start == 0 ? bytes : Array(bytes[start...])) else {
                return nil
            }
            (before, self.reader, after) = (Array(bytes[..<start]), reader, [])
            return
        }
        guard let open = bytes[first...].prefix(Self.longestPrefix).firstIndex(where: Self.begins),
            let close = bytes.lastIndex(of: bytes[open] + 2), close > open,
            let reader = try? JSONReader(Array(bytes[open...close]))
        else { return nil }
        (before, self.reader, after) = (
            Array(bytes[..<open]), reader, Array(bytes[(close + 1)...])
        )
    }

    private static func begins(_ byte: UInt8) -> Bool {
        byte == ASCII.leftBrace || byte == ASCII.leftBracket
    }

    func redacted(
        by texts: TextRedactor, named name: [UInt8], at place: String,
        in log: inout RedactionLog
    ) -> [UInt8] {
        let redactor = JSONRedactor(reader, texts: texts.deeper, place: place)
        var result = redactor.redacted(named: name, in: &log)
        if !before.isEmpty || !after.isEmpty {
            let head =
                before == ByteOrderMark.bytes
                ? before : texts.redacted(before, named: [], at: place, in: &log) ?? before
            result =
                head + result
                + (texts.redacted(after, named: [], at: place, in: &log) ?? after)
        }
        // A value that goes beyond a string.
        return texts.judge.replacingKnown(result, at: place, in: &log)
    }
}

extension ArraySlice<UInt8> {
    /// The bytes at the end that meet a condition.
    func suffix(while isKept: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        guard let last = lastIndex(where: { !isKept($0) }) else { return self }
        return self[(last + 1)...]
    }
}
