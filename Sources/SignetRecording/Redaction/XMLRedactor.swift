import SignetBase

/// Replaces the secrets of XML, SOAP and HTML by local names: texts of elements, CDATA, attributes
/// and comments. It reads also what isn't well-formed, and what isn't secret keeps its bytes.
struct XMLRedactor {
    /// The number of elements around a place whose names count.
    static let maximumDepth = 256

    /// Redacts texts and values of attributes.
    let texts: any NestedTexts
    var judge: SecretJudge { texts.judge }

    /// Whether a text begins as XML or HTML does.
    static func isXML(_ text: [UInt8]) -> Bool {
        let start = text.hasByteOrderMark ? ByteOrderMark.bytes.count : 0
        guard let first = text[start...].firstIndex(where: { !XMLReader.isSpace($0) }),
            text[first] == UInt8(ascii: "<"), first + 1 < text.count
        else { return false }
        return text[first + 1].isLetter || "?!".utf8.contains(text[first + 1])
    }

    func redacted(_ text: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        var walk = Walk(text: text, redactor: self, place: place)
        return walk.run(in: &log)
    }

    /// The decoded text of a part: CDATA as it is, and XML's own entities.
    static func decoded(_ part: ArraySlice<UInt8>) -> [UInt8] {
        guard part.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }) else {
            return Array(part)
        }
        var result: [UInt8] = []
        var rest = part
        let (open, close) = (Array("<![CDATA[".utf8), Array("]]>".utf8))
        while let start = rest.firstRange(of: open) {
            appendDecoded(rest[..<start.lowerBound], to: &result)
            let inner = rest[start.upperBound...]
            let end = inner.firstRange(of: close)
            result += inner[..<(end?.lowerBound ?? inner.endIndex)]
            rest = inner[(end?.upperBound ?? inner.endIndex)...]
        }
        appendDecoded(rest, to: &result)
        return result
    }

    private static func appendDecoded(_ part: ArraySlice<UInt8>, to result: inout [UInt8]) {
        var at = part.startIndex
        while at < part.endIndex {
            guard part[at] == UInt8(ascii: "&"),
                let end = part[at...].prefix(12).firstIndex(of: ASCII.semicolon),
                let character = character(named: part[(at + 1)..<end])
            else {
                result.append(part[at])
                at += 1
                continue
            }
            result += character
            at = end + 1
        }
    }

    private static let entities: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ",
    ]

    private static func character(named name: ArraySlice<UInt8>) -> [UInt8]? {
        let name = String(decoding: name, as: UTF8.self)
        if let text = entities[name] { return Array(text.utf8) }
        guard name.utf8.first == UInt8(ascii: "#") else { return nil }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" || digits.first == "X"
            ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) }
    }

    /// A name without its prefix.
    static func local(_ name: ArraySlice<UInt8>) -> [UInt8] {
        Array(name.suffix { $0 != ASCII.colon })
    }
}

/// The walk through one text.
private struct Walk {
    /// A tag with its attributes.
    private struct Tag {
        var name: [UInt8]
        var attributes: [(name: [UInt8], value: Range<Int>)] = []
        var isEmpty = false
        var end: Int
    }

    let text: [UInt8]
    let redactor: XMLRedactor
    let place: String
    private var result: [UInt8] = []
    private var at = 0
    /// The end of the part that was written.
    private var kept = 0
    private var names: [[UInt8]] = []
    /// The name that an attribute gave to the present element's value: `<param name="iban">`.
    private var named: [UInt8] = []

    init(text: [UInt8], redactor: XMLRedactor, place: String) {
        self.text = text
        self.redactor = redactor
        self.place = place
    }

    mutating func run(in log: inout RedactionLog) -> [UInt8] {
        while let open = nextTag(from: at) { step(over: open, in: &log) }
        flush(to: text.count, in: &log)
        return kept == 0 ? text : result + text[kept...]
    }

    /// Reads to the end of the tag that begins at a place.
    private mutating func step(over open: Int, in log: inout RedactionLog) {
        flush(to: open, in: &log)
        if text[open...].starts(with: "<!--".utf8) {
            at = after("-->", from: open)
            let inner = open + 4..<max(open + 4, at - 3)
            replace(inner, redactedText(inner, named: [], in: &log), in: &log)
        } else if text[open + 1] == UInt8(ascii: "?") || text[open + 1] == UInt8(ascii: "!") {
            at = after(">", from: open)
            let inner = open + 2..<max(open + 2, at - 1)
            replace(inner, redactedText(inner, named: [], in: &log), in: &log)
        } else if text[open + 1] == ASCII.slash {
            at = after(">", from: open)
            let name = XMLRedactor.local(
                text[(open + 2)..<at].prefix { $0 != UInt8(ascii: ">") && !XMLReader.isSpace($0) })
            if let index = names.lastIndex(of: name) { names.removeSubrange(index...) }
            named = []
        } else {
            let tag = tag(from: open)
            at = tag.end
            redactAttributes(of: tag, in: &log)
            guard !tag.isEmpty else { return }
            if redactor.judge.isSecret(assigned: tag.name)
                || !named.isEmpty && redactor.judge.isSecret(assigned: named)
            {
                let end = close(of: tag.name, from: at)
                let inner = text[at..<end].trimming(XMLReader.isSpace)
                if !inner.isEmpty, RedactionMark.number(of: inner) == nil {
                    let shown = String(decoding: named.isEmpty ? tag.name : named, as: UTF8.self)
                    let mark = log.mark(inner, at: "\(place).\(shown)")
                    replace(inner.startIndex..<inner.endIndex, Array(mark.utf8), in: &log)
                }
                at = end
            } else if names.count < XMLRedactor.maximumDepth {
                names.append(tag.name)
            }
        }
    }

