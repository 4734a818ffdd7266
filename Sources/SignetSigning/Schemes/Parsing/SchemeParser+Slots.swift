internal import SignetJSON

/// Parses the rules for signed fields and nonces, and the slots of `inject` and `place`.
extension SchemeParser {
    private enum Spaces: String, CaseIterable { case keep, collapse }
    private enum Duplicates: String, CaseIterable { case keep, sort }

    func headerRule(_ rule: SchemeReader) throws(SigningError) -> CompiledScheme.HeaderRule {
        try rule.requireMembers(in: ["select", "except", "required", "spaces", "duplicates"])
        let star = UInt8(ascii: "*")
        func names(
            _ strings: [(text: String, path: String)], allowingStar: Bool
        ) throws(SigningError) -> [[UInt8]] {
            var names: [[UInt8]] = []
            for (text, path) in strings {
                let name = text.utf8.map(\.lowercased)
                let plain = allowingStar && name.last == star ? name.dropLast() : name[...]
                guard !name.isEmpty, plain.allSatisfy({ $0.isToken && $0 != star }) else {
                    throw SchemeReader.wrong(
                        .string(text), at: path,
                        expected: "a field name" + (allowingStar ? ", a prefix and *, or *" : ""))
                }
                names.append(name)
            }
            return names
        }
        let count = 0...SchemeLimits.names
        let select = try names(
            rule.strings("select", count: 1...SchemeLimits.names), allowingStar: true)
        let except = try names(
            rule.optionalStrings("except", count: count) ?? [], allowingStar: false)
        let required = try rule.optionalStrings("required", count: count) ?? []
        let spaces: Spaces = try rule.choice("spaces", default: .keep)
        let duplicates: Duplicates = try rule.choice("duplicates", default: .keep)
        let made = CompiledScheme.HeaderRule(
            names: select.filter { $0.last != star },
            prefixes: select.filter { $0.last == star && $0.count > 1 }.map { $0.dropLast() },
            selectsAll: select.contains([star]), except: except,
            required: try names(required, allowingStar: false),
            collapsesSpaces: spaces == .collapse, sortsValues: duplicates == .sort)
        for (name, (text, path)) in zip(made.required, required) where !made.selects(name) {
            throw SchemeReader.wrong(
                .string(text), at: path, expected: "a field that \"select\" selects")
        }
        return made
    }

    func nonceRule(_ rule: SchemeReader) throws(SigningError) -> CompiledScheme.NonceRule {
        try rule.requireMembers(in: ["prefix", "bytes", "as", "forbidden"])
        func visible(_ member: String) throws(SigningError) -> [UInt8] {
            try rule.optionalBytes(
                member, count: 0...SchemeLimits.nameBytes,
                expected: "visible ASCII of at most \(SchemeLimits.nameBytes) bytes",
                allowing: \.isVisible) ?? []
        }
        let forbidden = try visible("forbidden")
        let prefix = try visible("prefix")
        guard !prefix.contains(where: forbidden.contains) else {
            throw rule.wrong("prefix", expected: "none of the bytes of \"forbidden\"")
        }
        let made = CompiledScheme.NonceRule(
            prefix: prefix, byteCount: Int(try rule.integer("bytes", in: 16...64)),
            encoding: try rule.choice("as"), forbidden: forbidden)
        guard !forbidden.contains(where: made.encoding.canProduce) else {
            throw rule.wrong("forbidden", expected: "no byte that the encoding \"as\" produces")
        }
        return made
    }

    /// Parses the slots of `inject` or `place`. Returns no slots if the member is missing.
    func slots(
        _ root: SchemeReader, member: String, count: ClosedRange<Int>
    ) throws(SigningError) -> [CompiledScheme.Slot] {
        guard root.has(member) else { return [] }
        var slots: [CompiledScheme.Slot] = []
        for (entry, path) in try root.array(member, count: count, of: "places") {
            let slot = try self.slot(
                SchemeReader(entry, at: path), allowing: member == "place" ? ["signature"] : [])
            for other in injections + slots
            where other.location.isSame(as: slot.location)
                && !slot.condition.excludes(other.condition)
            {
                throw SigningError(
                    .malformedScheme,
                    "\(path): found \(slot.location.name) again, expected each place once")
            }
            slots.append(slot)
        }
        return slots
    }

