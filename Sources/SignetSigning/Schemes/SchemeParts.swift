internal import SignetCrypto
internal import SignetJSON

/// A scheme document while it is read; every member must be known.
struct SchemeParts {
    let name: String
    let document: JSONObject
    private(set) var settings: [SchemePlan.Setting] = []
    private(set) var values: [(name: String, step: SchemePlan.Step)] = []
    private(set) var headers: SchemePlan.HeaderRule?
    private(set) var injections: [SchemePlan.Carrier] = []
    private(set) var text = SchemePlan.Step.join([], separator: [])
    private(set) var algorithm = SchemePlan.Algorithm.asymmetric([])
    private(set) var encoding = SchemePlan.Encoding.hex
    private(set) var placements: [SchemePlan.Carrier] = []
    private(set) var nonce = SchemePlan.NonceRule(
        prefix: [], byteCount: 16, encoding: .hex, forbidden: [])

    /// Reads a document of version 1.
    ///
    /// - Throws: `malformed-scheme`, naming the member.
    init(_ document: JSONObject) throws(SigningError) {
        let root = SchemeReader(document, at: "the scheme")
        guard try root.integer("signet-scheme") == 1 else {
            throw root.malformed("\"signet-scheme\" must be 1")
        }
        self.name = try root.text("name")
        self.document = document
        try root.demand([
            "signet-scheme", "name", "about", "source", "settings", "values", "signedHeaders",
            "nonce", "inject", "text", "sign", "signature", "place",
        ])
        guard !name.isEmpty, name.utf8.allSatisfy({ $0.isToken }) else {
            throw root.malformed("\"name\" must be a token")
        }
        if let settings = try root.optionalObject("settings") { try readSettings(settings) }
        if let headers = try root.optionalObject("signedHeaders") {
            self.headers = try headerRule(headers)
        }
        if let nonce = try root.optionalObject("nonce") { self.nonce = try nonceRule(nonce) }
        if let values = try root.optionalObject("values") {
            for (name, value) in values.object {
                guard !name.contains("."), !Self.plain.keys.contains(name) else {
                    throw values.malformed("a value cannot be called \(printable(name))")
                }
                let step = try step(value, at: "\(values.place).\(printable(name))")
                self.values.append((name, step))
            }
        }
        self.injections = try carriers(root, "inject")
        self.text = try step(root.value("text"), at: "\(root.place).text")
        if let encoding = try root.optionalText("signature") {
            self.encoding = try root.choice(encoding, "signature")
        }
        self.algorithm = try algorithm(try root.requiredObject("sign"))
        self.placements = try carriers(root, "place")
        let places = placements.flatMap(\.templates).flatMap(\.sources)
        guard places.contains(.signature) else {
            throw root.malformed("\"place\" puts {signature} nowhere")
        }
    }

    // MARK: Settings and conditions

    private mutating func readSettings(_ settings: SchemeReader) throws(SigningError) {
        for (name, value) in settings.object {
            let setting = try SchemeReader(value, at: "\(settings.place).\(printable(name))")
            try setting.demand(["about", "required", "enum", "default"])
            self.settings.append(
                SchemePlan.Setting(
                    name: name, isRequired: try setting.flag("required"),
                    allowed: try setting.optionalTexts("enum")?.map { Array($0.utf8) },
                    fallback: try setting.optionalText("default").map { Array($0.utf8) }))
        }
    }

    private func condition(_ object: SchemeReader?) throws(SigningError) -> SchemePlan.Condition {
        guard let object else { return .always }
        var tests: [(setting: Int, wanted: SchemePlan.Condition.Wanted)] = []
        for (name, value) in object.object {
            guard let index = settings.firstIndex(where: { $0.name == name }) else {
                throw object.malformed("no setting is called \(printable(name))")
            }
            switch value {
            case .bool(let isPresent): tests.append((index, .presence(isPresent)))
            case .string(let text): tests.append((index, .value(Array(text.utf8))))
            default: throw object.malformed("wanted a text, true or false for \(printable(name))")
            }
        }
        return SchemePlan.Condition(tests: tests)
    }

    // MARK: Templates

    private static let plain: [String: SchemeTemplate.Source] = [
        "method": .method, "target": .target, "path": .path, "query": .query, "host": .host,
        "body": .body, "keyid": .keyID, "nonce": .nonce, "lifetime": .lifetime,
        "signature": .signature, "secret": .secret, "time": .time(.unix),
    ]

    func template(
        _ text: String, at place: String, allowing special: Set<String> = []
    ) throws(SigningError) -> SchemeTemplate {
        do throws(SigningError) {
            return try SchemeTemplate(parsing: text) { name throws(SigningError) in
                if name == "signature" || name == "secret", !special.contains(name) {
                    throw SigningError(.malformedScheme, "{\(name)} cannot stand here")
                }
                return try source(name)
            }
        } catch {
            throw SigningError(.malformedScheme, "\(place): \(error.message)")
        }
    }