    /// Writes the text up to a place, without its secrets. CDATA is a part of a text.
    private mutating func flush(to end: Int, in log: inout RedactionLog) {
        guard at < end else { return }
        let inner = text[at..<end].trimming(XMLReader.isSpace)
        guard !inner.isEmpty else { return }
        let range = inner.startIndex..<inner.endIndex
        replace(range, redactedText(range, named: path, in: &log), in: &log)
    }

    /// The names on the way, joined by dots.
    private var path: [UInt8] {
        let names = named.isEmpty ? names[...] : names + [named]
        return Array(names.suffix(4).joined(separator: [ASCII.dot]))
    }

    private mutating func replace(_ range: Range<Int>, _ new: [UInt8]?, in log: inout RedactionLog)
    {
        guard let new else { return }
        result += text[kept..<range.lowerBound] + new
        kept = range.upperBound
    }

    /// Returns an escaped text without secrets; nil if it has none.
    private func redactedText(
        _ range: Range<Int>, named name: [UInt8], in log: inout RedactionLog
    ) -> [UInt8]? {
        let plain = XMLRedactor.decoded(text[range])
        let shown = String(decoding: name, as: UTF8.self)
        let place = name.isEmpty ? place : "\(place).\(shown)"
        guard let redacted = redactor.texts.redacted(plain, named: name, at: place, in: &log) else {
            return nil
        }
        return Array(XMLReader.escaped(String(decoding: redacted, as: UTF8.self)).utf8)
    }

    // MARK: Tags

    /// The next `<` that begins a tag, and not a section of CDATA.
    private func nextTag(from start: Int) -> Int? {
        var at = start
        while let open = text[at...].firstIndex(of: UInt8(ascii: "<")) {
            guard open + 1 < text.count else { return nil }
            if text[open...].starts(with: "<![CDATA[".utf8) {
                at = after("]]>", from: open)
            } else if text[open + 1].isLetter || "/?!_:".utf8.contains(text[open + 1])
                || text[open + 1] >= 0x80
            {
                return open
            } else {
                at = open + 1
            }
        }
        return nil
    }

    private func after(_ end: String, from start: Int) -> Int {
        text[start...].firstRange(of: Array(end.utf8))?.upperBound ?? text.count
    }

    /// The beginning of the end tag of an element, past those of its name inside it.
    private func close(of name: [UInt8], from start: Int) -> Int {
        var depth = 1
        var at = start
        while let open = nextTag(from: at) {
            if text[open + 1] == ASCII.slash {
                let end = XMLRedactor.local(
                    text[(open + 2)...].prefix {
                        $0 != UInt8(ascii: ">") && !XMLReader.isSpace($0)
                    })
                if end == name { depth -= 1 }
                if depth == 0 { return open }
                at = open + 2
            } else {
                let tag = tag(from: open)
                if tag.name == name, !tag.isEmpty { depth += 1 }
                at = max(tag.end, open + 1)
            }
        }
        return text.count
    }

    private func tag(from open: Int) -> Tag {
        func isEnd(_ byte: UInt8) -> Bool {
            XMLReader.isSpace(byte) || "/>=".utf8.contains(byte)
        }
        var at = open + 1
        let name = text[at...].prefix { !isEnd($0) }
        var tag = Tag(name: XMLRedactor.local(name), end: text.count)
        at = name.endIndex
        while at < text.count {
            if text[at] == UInt8(ascii: ">") {
                tag.end = at + 1
                return tag
            }
            if isEnd(text[at]) {
                tag.isEmpty =
                    text[at] == ASCII.slash && at + 1 < text.count
                    && text[at + 1] == UInt8(ascii: ">")
                at += 1
                continue
            }
            let name = text[at...].prefix { !isEnd($0) }
            let sign = text[name.endIndex...].drop(while: XMLReader.isSpace)
            at = name.endIndex
            guard sign.first == ASCII.equals else { continue }
            let value = sign.dropFirst().drop(while: XMLReader.isSpace)
            guard let quote = value.first else { break }
            let isQuoted = quote == ASCII.quote || quote == UInt8(ascii: "'")
            let inner =
                isQuoted
                ? value.dropFirst().prefix { $0 != quote }
                : value.prefix { !XMLReader.isSpace($0) && $0 != UInt8(ascii: ">") }
            tag.attributes.append((XMLRedactor.local(name), inner.startIndex..<inner.endIndex))
            at = min(inner.endIndex + (isQuoted ? 1 : 0), text.count)
        }
        return tag
    }

    private mutating func redactAttributes(of tag: Tag, in log: inout RedactionLog) {
        // `<input name="iban" value="…">` names its value.
        let naming: [[UInt8]] = ["name", "key", "id", "field"].map { Array($0.utf8) }
        named =
            tag.attributes.first { naming.contains($0.name) && !$0.value.isEmpty }
            .map { XMLRedactor.decoded(text[$0.value]) } ?? []
        for (name, range) in tag.attributes where !range.isEmpty {
            let isValue = name.elementsEqual("value".utf8) || name.elementsEqual("content".utf8)
            let names = [names.last ?? [], isValue && !named.isEmpty ? named : name]
                .filter { !$0.isEmpty }
            let path = Array(names.joined(separator: [ASCII.dot]))
            if redactor.judge.isSecret(assigned: isValue ? named : name),
                RedactionMark.number(of: text[range]) == nil
            {
                let shown = String(decoding: path, as: UTF8.self)
                let mark = log.mark(text[range], at: "\(place).\(shown)")
                replace(range, Array(mark.utf8), in: &log)
            } else {
                replace(range, redactedText(range, named: path, in: &log), in: &log)
            }
        }
        if tag.isEmpty { named = [] }
    }
}
