internal import SignetJSON

/// Fields that are signed, nonces, and the places where texts stand.
extension SchemeParser {
    private enum Spaces: String, CaseIterable { case keep, collapse }
    private enum Duplicates: String, CaseIterable { case keep, sort }

    func headerRule(_ rule: SchemeReader) throws(SigningError) -> CompiledScheme.HeaderRule {
        try rule.demand(["select", "except", "required", "spaces", "duplicates"])
        let star = UInt8(ascii: "*")
        func names(
            _ member: String, _ texts: [(text: String, place: String)], stars: Bool
        ) throws(SigningError) -> [[UInt8]] {
            var names: [[UInt8]] = []
            for (text, place) in texts {
                let name = text.utf8.map(\.lowercased)
                let plain = stars && name.last == star ? name.dropLast() : name[...]
                guard !name.isEmpty, plain.allSatisfy({ $0.isToken && $0 != star }) else {
                    throw SchemeReader.wrong(
                        .string(text), at: place,
                        wanted: "a field's name" + (stars ? ", its beginning and *, or *" : ""))
                }
                names.append(name)
            }
            return names
        }
        let count = 0...SchemeLimits.names
        let select = try names(
            "select", rule.texts("select", 1...SchemeLimits.names), stars: true)
        let except = try names("except", rule.optionalTexts("except", count) ?? [], stars: false)
        let required = try rule.optionalTexts("required", count) ?? []
        let spaces: Spaces = try rule.choice("spaces", else: .keep)
        let duplicates: Duplicates = try rule.choice("duplicates", else: .keep)
        let made = CompiledScheme.HeaderRule(
            names: select.filter { $0.last != star },
            prefixes: select.filter { $0.last == star && $0.count > 1 }.map { $0.dropLast() },
            selectsAll: select.contains([star]), except: except,
            required: try names("required", required, stars: false),
            collapsesSpaces: spaces == .collapse, sortsValues: duplicates == .sort)
        for (name, (text, place)) in zip(made.required, required) where !made.selects(name) {
            throw SchemeReader.wrong(
                .string(text), at: place, wanted: "a field that \"select\" takes")
        }
        return made
    }

    func nonceRule(_ rule: SchemeReader) throws(SigningError) -> CompiledScheme.NonceRule {
        try rule.demand(["prefix", "bytes", "as", "forbidden"])
        let visible = "visible ASCII of at most \(SchemeLimits.nameBytes) bytes"
        let forbidden =
            try rule.optionalBytes(
                "forbidden", wanted: visible, 0...SchemeLimits.nameBytes, \.isVisible) ?? []
        let prefix =
            try rule.optionalBytes(
                "prefix", wanted: visible, 0...SchemeLimits.nameBytes, \.isVisible) ?? []
        guard !prefix.contains(where: forbidden.contains) else {
            throw rule.wrong("prefix", wanted: "none of the bytes of \"forbidden\"")
        }
        let made = CompiledScheme.NonceRule(
            prefix: prefix, byteCount: Int(try rule.integer("bytes", in: 16...64)),
            encoding: try rule.choice("as"), forbidden: forbidden)
        guard !forbidden.contains(where: made.encoding.canHold) else {
            throw rule.wrong("forbidden", wanted: "nothing that \"as\" itself writes")
        }
        return made
    }

    func carriers(
        _ root: SchemeReader, _ member: String, _ count: ClosedRange<Int>
    ) throws(SigningError) -> [CompiledScheme.Carrier] {
        guard root.has(member) else { return [] }
        var carriers: [CompiledScheme.Carrier] = []
        for (entry, place) in try root.array(member, count, of: "places") {
            let carrier = try self.carrier(
                SchemeReader(entry, at: place),
                allowing: member == "place" ? ["signature"] : [])
            for other in injections + carriers
            where other.place.isSame(as: carrier.place)
                && !carrier.condition.excludes(other.condition)
            {
                throw SigningError(
                    .malformedScheme,
                    "\(place): found \(carrier.place.name) again, wanted one text for one place")
            }
            carriers.append(carrier)
        }
        return carriers
    }

