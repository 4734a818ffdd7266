import SignetBase
import SignetJSON

/// Parses the rules for signed fields and nonces, and the slots of `inject` and `place`.
extension SchemeParser {
    private enum Spaces: String, CaseIterable { case keep, collapse }
    private enum Duplicates: String, CaseIterable { case keep, sort }

    func headerRule(_ rule: SchemeValue) throws(SigningError) -> CompiledScheme.HeaderRule {
        try rule.requireMembers(in: ["select", "except", "required", "spaces", "duplicates"])
        let star = UInt8(ascii: "*")
        func names(
            _ strings: [(text: String, place: SchemeValue)]?, allowingStar: Bool = false
        ) throws(SigningError) -> [[UInt8]] {
            var names: [[UInt8]] = []
            for (text, place) in strings ?? [] {
                let name = text.utf8.map(\.lowercased)
                let plain = allowingStar && name.last == star ? name.dropLast() : name[...]
                guard !name.isEmpty, plain.allSatisfy({ $0.isToken && $0 != star }) else {
                    throw place.wrong(
                        expected: "a field name" + (allowingStar ? ", a prefix and *, or *" : ""))
                }
                names.append(name)
            }
            return names
        }
        let count = 0...SchemeLimits.names
        let select = try names(
            rule["select"].strings(count: 1...SchemeLimits.names), allowingStar: true)
        let except = try names(rule["except"].ifPresent?.strings(count: count))
        let required = try rule["required"].ifPresent?.strings(count: count) ?? []
        let spaces: Spaces = try rule["spaces"].choice(default: .keep)
        let duplicates: Duplicates = try rule["duplicates"].choice(default: .keep)
        let made = CompiledScheme.HeaderRule(
            names: select.filter { $0.last != star },
            prefixes: select.filter { $0.last == star && $0.count > 1 }.map { $0.dropLast() },
            selectsAll: select.contains([star]), except: except, required: try names(required),
            collapsesSpaces: spaces == .collapse, sortsValues: duplicates == .sort)
        for (name, (_, place)) in zip(made.required, required) where !made.selects(name) {
            throw place.wrong(expected: "a field that \"select\" selects")
        }
        return made
    }

    func nonceRule(_ rule: SchemeValue) throws(SigningError) -> CompiledScheme.NonceRule {
        try rule.requireMembers(in: ["prefix", "bytes", "as", "forbidden"])
        func visible(_ member: String) throws(SigningError) -> [UInt8] {
            try rule[member].ifPresent?.bytes(
                count: 0...SchemeLimits.nameBytes,
                expected: "visible ASCII of at most \(SchemeLimits.nameBytes) bytes",
                allowing: \.isVisible) ?? []
        }
        let forbidden = try visible("forbidden")
        let prefix = try visible("prefix")
        guard !prefix.contains(where: forbidden.contains) else {
            throw rule["prefix"].wrong(expected: "none of the bytes of \"forbidden\"")
        }
        let made = CompiledScheme.NonceRule(
            prefix: prefix, byteCount: Int(try rule["bytes"].integer(in: 16...64)),
            encoding: try rule["as"].choice(), forbidden: forbidden)
        guard !forbidden.contains(where: made.encoding.canProduce) else {
            throw rule["forbidden"].wrong(expected: "no byte that the encoding \"as\" produces")
        }
        return made
    }

    /// Parses the slots of `inject` or `place`.
    func slots(
        _ places: SchemeValue, count: ClosedRange<Int>, allowing special: Set<String> = []
    ) throws(SigningError) -> [CompiledScheme.Slot] {
        var slots: [CompiledScheme.Slot] = []
        for place in try places.elements(count: count, of: "places") {
            let slot = try self.slot(place, allowing: special)
            for other in injections + slots where !slot.condition.excludes(other.condition) {
                for location in slot.locations
                where other.locations.contains(where: location.isSame) {
                    throw place.malformed("found \(location.name) again, expected each place once")
                }
            }
            slots.append(slot)
        }
        return slots
    }

