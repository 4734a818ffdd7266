import SignetBase
import SignetCrypto
import SignetJSON

/// Parses a scheme document and checks that its parts fit together.
///
/// After `init`, the properties hold the parts from which ``CompiledScheme`` is made.
struct SchemeParser {
    let name: String
    let document: JSONObject
    var settings: [CompiledScheme.Setting] = []
    /// The values in their order, each with its weight: a value can use only earlier ones.
    var values: [(name: String, step: CompiledScheme.Step, weight: Int)] = []
    var headers: CompiledScheme.HeaderRule?
    var injections: [CompiledScheme.Slot] = []
    var text = CompiledScheme.Step.join([], separator: [])
    var algorithm = CompiledScheme.Algorithm.asymmetric([], form: .raw)
    var encoding = CompiledScheme.Encoding.hex
    var placements: [CompiledScheme.Slot] = []
    var nonce = CompiledScheme.NonceRule(prefix: [], byteCount: 16, encoding: .hex, forbidden: [])

    /// Parses a document of version 1.
    ///
    /// - Throws: `malformed-scheme`, with the JSONPath of the member.
    init(_ document: JSONObject) throws(SigningError) {
        let root = SchemeValue(json: .object(document), path: "$")
        _ = try root["signet-scheme"].integer(in: 1...1)
        try root.requireMembers(in: [
            "signet-scheme", "name", "about", "source", "settings", "values", "signedHeaders",
            "nonce", "inject", "text", "sign", "signature", "place", "$schema",
        ])
        let name = try root["name"].bytes(
            count: 1...SchemeLimits.nameBytes,
            expected: "a token of 1 to \(SchemeLimits.nameBytes) bytes", allowing: \.isToken)
        self.name = String(decoding: name, as: UTF8.self)
        guard !["rfc9421", "salted-hmac-v1"].contains(self.name) else {
            throw root["name"].wrong(expected: "another name: this scheme has its own engine")
        }
        self.document = document
        for member in ["$schema", "about", "source"] { _ = try root[member].ifPresent?.string() }
        if let settings = root["settings"].ifPresent { try readSettings(settings) }
        if let headers = root["signedHeaders"].ifPresent { self.headers = try headerRule(headers) }
        if let nonce = root["nonce"].ifPresent { self.nonce = try nonceRule(nonce) }
        if let values = root["values"].ifPresent { try readValues(values) }
        if let inject = root["inject"].ifPresent {
            self.injections = try slots(inject, count: 0...SchemeLimits.injections)
        }
        self.text = try step(root["text"])
        self.encoding = try root["signature"].choice(default: .hex)
        self.algorithm = try algorithm(root["sign"])
        guard let place = root["place"].ifPresent else {
            throw root["place"].wrong(expected: "the place of the signature")
        }
        self.placements = try slots(
            place, count: 1...SchemeLimits.placements, allowing: ["signature"])
        try check(root)
    }

    // MARK: Settings, values and conditions

    private static func requireName(
        _ name: String, of value: SchemeValue
    ) throws(SigningError) {
        guard (1...SchemeLimits.nameBytes).contains(name.utf8.count),
            name.utf8.allSatisfy(\.isNameByte)
        else {
            throw value.malformed(
                "found an invalid name, expected 1 to \(SchemeLimits.nameBytes) letters, digits, "
                    + "- and _")
        }
    }

    private mutating func readSettings(_ settings: SchemeValue) throws(SigningError) {
        let expected = "visible ASCII of 1 to \(SchemeLimits.templateBytes) bytes"
        for (name, setting) in try settings.members(atMost: SchemeLimits.settings, of: "settings") {
            try Self.requireName(name, of: setting)
            try setting.requireMembers(in: ["about", "required", "enum", "default"])
            _ = try setting["about"].ifPresent?.string()
            var allowed: [[UInt8]]?
            let options = try setting["enum"].ifPresent?.strings(count: 1...SchemeLimits.names)
            for (text, place) in options ?? [] {
                guard !text.isEmpty, text.utf8.allSatisfy(\.isVisible) else {
                    throw place.wrong(expected: expected)
                }
                allowed = (allowed ?? []) + [Array(text.utf8)]
            }
            let fallback = try setting["default"].ifPresent?.bytes(
                count: 1...SchemeLimits.templateBytes, expected: expected, allowing: \.isVisible)
            let isRequired = try setting["required"].flag()
            if let fallback {
                guard !isRequired else {
                    throw setting["default"].wrong(
                        expected: "no default: the setting is required")
                }
                guard allowed?.contains(fallback) ?? true else {
                    throw setting["default"].wrong(expected: "one of \"enum\"")
                }
            }
            self.settings.append(
                CompiledScheme.Setting(
                    name: name, isRequired: isRequired, allowed: allowed, fallback: fallback))
        }
    }