    private func carrier(
        _ carrier: SchemeReader, allowing special: Set<String>
    ) throws(SigningError) -> CompiledScheme.Carrier {
        try carrier.demand(["when", "header", "query", "xml", "value", "list", "with"])
        let place = try self.place(carrier)
        var texts: [(text: String, place: String)] = []
        var separator: [UInt8]?
        if carrier.has("list") {
            guard !carrier.has("value") else {
                throw carrier.wrong("value", wanted: "none beside \"list\"")
            }
            texts = try carrier.texts("list", 1...SchemeLimits.entries)
            separator = try carrier.choice("with", as: Separator.self).rawValue.utf8.map { $0 }
        } else {
            guard !carrier.has("with") else {
                throw carrier.wrong("with", wanted: "none without \"list\"")
            }
            texts = [(try carrier.text("value"), carrier.path("value"))]
        }
        var templates: [SchemeTemplate] = []
        for (text, place) in texts {
            let template = try template(text, at: place, allowing: special)
            guard template.isReadable else {
                throw SchemeReader.wrong(
                    .string(text), at: place,
                    wanted: "a text between two places, so that it can be read back")
            }
            templates.append(template)
        }
        return CompiledScheme.Carrier(
            condition: try condition(carrier.optionalObject("when")), place: place,
            templates: templates, separator: separator,
            shape: texts.map(\.text).joined(separator: separator == nil ? "" : ", "))
    }

    private func place(_ carrier: SchemeReader) throws(SigningError) -> CompiledScheme.Place {
        let kinds = ["header", "query", "xml"].filter(carrier.has)
        guard kinds.count == 1 else {
            throw carrier.malformed(
                "found \(kinds.isEmpty ? "no place" : kinds.joined(separator: " and ")), "
                    + "wanted one of header, query, xml")
        }
        let longest = 1...SchemeLimits.nameBytes
        switch kinds[0] {
        case "header":
            let wanted = "the name of a field other than Host"
            let name = try carrier.optionalBytes("header", wanted: wanted, longest, \.isToken)
            guard let name, name.map(\.lowercased) != SignableMessage.host else {
                throw carrier.wrong("header", wanted: wanted)
            }
            return .header(String(decoding: name, as: UTF8.self))
        case "query":
            let name = try carrier.optionalBytes(
                "query",
                wanted: "visible ASCII of \(longest.lowerBound) to \(longest.upperBound) bytes",
                longest,
                \.isVisible)
            return .query(name ?? [])
        default:
            let name = try carrier.optionalBytes(
                "xml", wanted: "an element's name of letters, digits, - and _", longest
            ) { $0.isLetter || $0.isDigit || $0 == 0x5F || $0 == ASCII.minus }
            return .xml(name ?? [])
        }
    }

    /// What may stand between the entries of a list.
    enum Separator: String, CaseIterable {
        case comma = ","
        case commaAndSpace = ", "
        case semicolon = ";"
        case semicolonAndSpace = "; "
        case space = " "
        case ampersand = "&"
        case bar = "|"
    }
}

extension SchemeReader {
    fileprivate func choice<Choice: RawRepresentable & CaseIterable>(
        _ member: String, as type: Choice.Type
    ) throws(SigningError) -> Choice where Choice.RawValue == String {
        try choice(member)
    }
}

extension CompiledScheme.Place {
    /// Whether both are one place; the names of fields have no case.
    fileprivate func isSame(as other: CompiledScheme.Place) -> Bool {
        guard case .header(let left) = self, case .header(let right) = other else {
            return self == other
        }
        return left.isSame(asLowercase: right.utf8.map(\.lowercased))
    }
}

extension CompiledScheme.Condition {
    /// Whether both can never hold together.
    func excludes(_ other: CompiledScheme.Condition) -> Bool {
        tests.contains { test in
            other.tests.contains { $0.setting == test.setting && test.wanted.excludes($0.wanted) }
        }
    }
}

extension CompiledScheme.Condition.Wanted {
    fileprivate func excludes(_ other: CompiledScheme.Condition.Wanted) -> Bool {
        switch (self, other) {
        case (.value(let left), .value(let right)): left != right
        case (.presence(let left), .presence(let right)): left != right
        case (.value, .presence(let isPresent)), (.presence(let isPresent), .value): !isPresent
        }
    }
}

extension SchemeTemplate {
    /// Whether each place ends where a text begins, so that what was written can be read back.
    fileprivate var isReadable: Bool {
        zip(sources, sources.dropFirst()).allSatisfy { left, right in
            left.isLiteral || right.isLiteral
        }
    }
}

extension SchemeTemplate.Source {
    var isLiteral: Bool { if case .literal = self { true } else { false } }
}

extension CompiledScheme.Encoding {
    /// Whether a byte may come out of it.
    fileprivate func canHold(_ byte: UInt8) -> Bool {
        switch self {
        case .hex: byte.isDigit || (0x61...0x66).contains(byte)
        case .upperHex: byte.isDigit || (0x41...0x46).contains(byte)
        case .base64: byte.isLetter || byte.isDigit || "+/=".utf8.contains(byte)
        case .base64URL: byte.isLetter || byte.isDigit || "-_".utf8.contains(byte)
        }
    }
}
