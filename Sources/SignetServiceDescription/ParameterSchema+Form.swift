import SignetBase
import SignetJSON
import SignetRPC

extension ParameterSchema {
    /// Returns the first mismatch of a form; nil if it fits, or may fit. The mismatch repeats no
    /// value.
    ///
    /// All values in a form are text, and a name may occur several times. Only `required`,
    /// `properties` and `additionalProperties` of the schema and its `allOf` are checked.
    ///
    /// - Parameters:
    ///   - fields: Names and texts.
    ///   - files: The names of the fields with files.
    ///   - spreads: Whether an object's members may be fields of their own, as in URL-encoded
    ///     forms.
    func mismatch(form fields: [SuppliedBody.Field], files: [String], spreads: Bool) -> Mismatch? {
        let form = FormCheck(fields: fields, files: files, spreads: spreads, document: document)
        var waiting = [value]
        // The limit ends the check of a schema that refers to itself.
        for _ in 0..<200 {
            guard let schema = waiting.popLast() else { break }
            guard let rules = schema.resolved(in: document)?.object else { continue }
            if let found = form.mismatch(rules) { return found }
            waiting += rules["allOf"]?.array ?? []
        }
        return nil
    }
}

/// Checks one form.
private struct FormCheck {
    let files: [String]
    let spreads: Bool
    let document: JSONValue
    /// The names in order, and the texts of each; nil for an unknown text.
    private var names: [String] = []
    private var texts: [ByteName: [String?]] = [:]

    init(fields: [SuppliedBody.Field], files: [String], spreads: Bool, document: JSONValue) {
        self.files = files
        self.spreads = spreads
        self.document = document
        for field in fields + files.map({ SuppliedBody.Field(name: $0, text: nil) }) {
            // Some forms write the members of `tags` and `filter` as `tags[]` and `filter[name]`.
            let end = field.name.utf8.firstIndex(of: UInt8(ascii: "[")) ?? field.name.endIndex
            let isWhole = end == field.name.endIndex || end == field.name.startIndex
            let name = isWhole ? field.name : String(field.name[..<end])
            if texts[ByteName(name)] == nil { names.append(name) }
            texts[ByteName(name), default: []].append(isWhole ? field.text : nil)
        }
    }

    func mismatch(_ rules: JSONObject) -> ParameterSchema.Mismatch? {
        // A schema with its own `$id` is the base of its references, which may lead elsewhere.
        guard rules["$id"] == nil else { return nil }
        let known = rules["properties"]?.object ?? [:]
        for name in (rules["required"]?.array ?? []).compactMap(\.string)
        where texts[ByteName(name)] == nil {
            let schema = known[name]?.resolved(in: document)
            if schema?["readOnly"]?.bool == true || (spreads && mayBeObject(known[name])) {
                continue
            }
            return ParameterSchema.Mismatch(
                place: ParameterSchema.step(name), found: "nothing", expected: "a value")
        }
        let isClosed =
            rules["additionalProperties"]?.bool == false && rules["patternProperties"] == nil
            && !(spreads && known.contains { mayBeObject($0.value) })
        for name in names {
            guard let schema = known[name] else {
                guard isClosed else { continue }
                return ParameterSchema.Mismatch(
                    place: ParameterSchema.step(name), found: "a field of this name",
                    expected: known.isEmpty
                        ? "none" : "one of \(MethodDescription.list(known.memberNames))")
            }
            if let found = mismatch(of: texts[ByteName(name)] ?? [], schema: schema, named: name) {
                return found
            }
        }
        return nil
    }

    private func mismatch(
        of texts: [String?], schema: JSONValue, named name: String
    ) -> ParameterSchema.Mismatch? {
        let known = texts.compactMap(\.self)
        let parameter = ParameterSchema(schema, in: document)
        guard known.count == texts.count, !known.isEmpty else { return nil }
        let asTexts = known.map(JSONValue.string)
        let asJSON = known.map { (try? JSONValue(parsing: Array($0.utf8))) ?? .string($0) }
        var forms: [JSONValue] = [.array(asTexts), .array(asJSON)]
        if known.count == 1 {
            // One text may be a whole array, with any delimiter.
            if schema.resolved(in: document).map({ mayBe("array", under: $0) }) != false {
                return nil
            }
            // The mismatch of the last form is reported.
            let isText = schema.resolved(in: document).map { mayBe("string", under: $0) } == true
            forms += isText ? [asJSON[0], asTexts[0]] : [asTexts[0], asJSON[0]]
        }
        var last: ParameterSchema.Mismatch?
        for form in forms {
            guard let found = parameter.mismatch(form, repeatsValues: false) else { return nil }
            last = found
        }
        guard var last else { return nil }
        last.place = ParameterSchema.step(name) + last.place
        return last
    }

    private func mayBeObject(_ schema: JSONValue?) -> Bool {
        guard let schema, let rules = schema.resolved(in: document) else { return schema != nil }
        return mayBe("object", under: rules)
    }

    /// Returns whether a schema allows, or may allow, a value of a type.
    private func mayBe(_ type: String, under schema: JSONValue) -> Bool {
        if let types = schema["type"].map({ $0.array ?? [$0] }) {
            return types.contains(.string(type))
        }
        guard let rules = schema.object else { return schema.bool != false }
        return rules["enum"] == nil && rules["const"] == nil
    }
}
