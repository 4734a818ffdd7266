internal import SignetCrypto
internal import SignetJSON

/// A scheme document while it is read; every member must be known, and every part must fit the others.
struct SchemeParser {
    let name: String
    let document: JSONObject
    var settings: [CompiledScheme.Setting] = []
    var values: [(name: String, step: CompiledScheme.Step)] = []
    var headers: CompiledScheme.HeaderRule?
    var injections: [CompiledScheme.Carrier] = []
    var text = CompiledScheme.Step.join([], separator: [])
    var algorithm = CompiledScheme.Algorithm.asymmetric([])
    var encoding = CompiledScheme.Encoding.hex
    var placements: [CompiledScheme.Carrier] = []
    var nonce = CompiledScheme.NonceRule(prefix: [], byteCount: 16, encoding: .hex, forbidden: [])

    /// Reads a document of version 1.
    ///
    /// - Throws: `malformed-scheme`, naming the place.
    init(_ document: JSONObject) throws(SigningError) {
        let root = SchemeReader(document, at: "$")
        _ = try root.integer("signet-scheme", in: 1...1)
        try root.demand([
            "signet-scheme", "name", "about", "source", "settings", "values",
            "signedHeaders",
            "nonce", "inject", "text", "sign", "signature", "place", "$schema",
        ])
        let wanted = "a token of 1 to \(SchemeLimits.nameBytes) bytes"
        let name = try root.optionalBytes(
            "name", wanted: wanted, 1...SchemeLimits.nameBytes, \.isToken)
        guard let name else { throw root.wrong("name", wanted: wanted) }
        self.name = String(decoding: name, as: UTF8.self)
        guard !["rfc9421", "salted-hmac-v1"].contains(self.name) else {
            throw root.wrong("name", wanted: "another: this scheme has an engine of its own")
        }
        self.document = document
        for member in ["$schema", "about", "source"] { _ = try root.optionalText(member) }
        if let settings = try root.optionalObject("settings") { try readSettings(settings) }
        if let headers = try root.optionalObject("signedHeaders") {
            self.headers = try headerRule(headers)
        }
        if let nonce = try root.optionalObject("nonce") { self.nonce = try nonceRule(nonce) }
        if let values = try root.optionalObject("values") { try readValues(values) }
        self.injections = try carriers(root, "inject", 0...SchemeLimits.injections)
        self.text = try step(
            root.value("text", wanted: Self.stepKinds), at: root.path("text"))
        self.encoding = try root.choice("signature", else: .hex)
        self.algorithm = try algorithm(root.requiredObject("sign"))
        guard root.has("place") else {
            throw root.wrong("place", wanted: "where the signature stands")
        }
        self.placements = try carriers(root, "place", 1...SchemeLimits.placements)
        try check(root)
    }

    // MARK: Settings, values and conditions

    /// Letters, digits, `-` and `_`, so that a template and `--set` can say it.
    private static func isName(_ name: String) -> Bool {
        (1...SchemeLimits.nameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == 0x2D || $0 == 0x5F }
    }

    private static func requireName(
        _ name: String, _ reader: SchemeReader
    ) throws(SigningError) {
        guard isName(name) else {
            throw SigningError(
                .malformedScheme,
                "\(reader.path(name)): found a name of other characters, wanted 1 to "
                    + "\(SchemeLimits.nameBytes) letters, digits, - and _")
        }
    }

    private mutating func readSettings(_ settings: SchemeReader) throws(SigningError) {
        try settings.demand(atMost: SchemeLimits.settings, "settings")
        let wanted = "visible ASCII of 1 to \(SchemeLimits.templateBytes) bytes"
        for (name, value) in settings.object {
            try Self.requireName(name, settings)
            let setting = try SchemeReader(value, at: settings.path(name))
            try setting.demand(["about", "required", "enum", "default"])
            _ = try setting.optionalText("about")
            var allowed: [[UInt8]]?
            for (text, place) in try setting.optionalTexts("enum", 1...SchemeLimits.names) ?? [] {
                guard !text.isEmpty, text.utf8.allSatisfy(\.isVisible) else {
                    throw SchemeReader.wrong(.string(text), at: place, wanted: wanted)
                }
                allowed = (allowed ?? []) + [Array(text.utf8)]
            }
            let fallback = try setting.optionalBytes(
                "default", wanted: wanted, 1...SchemeLimits.templateBytes, \.isVisible)
            let isRequired = try setting.flag("required")
            if let fallback {
                guard !isRequired else {
                    throw setting.wrong("default", wanted: "none: the setting is required")
                }
                guard allowed?.contains(fallback) ?? true else {
                    throw setting.wrong("default", wanted: "one of \"enum\"")
                }
            }
            self.settings.append(
                CompiledScheme.Setting(
                    name: name, isRequired: isRequired, allowed: allowed, fallback: fallback))
        }
    }

