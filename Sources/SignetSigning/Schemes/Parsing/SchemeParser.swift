internal import SignetBase
internal import SignetCrypto
internal import SignetJSON

/// Parses a scheme document and checks that its parts fit together.
///
/// After `init`, the properties hold the parts from which ``CompiledScheme`` is made.
struct SchemeParser {
    let name: String
    let document: JSONObject
    var settings: [CompiledScheme.Setting] = []
    var values: [(name: String, step: CompiledScheme.Step)] = []
    var headers: CompiledScheme.HeaderRule?
    var injections: [CompiledScheme.Slot] = []
    var text = CompiledScheme.Step.join([], separator: [])
    var algorithm = CompiledScheme.Algorithm.asymmetric([])
    var encoding = CompiledScheme.Encoding.hex
    var placements: [CompiledScheme.Slot] = []
    var nonce = CompiledScheme.NonceRule(prefix: [], byteCount: 16, encoding: .hex, forbidden: [])

    /// Parses a document of version 1.
    ///
    /// - Throws: `malformed-scheme`, with the JSONPath of the member.
    init(_ document: JSONObject) throws(SigningError) {
        let root = SchemeReader(document, at: "$")
        _ = try root.integer("signet-scheme", in: 1...1)
        try root.requireMembers(in: [
            "signet-scheme", "name", "about", "source", "settings", "values",
            "signedHeaders",
            "nonce", "inject", "text", "sign", "signature", "place", "$schema",
        ])
        let expected = "a token of 1 to \(SchemeLimits.nameBytes) bytes"
        let name = try root.optionalBytes(
            "name", count: 1...SchemeLimits.nameBytes, expected: expected, allowing: \.isToken)
        guard let name else { throw root.wrong("name", expected: expected) }
        self.name = String(decoding: name, as: UTF8.self)
        guard !["rfc9421", "salted-hmac-v1"].contains(self.name) else {
            throw root.wrong("name", expected: "another name: this scheme has its own engine")
        }
        self.document = document
        for member in ["$schema", "about", "source"] { _ = try root.optionalString(member) }
        if let settings = try root.optionalObject("settings") { try readSettings(settings) }
        if let headers = try root.optionalObject("signedHeaders") {
            self.headers = try headerRule(headers)
        }
        if let nonce = try root.optionalObject("nonce") { self.nonce = try nonceRule(nonce) }
        if let values = try root.optionalObject("values") { try readValues(values) }
        self.injections = try slots(root, member: "inject", count: 0...SchemeLimits.injections)
        self.text = try step(
            root.value("text", expected: Self.stepKinds), at: root.path(to: "text"))
        self.encoding = try root.choice("signature", default: .hex)
        self.algorithm = try algorithm(root.requiredObject("sign"))
        guard root.has("place") else {
            throw root.wrong("place", expected: "the place of the signature")
        }
        self.placements = try slots(root, member: "place", count: 1...SchemeLimits.placements)
        try check(root)
    }

    // MARK: Settings, values and conditions

    private static func requireName(
        _ name: String, in reader: SchemeReader
    ) throws(SigningError) {
        guard (1...SchemeLimits.nameBytes).contains(name.utf8.count),
            name.utf8.allSatisfy(\.isNameByte)
        else {
            throw SigningError(
                .malformedScheme,
                "\(reader.path(to: name)): found an invalid name, expected 1 to "
                    + "\(SchemeLimits.nameBytes) letters, digits, - and _")
        }
    }

    private mutating func readSettings(_ settings: SchemeReader) throws(SigningError) {
        try settings.requireCount(atMost: SchemeLimits.settings, of: "settings")
        let expected = "visible ASCII of 1 to \(SchemeLimits.templateBytes) bytes"
        for (name, value) in settings.object {
            try Self.requireName(name, in: settings)
            let setting = try SchemeReader(value, at: settings.path(to: name))
            try setting.requireMembers(in: ["about", "required", "enum", "default"])
            _ = try setting.optionalString("about")
            var allowed: [[UInt8]]?
            let options = try setting.optionalStrings("enum", count: 1...SchemeLimits.names)
            for (text, path) in options ?? [] {
                guard !text.isEmpty, text.utf8.allSatisfy(\.isVisible) else {
                    throw SchemeReader.wrong(.string(text), at: path, expected: expected)
                }
                allowed = (allowed ?? []) + [Array(text.utf8)]
            }
            let fallback = try setting.optionalBytes(
                "default", count: 1...SchemeLimits.templateBytes, expected: expected,
                allowing: \.isVisible)
            let isRequired = try setting.flag("required")
            if let fallback {
                guard !isRequired else {
                    throw setting.wrong("default", expected: "no default: the setting is required")
                }
                guard allowed?.contains(fallback) ?? true else {
                    throw setting.wrong("default", expected: "one of \"enum\"")
                }
            }
            self.settings.append(
                CompiledScheme.Setting(
                    name: name, isRequired: isRequired, allowed: allowed, fallback: fallback))
        }
    }