    private func source(_ name: String) throws(SigningError) -> SchemeTemplate.Source {
        if let source = Self.plain[name] { return source }
        if let format = SchemeTime(rawValue: name) { return .time(format) }
        if let index = values.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            return .value(index)
        }
        if name == "headers.lines" || name == "headers.names" {
            guard headers != nil else {
                throw SigningError(
                    .malformedScheme, "{\(name)} wants \"signedHeaders\" to say which")
            }
            return name == "headers.lines" ? .headerLines : .headerNames
        }
        if name.hasPrefix("set."),
            let index = settings.firstIndex(where: { "set.\($0.name)" == name })
        {
            return .setting(index)
        }
        if name.hasPrefix("header."), name.utf8.dropFirst(7).allSatisfy(\.isToken) {
            return .header(name.utf8.dropFirst(7).map(\.lowercased))
        }
        throw SigningError(
            .malformedScheme,
            "nothing is called {\(printable(name))}; a value must be defined before it is used")
    }

    // MARK: Steps

    private func step(_ value: JSONValue, at place: String) throws(SigningError) -> SchemePlan.Step
    {
        if let text = value.string { return .template(try template(text, at: place)) }
        if let choices = value.array {
            var result: [(SchemePlan.Condition, SchemePlan.Step)] = []
            for (index, choice) in choices.enumerated() {
                let choice = try SchemeReader(choice, at: "\(place)[\(index)]")
                try choice.demand(["when", "is"])
                result.append(
                    (
                        try condition(choice.optionalObject("when")),
                        try step(choice.value("is"), at: choice.place)
                    ))
            }
            return .choice(result)
        }
        let reader = try SchemeReader(value, at: place)
        if reader.has("join") {
            try reader.demand(["join", "with"])
            var steps: [SchemePlan.Step] = []
            for (index, part) in try reader.array("join").enumerated() {
                steps.append(try step(part, at: "\(place).join[\(index)]"))
            }
            return .join(steps, separator: Array(try reader.text("with").utf8))
        }
        if reader.has("hash") {
            try reader.demand(["hash", "of", "as"])
            return .hash(
                try reader.choice(reader.text("hash"), "hash"),
                try step(reader.value("of"), at: "\(place).of"),
                try reader.choice(reader.text("as"), "as"))
        }
        if reader.has("path") {
            let path = try reader.requiredObject("path")
            try reader.demand(["path"])
            try path.demand(["normalize", "encode"])
            var normalize: SchemePlan.Condition?
            if let when = try path.optionalObject("normalize") { normalize = try condition(when) }
            return .path(normalize: normalize, encodes: try path.flag("encode"))
        }
        if reader.has("parameters") {
            try reader.demand(["parameters"])
            return .parameters(try parameterRule(reader.requiredObject("parameters")))
        }
        throw reader.malformed("wanted a text, a list, or one of join, hash, path, parameters")
    }

    private func parameterRule(
        _ rule: SchemeReader
    ) throws(SigningError) -> SchemePlan.ParameterRule {
        try rule.demand([
            "from", "decode", "encode", "skipEmpty", "except", "add", "sort", "assign", "with",
        ])
        var origins: [SchemePlan.ParameterRule.Origin] = []
        for origin in try rule.texts("from") { origins.append(try rule.choice(origin, "from")) }
        var added: [(name: [UInt8], value: SchemeTemplate)] = []
        if let add = try rule.optionalObject("add") {
            for (name, value) in add.object {
                let text = value.string ?? ""
                added.append((Array(name.utf8), try template(text, at: add.place)))
            }
        }
        return SchemePlan.ParameterRule(
            origins: origins, decodes: try rule.flag("decode"), encodes: try rule.flag("encode"),
            skipsEmpty: try rule.flag("skipEmpty"),
            except: try rule.optionalTexts("except")?.map { Array($0.utf8) } ?? [], added: added,
            order: try rule.choice(rule.text("sort"), "sort"),
            assign: Array(try rule.optionalText("assign")?.utf8 ?? "=".utf8),
            separator: Array(try rule.optionalText("with")?.utf8 ?? "&".utf8))
    }

    // MARK: Fields, nonce, carriers

    private func headerRule(_ rule: SchemeReader) throws(SigningError) -> SchemePlan.HeaderRule {
        try rule.demand(["select", "except", "required", "spaces", "duplicates"])
        let select = try rule.texts("select").map { $0.utf8.map(\.lowercased) }
        let spaces = try rule.optionalText("spaces") ?? "keep"
        let duplicates = try rule.optionalText("duplicates") ?? "keep"
        guard ["keep", "collapse"].contains(spaces) else {
            throw rule.malformed("\"spaces\" must be keep or collapse")
        }
        guard ["keep", "sort"].contains(duplicates) else {
            throw rule.malformed("\"duplicates\" must be keep or sort")
        }
        func names(_ member: String) throws(SigningError) -> [[UInt8]] {
            try rule.optionalTexts(member)?.map { $0.utf8.map(\.lowercased) } ?? []
        }
        let star = UInt8(ascii: "*")
        return SchemePlan.HeaderRule(
            names: select.filter { $0.last != star },
            prefixes: select.filter { $0.last == star && $0.count > 1 }.map { $0.dropLast() },
            selectsAll: select.contains([star]), except: try names("except"),
            required: try names("required"), collapsesSpaces: spaces == "collapse",
            sortsValues: duplicates == "sort")
    }

    private func nonceRule(_ rule: SchemeReader) throws(SigningError) -> SchemePlan.NonceRule {
        try rule.demand(["prefix", "bytes", "as", "forbidden"])
        let count = try rule.integer("bytes")
        guard (16...64).contains(count) else { throw rule.malformed("\"bytes\" must be 16 to 64") }
        return SchemePlan.NonceRule(
            prefix: Array(try rule.optionalText("prefix")?.utf8 ?? "".utf8), byteCount: Int(count),
            encoding: try rule.choice(rule.text("as"), "as"),
            forbidden: Array(try rule.optionalText("forbidden")?.utf8 ?? "".utf8))
    }

    private func carriers(
        _ root: SchemeReader, _ member: String
    ) throws(SigningError) -> [SchemePlan.Carrier] {
        guard root.has(member) else { return [] }
        let special: Set<String> = member == "place" ? ["signature"] : []
        var carriers: [SchemePlan.Carrier] = []
        for (index, entry) in try root.array(member).enumerated() {
            let carrier = try SchemeReader(entry, at: "\(root.place).\(member)[\(index)]")
            try carrier.demand(["when", "header", "query", "xml", "value", "list", "with"])
            let place: SchemePlan.Place
            if let name = try carrier.optionalText("header") {
                guard !name.isEmpty, name.utf8.allSatisfy(\.isToken) else {
                    throw carrier.malformed("\"header\" is no field's name")
                }
                place = .header(name)
            } else if let name = try carrier.optionalText("query") {
                place = .query(Array(name.utf8))
            } else {
                place = .xml(Array(try carrier.text("xml").utf8))
            }
            var templates: [SchemeTemplate] = []
            var separator: [UInt8]?
            if carrier.has("list") {
                for text in try carrier.texts("list") {
                    templates.append(try template(text, at: carrier.place, allowing: special))
                }
                separator = Array(try carrier.text("with").utf8)
            } else {
                let text = try carrier.text("value")
                templates = [try template(text, at: carrier.place, allowing: special)]
            }
            carriers.append(
                SchemePlan.Carrier(
                    condition: try condition(carrier.optionalObject("when")), place: place,
                    templates: templates, separator: separator))
        }
        return carriers
    }

    // MARK: The signature

    private func algorithm(_ sign: SchemeReader) throws(SigningError) -> SchemePlan.Algorithm {
        if sign.has("hmac") {
            try sign.demand(["hmac", "secret", "prefix", "chain"])
            let digest: DigestAlgorithm
            switch try sign.text("hmac") {
            case "sha256": digest = .sha256
            case "sha384": digest = .sha384
            case "sha512": digest = .sha512
            default: throw sign.malformed("\"hmac\" must be sha256, sha384 or sha512")
            }
            var chain: [SchemeTemplate] = []
            for link in try sign.optionalTexts("chain") ?? [] {
                chain.append(try template(link, at: "\(sign.place).chain"))
            }
            return .hmac(
                digest,
                decoding: try sign.choice(sign.optionalText("secret") ?? "none", "secret"),
                prefix: Array(try sign.optionalText("prefix")?.utf8 ?? "".utf8), chain: chain)
        }
        if sign.has("hash") {
            try sign.demand(["hash", "before", "behind"])
            func secret(_ member: String) throws(SigningError) -> SchemeTemplate? {
                guard let text = try sign.optionalText(member) else { return nil }
                return try template(
                    text, at: "\(sign.place).\(member)", allowing: ["secret"])
            }
            let before = try secret("before")
            let behind = try secret("behind")
            let sources = (before?.sources ?? []) + (behind?.sources ?? [])
            guard sources.contains(.secret) else {
                throw sign.malformed(
                    "a hash without {secret} before or behind the text proves nothing")
            }
            return .hash(try sign.choice(sign.text("hash"), "hash"), before: before, behind: behind)
        }
        try sign.demand(["key"])
        var algorithms: [SignatureAlgorithm] = []
        for name in try sign.texts("key") {
            switch name {
            case "ed25519": algorithms.append(.ed25519)
            case "ecdsa-p256-sha256": algorithms.append(.ecdsaP256SHA256)
            case "ecdsa-p384-sha384": algorithms.append(.ecdsaP384SHA384)
            case "rsa-pss-sha512": algorithms.append(.rsaPSSSHA512)
            case "rsa-v1_5-sha256": algorithms.append(.rsaPKCS1SHA256)
            default: throw sign.malformed("\"key\" names no algorithm of RFC 9421, section 3.3")
            }
        }
        guard !algorithms.isEmpty else { throw sign.malformed("\"key\" names no algorithm") }
        return .asymmetric(algorithms)
    }
}