    private mutating func readValues(_ values: SchemeReader) throws(SigningError) {
        try values.demand(atMost: SchemeLimits.values, "values")
        for (name, value) in values.object {
            try Self.requireName(name, values)
            guard !Self.plain.keys.contains(name) else {
                throw SigningError(
                    .malformedScheme,
                    "\(values.path(name)): found a name that the language has, wanted another")
            }
            self.values.append((name, try step(value, at: values.path(name))))
        }
    }

    func condition(_ object: SchemeReader?) throws(SigningError) -> CompiledScheme.Condition {
        guard let object else { return .always }
        var tests: [(setting: Int, wanted: CompiledScheme.Condition.Wanted)] = []
        for (name, value) in object.object {
            guard let index = settings.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) })
            else {
                let known = settings.map(\.name).joined(separator: ", ")
                throw SigningError(
                    .malformedScheme,
                    "\(object.path(name)): no setting has this name, wanted "
                        + (known.isEmpty ? "\"settings\" to say it" : "one of \(known)"))
            }
            switch value {
            case .bool(let isPresent): tests.append((index, .presence(isPresent)))
            case .string(let text):
                let bytes = Array(text.utf8)
                guard settings[index].allowed?.contains(bytes) ?? true else {
                    throw object.wrong(name, wanted: "one of the setting's \"enum\"")
                }
                tests.append((index, .value(bytes)))
            default: throw object.wrong(name, wanted: "a text, true or false")
            }
        }
        return CompiledScheme.Condition(tests: tests)
    }

    // MARK: Templates

    static let plain: [String: SchemeTemplate.Source] = [
        "method": .method, "target": .target, "path": .path, "query": .query, "host": .host,
        "body": .body, "keyid": .keyID, "nonce": .nonce, "lifetime": .lifetime,
        "signature": .signature, "secret": .secret, "time": .time(.unix),
    ]

    func template(
        _ text: String, at place: String, allowing special: Set<String> = []
    ) throws(SigningError) -> SchemeTemplate {
        guard text.utf8.count <= SchemeLimits.templateBytes else {
            throw SigningError(
                .malformedScheme,
                "\(place): found \(text.utf8.count) bytes, wanted at most "
                    + "\(SchemeLimits.templateBytes)")
        }
        do throws(SigningError) {
            return try SchemeTemplate(parsing: text) { name throws(SigningError) in
                if name == "signature" || name == "secret", !special.contains(name) {
                    throw SigningError(
                        .malformedScheme,
                        "found {\(name)}, which stands only "
                            + (name == "secret" ? "beside a hash in \"sign\"" : "in \"place\""))
                }
                return try source(name)
            }
        } catch {
            throw SigningError(.malformedScheme, "\(place): \(error.message)")
        }
    }

    private func source(_ name: String) throws(SigningError) -> SchemeTemplate.Source {
        func unknown(_ wanted: String) -> SigningError {
            SigningError(
                .malformedScheme,
                "found {\(printable(String(name.unicodeScalars.prefix(64))))}, which nothing is "
                    + "called, wanted \(wanted)")
        }
        if let source = Self.plain[name] { return source }
        if let format = SchemeTime.named(name) { return .time(format) }
        if let index = values.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            return .value(index)
        }
        if name == "headers.lines" || name == "headers.names" {
            guard headers != nil else {
                throw SigningError(
                    .malformedScheme, "found {\(name)}, wanted \"signedHeaders\" to say which")
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
        throw unknown("a name of the language, or a value that stands before this one")
    }
}