    private mutating func readValues(_ values: SchemeReader) throws(SigningError) {
        try values.requireCount(atMost: SchemeLimits.values, of: "values")
        for (name, value) in values.object {
            try Self.requireName(name, in: values)
            guard !Self.plainSources.keys.contains(name) else {
                throw SigningError(
                    .malformedScheme,
                    "\(values.path(to: name)): found a reserved name, expected another")
            }
            self.values.append((name, try step(value, at: values.path(to: name))))
        }
    }

    func condition(_ object: SchemeReader?) throws(SigningError) -> CompiledScheme.Condition {
        guard let object else { return .always }
        var tests: [(setting: Int, expected: CompiledScheme.Condition.Expected)] = []
        for (name, value) in object.object {
            guard let index = settings.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) })
            else {
                let known = settings.map(\.name).joined(separator: ", ")
                throw SigningError(
                    .malformedScheme,
                    "\(object.path(to: name)): found an unknown setting, expected "
                        + (known.isEmpty ? "\"settings\" to define it" : "one of \(known)"))
            }
            switch value {
            case .bool(let isPresent): tests.append((index, .presence(isPresent)))
            case .string(let text):
                let bytes = Array(text.utf8)
                guard settings[index].allowed?.contains(bytes) ?? true else {
                    throw object.wrong(name, expected: "one of the setting's \"enum\"")
                }
                tests.append((index, .value(bytes)))
            default: throw object.wrong(name, expected: "a string, true or false")
            }
        }
        return CompiledScheme.Condition(tests: tests)
    }

    // MARK: Templates

    private static let plainSources: [String: SchemeTemplate.Source] = [
        "method": .method, "target": .target, "path": .path, "query": .query, "host": .host,
        "body": .body, "keyid": .keyID, "nonce": .nonce, "lifetime": .lifetime,
        "signature": .signature, "secret": .secret, "time": .time(.unix),
    ]

    /// Parses a template.
    ///
    /// - Parameter special: `signature` or `secret`, if the template may contain it.
    func template(
        _ text: String, at path: String, allowing special: Set<String> = []
    ) throws(SigningError) -> SchemeTemplate {
        guard text.utf8.count <= SchemeLimits.templateBytes else {
            throw SigningError(
                .malformedScheme,
                "\(path): found \(text.utf8.count) bytes, expected at most "
                    + "\(SchemeLimits.templateBytes)")
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
            throw SigningError(.malformedScheme, "\(path): \(error.message)")
        }
    }

    private func source(named name: String) throws(SigningError) -> SchemeTemplate.Source {
        func unknown(_ expected: String) -> SigningError {
            SigningError(
                .malformedScheme,
                "found {\(printable(String(name.unicodeScalars.prefix(64))))}, which is not "
                    + "defined, expected \(expected)")
        }
        if let source = Self.plainSources[name] { return source }
        if let format = SchemeTime.named(name) { return .time(format) }
        if let index = values.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            return .value(index)
        }
        if name == "headers.lines" || name == "headers.names" {
            guard headers != nil else {
                throw SigningError(
                    .malformedScheme, "found {\(name)}, expected \"signedHeaders\" to define it")
            }
            return name == "headers.lines" ? .headerLines : .headerNames
        }
        if name.hasPrefix("set.") {
            let index = settings.firstIndex { "set.\($0.name)".utf8.elementsEqual(name.utf8) }
            guard let index else { throw unknown("a setting of \"settings\"") }
            return .setting(index)
        }
        if name.hasPrefix("header.") {
            let field = name.utf8.dropFirst(7)
            guard !field.isEmpty, field.allSatisfy(\.isToken) else {
                throw unknown("{header.NAME} with the name of a field")
            }
            return .header(field.map(\.lowercased))
        }
        throw unknown("a name of the language, or a value that is defined before this one")
    }
}