    private mutating func readValues(_ values: SchemeValue) throws(SigningError) {
        for (name, value) in try values.members(atMost: SchemeLimits.values, of: "values") {
            try Self.requireName(name, of: value)
            guard SchemeTemplate.Source.named[name] == nil else {
                throw value.malformed("found a reserved name, expected another")
            }
            let step = try step(value)
            self.values.append((name, step, weight(of: step)))
        }
    }

    func condition(_ object: SchemeValue) throws(SigningError) -> CompiledScheme.Condition {
        var tests: [(setting: Int, expected: CompiledScheme.Condition.Expected)] = []
        for (name, value) in try object.members() {
            guard let index = settings.firstIndex(where: { sameBytes($0.name, name) })
            else {
                let known = settings.map(\.name).joined(separator: ", ")
                throw value.malformed(
                    "found an unknown setting, expected "
                        + (known.isEmpty ? "\"settings\" to define it" : "one of \(known)"))
            }
            switch value.json {
            case .bool(let isPresent): tests.append((index, .presence(isPresent)))
            case .string(let text):
                let bytes = Array(text.utf8)
                guard settings[index].allowed?.contains(bytes) ?? true else {
                    throw value.wrong(expected: "one of the setting's \"enum\"")
                }
                tests.append((index, .value(bytes)))
            default: throw value.wrong(expected: "a string, true or false")
            }
        }
        return CompiledScheme.Condition(tests: tests)
    }

    // MARK: Templates

    /// Parses a template.
    ///
    /// - Parameter special: `signature` or `secret`, if the template may contain it.
    func template(
        _ value: SchemeValue, allowing special: Set<String> = []
    ) throws(SigningError) -> SchemeTemplate {
        let text = try value.string()
        guard text.utf8.count <= SchemeLimits.templateBytes else {
            throw value.malformed(
                "found \(text.utf8.count) bytes, expected at most \(SchemeLimits.templateBytes)")
        }
        do throws(SigningError) {
            return try SchemeTemplate(parsing: text) { name throws(SigningError) in
                if name == "signature" || name == "secret", !special.contains(name) {
                    throw SigningError(
                        .malformedScheme,
                        "found {\(name)}, which is allowed only "
                            + (name == "secret" ? "beside a hash in \"sign\"" : "in \"place\""))
                }
                return try source(named: name)
            }
        } catch {
            throw value.malformed(error.message)
        }
    }

    private func source(named name: String) throws(SigningError) -> SchemeTemplate.Source {
        func unknown(_ expected: String) -> SigningError {
            SigningError(
                .malformedScheme,
                "found {\(printable(String(name.unicodeScalars.prefix(64))))}, which is not "
                    + "defined, expected \(expected)")
        }
        if let source = SchemeTemplate.Source.named[name] { return source }
        if let format = SchemeTime.named(name) { return .time(format) }
        if let index = values.firstIndex(where: { sameBytes($0.name, name) }) {
            return .value(index)
        }
        if name == "headers.lines" || name == "headers.names" {
            guard headers != nil else {
                throw SigningError(
                    .malformedScheme, "found {\(name)}, expected \"signedHeaders\" to define it")
            }
            return name == "headers.lines" ? .headerLines : .headerNames
        }
        if name.startsWithBytes(of: "set.") {
            let index = settings.firstIndex { sameBytes("set.\($0.name)", name) }
            guard let index else { throw unknown("a setting of \"settings\"") }
            return .setting(index)
        }
        if name.startsWithBytes(of: "header.") {
            let field = name.utf8.dropFirst(7)
            guard !field.isEmpty, field.allSatisfy(\.isToken) else {
                throw unknown("{header.NAME} with the name of a field")
            }
            return .header(field.map(\.lowercased))
        }
        throw unknown("a name of the language, or a value that is defined before this one")
    }
}