    private func slot(
        _ slot: SchemeReader, allowing special: Set<String>
    ) throws(SigningError) -> CompiledScheme.Slot {
        try slot.requireMembers(in: ["when", "header", "query", "xml", "value", "list", "with"])
        let location = try self.location(slot)
        var texts: [(text: String, path: String)] = []
        var separator: [UInt8]?
        if slot.has("list") {
            guard !slot.has("value") else {
                throw slot.wrong("value", expected: "no \"value\" beside \"list\"")
            }
            texts = try slot.strings("list", count: 1...SchemeLimits.entries)
            let choice: Separator = try slot.choice("with")
            separator = Array(choice.rawValue.utf8)
        } else {
            guard !slot.has("with") else {
                throw slot.wrong("with", expected: "no \"with\" without \"list\"")
            }
            texts = [(try slot.string("value"), slot.path(to: "value"))]
        }
        var templates: [SchemeTemplate] = []
        for (text, path) in texts {
            let template = try template(text, at: path, allowing: special)
            guard template.isReadable else {
                throw SchemeReader.wrong(
                    .string(text), at: path,
                    expected: "a text between two placeholders, so that a verifier can read them")
            }
            templates.append(template)
        }
        return CompiledScheme.Slot(
            condition: try condition(slot.optionalObject("when")), location: location,
            templates: templates, separator: separator,
            shape: texts.map(\.text).joined(separator: separator == nil ? "" : ", "))
    }

    private func location(
        _ slot: SchemeReader
    ) throws(SigningError) -> CompiledScheme.Location {
        let kinds = ["header", "query", "xml"].filter(slot.has)
        guard kinds.count == 1 else {
            throw slot.malformed(
                "found \(kinds.isEmpty ? "no place" : kinds.joined(separator: " and ")), "
                    + "expected one of header, query, xml")
        }
        let count = 1...SchemeLimits.nameBytes
        switch kinds[0] {
        case "header":
            let expected = "a field name other than Host"
            let name = try slot.optionalBytes(
                "header", count: count, expected: expected, allowing: \.isToken)
            guard let name, name.map(\.lowercased) != SignableMessage.host else {
                throw slot.wrong("header", expected: expected)
            }
            return .header(String(decoding: name, as: UTF8.self))
        case "query":
            let name = try slot.optionalBytes(
                "query", count: count,
                expected: "visible ASCII of \(count.lowerBound) to \(count.upperBound) bytes",
                allowing: \.isVisible)
            return .query(name ?? [])
        default:
            let name = try slot.optionalBytes(
                "xml", count: count,
                expected: "an element name of letters, digits, - and _", allowing: \.isNameByte)
            return .xml(name ?? [])
        }
    }

    /// The separators that `with` allows between the entries of a list.
    private enum Separator: String, CaseIterable {
        case comma = ","
        case commaAndSpace = ", "
        case semicolon = ";"
        case semicolonAndSpace = "; "
        case space = " "
        case ampersand = "&"
        case bar = "|"
    }
}

extension CompiledScheme.Location {
    /// Whether both are the same location; field names are compared without case.
    fileprivate func isSame(as other: CompiledScheme.Location) -> Bool {
        guard case .header(let left) = self, case .header(let right) = other else {
            return self == other
        }
        return left.isSame(ignoringCaseOf: right)
    }
}

extension CompiledScheme.Condition {
    /// Whether the two conditions can never both hold.
    fileprivate func excludes(_ other: CompiledScheme.Condition) -> Bool {
        tests.contains { test in
            other.tests.contains {
                $0.setting == test.setting && test.expected.excludes($0.expected)
            }
        }
    }
}

extension CompiledScheme.Condition.Expected {
    fileprivate func excludes(_ other: CompiledScheme.Condition.Expected) -> Bool {
        switch (self, other) {
        case (.value(let left), .value(let right)): left != right
        case (.presence(let left), .presence(let right)): left != right
        case (.value, .presence(let isPresent)), (.presence(let isPresent), .value): !isPresent
        }
    }
}

extension SchemeTemplate {
    /// Whether a literal separates any two placeholders, so that their values can be read back.
    fileprivate var isReadable: Bool {
        zip(sources, sources.dropFirst()).allSatisfy { left, right in
            left.isLiteral || right.isLiteral
        }
    }
}

extension CompiledScheme.Encoding {
    /// Whether encoded text can contain a byte.
    fileprivate func canProduce(_ byte: UInt8) -> Bool {
        switch self {
        case .hex: byte.isDigit || (0x61...0x66).contains(byte)
        case .upperHex: byte.isDigit || (0x41...0x46).contains(byte)
        case .base64: byte.isLetter || byte.isDigit || "+/=".utf8.contains(byte)
        case .base64URL: byte.isLetter || byte.isDigit || "-_".utf8.contains(byte)
        }
    }
}