    private func slot(
        _ slot: SchemeValue, allowing special: Set<String>
    ) throws(SigningError) -> CompiledScheme.Slot {
        try slot.requireMembers(in: [
            "when", "header", "query", "form", "xml", "value", "list", "with",
        ])
        let locations = try self.locations(slot, allowsSeveral: !special.isEmpty)
        var texts: [(text: String, place: SchemeValue)] = []
        var separator: [UInt8]?
        if slot.has("list") {
            guard !slot.has("value") else {
                throw slot["value"].wrong(expected: "no \"value\" together with \"list\"")
            }
            texts = try slot["list"].strings(count: 1...SchemeLimits.entries)
            let choice: Separator = try slot["with"].choice()
            separator = Array(choice.rawValue.utf8)
        } else {
            guard !slot.has("with") else {
                throw slot["with"].wrong(expected: "no \"with\" without \"list\"")
            }
            texts = [(try slot["value"].string(), slot["value"])]
        }
        var templates: [SchemeTemplate] = []
        for (_, place) in texts {
            let template = try template(place, allowing: special)
            guard template.isReadable else {
                throw place.wrong(
                    expected: "a text between two placeholders, so that a verifier can read them")
            }
            if let format = template.cutTime(separator: separator) {
                throw place.wrong(
                    expected: "after {\(format.rawValue)} a text that the time doesn't contain")
            }
            templates.append(template)
        }
        return CompiledScheme.Slot(
            condition: try slot["when"].ifPresent.map(condition) ?? .always,
            locations: locations, templates: templates, separator: separator,
            shape: texts.map(\.text).joined(separator: separator == nil ? "" : ", "))
    }

    /// Parses the name of a location, or an array of alternative names.
    private func locations(
        _ slot: SchemeValue, allowsSeveral: Bool
    ) throws(SigningError) -> [CompiledScheme.Location] {
        let kinds = ["header", "query", "form", "xml"].filter(slot.has)
        guard kinds.count == 1 else {
            throw slot.malformed(
                "found \(kinds.isEmpty ? "no place" : kinds.joined(separator: " and ")), "
                    + "expected one of header, query, form, xml")
        }
        let names = slot[kinds[0]]
        guard allowsSeveral, names.json?.array != nil else {
            return [try location(kinds[0], name: names)]
        }
        var locations: [CompiledScheme.Location] = []
        for name in try names.elements(count: 2...SchemeLimits.alternatives, of: "names") {
            let location = try location(kinds[0], name: name)
            guard !locations.contains(where: location.isSame) else {
                throw name.wrong(expected: "no duplicate")
            }
            locations.append(location)
        }
        return locations
    }

    private func location(
        _ kind: String, name: SchemeValue
    ) throws(SigningError) -> CompiledScheme.Location {
        let count = 1...SchemeLimits.nameBytes
        switch kind {
        case "header":
            let expected = "a field name other than Host"
            let field = try name.bytes(count: count, expected: expected, allowing: \.isToken)
            guard field.map(\.lowercased) != SignableMessage.host else {
                throw name.wrong(expected: expected)
            }
            return .header(String(decoding: field, as: UTF8.self))
        case "query", "form":
            let parameter = try name.bytes(
                count: count,
                expected: "visible ASCII of \(count.lowerBound) to \(count.upperBound) bytes",
                allowing: \.isVisible)
            return kind == "query" ? .query(parameter) : .form(parameter)
        default:
            let expected = "an element name of letters, digits, - and _, first a letter or _"
            let element = try name.bytes(count: count, expected: expected, allowing: \.isNameByte)
            guard element[0].isLetter || element[0] == ASCII.underscore else {
                throw name.wrong(expected: expected)
            }
            return .xml(element)
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

extension SchemeTemplate {
    /// Returns a time that a verifier couldn't read back, because it contains the text that
    /// follows it or the list's separator.
    fileprivate func cutTime(separator: [UInt8]?) -> SchemeTime? {
        for (index, source) in sources.enumerated() {
            guard case .time(let format) = source else { continue }
            var example: [UInt8] = []
            format.append(0, to: &example)
            var ends = separator.map { [[$0[0]]] } ?? []
            if index + 1 < sources.count, case .literal(let next) = sources[index + 1] {
                ends.append(next)
            }
            if ends.contains(where: { example.firstRange(of: $0) != nil }) { return format }
        }
        return nil
    }
}

extension CompiledScheme.Encoding {
    /// Whether encoded text can contain a byte.
    fileprivate func canProduce(_ byte: UInt8) -> Bool {
        // All characters occur in the encoding of all bytes.
        encode(Array(0...255)).contains(byte)
    }
}
