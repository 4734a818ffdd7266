import SignetJSON

extension ParameterSchema {
    /// Where a form does not fit; nil where it does, or where that cannot be known. No value is repeated.
    ///
    /// In a form all is text, and one name may stand there several times. Looked at are the schema's own
    /// `required`, `properties` and `additionalProperties`, and those of its `allOf`.
    ///
    /// - Parameters:
    ///   - fields: Names and texts.
    ///   - files: Names of which nothing else is known.
    ///   - spreads: Whether the members of an object stand beside it, as in URL-encoded forms.
    func mismatch(form fields: [SuppliedBody.Field], files: [String], spreads: Bool) -> Mismatch? {
        let form = FormCheck(fields: fields, files: files, spreads: spreads, document: document)
        var waiting = [value]
        // A schema may refer to itself, in several ways.
        for _ in 0..<200 {
            guard let schema = waiting.popLast() else { break }
            guard let rules = schema.resolved(in: document)?.object else { continue }
            if let found = form.mismatch(rules) { return found }
            waiting += rules["allOf"]?.array ?? []
        }
        return nil
    }
}

/// One look at a form.
private struct FormCheck {
    let files: [String]
    let spreads: Bool
    let document: JSONValue
    /// The names in their order, and the texts of each; nil for a text that is not known.
    private var names: [String] = []
    private var texts: [RPCMethod: [String?]] = [:]  // keyed by bytes

    init(fields: [SuppliedBody.Field], files: [String], spreads: Bool, document: JSONValue) {
        self.files = files
        self.spreads = spreads
        self.document = document
        for field in fields + files.map({ SuppliedBody.Field(name: $0, text: nil) }) {
            // `tags[]` and `filter[name]` are ways to write the members of `tags` and `filter`.
            let end = field.name.utf8.firstIndex(of: UInt8(ascii: "[")) ?? field.name.endIndex
            let isWhole = end == field.name.endIndex || end == field.name.startIndex
            let name = isWhole ? field.name : String(field.name[..<end])
            if texts[RPCMethod(name)] == nil { names.append(name) }
            texts[RPCMethod(name), default: []].append(isWhole ? field.text : nil)
        }
    }

    func mismatch(_ rules: JSONObject) -> ParameterSchema.Mismatch? {
        // A schema with an identifier of its own may mean other places by its references.
        guard rules["$id"] == nil else { return nil }
        let known = rules["properties"]?.object ?? [:]
        for name in (rules["required"]?.array ?? []).compactMap(\.string)
        where texts[RPCMethod(name)] == nil {
            let schema = known[name]?.resolved(in: document)
            if schema?["readOnly"]?.bool == true || (spreads && mayBeObject(known[name])) {
                continue
            }
            return ParameterSchema.Mismatch(
                place: Self.step(name), found: "nothing", expected: "a value")
        }
        let isClosed =
            rules["additionalProperties"]?.bool == false && rules["patternProperties"] == nil
            && !(spreads && known.contains { mayBeObject($0.value) })
        for name in names {
            guard let schema = known[name] else {
                guard isClosed else { continue }
                return ParameterSchema.Mismatch(
                    place: Self.step(name), found: "a field of this name",
                    expected: known.isEmpty
                        ? "none" : "one of \(MethodDescription.list(known.memberNames))")
            }
            if let found = mismatch(texts[RPCMethod(name)] ?? [], schema, name) { return found }
        }
        return nil
    }

    private func mismatch(
        _ texts: [String?], _ schema: JSONValue, _ name: String
    ) -> ParameterSchema.Mismatch? {
        let known = texts.compactMap(\.self)
        let expected = ParameterSchema(schema, in: document)
        guard known.count == texts.count, !known.isEmpty else { return nil }
        let asTexts = known.map(JSONValue.string)
        let asJSON = known.map { (try? JSONValue(parsing: Array($0.utf8))) ?? .string($0) }
        var forms: [JSONValue] = [.array(asTexts), .array(asJSON)]
        if known.count == 1 {
            // An array may be one text, with some delimiter.
            if schema.resolved(in: document).map({ mayBe("array", $0) }) != false { return nil }
            // The last one is told.
            let isText = schema.resolved(in: document).map { mayBe("string", $0) } == true
            forms += isText ? [asJSON[0], asTexts[0]] : [asTexts[0], asJSON[0]]
        }
        var last: ParameterSchema.Mismatch?
        for form in forms {
            guard let found = expected.mismatch(form, repeatsValues: false) else { return nil }
            last = found
        }
        return last.map {
            ParameterSchema.Mismatch(
                place: Self.step(name) + $0.place, found: $0.found, expected: $0.expected)
        }
    }

    private func mayBeObject(_ schema: JSONValue?) -> Bool {
        guard let schema, let rules = schema.resolved(in: document) else { return schema != nil }
        return mayBe("object", rules)
    }

    /// Whether a schema does not say that a value is of no such type.
    private func mayBe(_ type: String, _ schema: JSONValue) -> Bool {
        if let types = schema["type"].map({ $0.array ?? [$0] }) {
            return types.contains(.string(type))
        }
        guard let rules = schema.object else { return schema.bool != false }
        return rules["enum"] == nil && rules["const"] == nil
    }

    private static func step(_ name: String) -> String { "." + Printable.text(name, limit: 64) }
}
