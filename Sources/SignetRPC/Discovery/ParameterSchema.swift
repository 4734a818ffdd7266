public import SignetJSON

/// The common core of JSON Schema, as service descriptions use it, to see a wrong parameter before it is
/// sent.
///
/// Looked at are `type`, `enum`, `const`, `nullable`, `minimum`, `maximum`, `minLength`, `maxLength`,
/// `minItems`, `maxItems`, `items`, `prefixItems`, `required`, `properties`, `additionalProperties`, `allOf`,
/// `anyOf`, `oneOf` and `$ref` within the document. All else is ignored, and what is in doubt is taken: a
/// value that the schema allows is never refused, one that it forbids may pass.
public struct ParameterSchema: Sendable, Hashable {
    /// The schema: an object, or a boolean.
    public let value: JSONValue
    let document: JSONValue

    /// Takes a schema, and the document in which its references lead.
    public init(_ value: JSONValue, in document: JSONValue) {
        self.value = value
        self.document = document
    }

    /// What a value is and what was expected of it.
    public struct Mismatch: Sendable, Hashable {
        /// Where in the value, such as `.address.lines[2]`; empty is the value itself.
        public var place: String
        /// What stands there: a type, a length, or what an enumeration does not list, shortened.
        public var found: String
        /// What the schema allows.
        public var expected: String
    }

    /// Where a value does not fit; nil where it does, or where that cannot be known.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - repeatsValues: Whether the mismatch may repeat a number or a text; false for what may be secret.
    public func mismatch(_ value: JSONValue, repeatsValues: Bool = true) -> Mismatch? {
        Check(document: document, repeatsValues: repeatsValues).mismatch(value, self.value, "", 0)
    }

    /// The types that the schema names itself, such as `string` or `integer|null`; `any` without one.
    public var typeName: String {
        let schema = Check(document: document, repeatsValues: false).resolved(value)
        if let types = Check.types(schema) {
            return types.map { Printable.text($0, limit: 40) }.joined(separator: "|")
        }
        return schema["enum"] == nil ? "any" : "enum"
    }
}

/// One look at a value.
private struct Check {
    let document: JSONValue
    let repeatsValues: Bool
    private let budget = Budget()
    private static let maximumDepth = 64

    init(document: JSONValue, repeatsValues: Bool) {
        self.document = document
        self.repeatsValues = repeatsValues
    }

    /// A value as a mismatch shows it.
    private func shown(_ value: JSONValue, limit: Int) -> String {
        repeatsValues ? Printable.text(value.text, limit: limit) : "another \(value.typeName)"
    }

    /// How many schemas are looked at: those that refer to themselves in several ways would never end.
    private final class Budget {
        var left = 20_000
    }

    typealias Mismatch = ParameterSchema.Mismatch

    func mismatch(_ value: JSONValue, _ schema: JSONValue, _ place: String, _ depth: Int)
        -> Mismatch?
    {
        if schema.bool == false {
            return Mismatch(place: place, found: "a value", expected: "none")
        }
        // A schema with an identifier of its own may mean other places by its references.
        guard let rules = schema.object, depth < Self.maximumDepth,
            rules["$id"] == nil || depth == 0, budget.left > 0
        else { return nil }
        budget.left -= 1
        if let reference = rules["$ref"] {
            guard let target = target(of: reference) else { return nil }
            return mismatch(value, target, place, depth + 1)
        }
        if value.isNull, rules["nullable"]?.bool == true { return nil }
        return type(value, rules, place) ?? listed(value, rules, place) ?? limits(
            value, rules, place)
            ?? elements(value, rules, place, depth) ?? members(value, rules, place, depth)
            ?? combinations(value, rules, place, depth)
    }

    // MARK: One value

    static func types(_ schema: JSONValue) -> [String]? {
        let names = schema["type"].map { $0.array ?? [$0] }?.compactMap(\.string)
        return names?.isEmpty == false ? names : nil
    }

    private func type(_ value: JSONValue, _ rules: JSONObject, _ place: String) -> Mismatch? {
        guard let types = Self.types(.object(rules)) else { return nil }
        let fits = types.contains { type in
            switch type {
            case "null": value.isNull
            case "boolean": value.bool != nil
            case "number": value.number != nil
            case "integer": value.number.map(Self.mayBeInteger) ?? false
            case "string": value.string != nil
            case "array": value.array != nil
            case "object": value.object != nil
            default: true
            }
        }
        guard !fits else { return nil }
        let found =
            value.number == nil || !repeatsValues
            ? value.typeName : "number \(Printable.text(value.text, limit: 24))"
        return Mismatch(
            place: place, found: found,
            expected: types.map { Printable.text($0, limit: 40) }.joined(separator: " or "))
    }

    /// A number without a fraction is an integer, however it is written.
    private static func mayBeInteger(_ number: JSONNumber) -> Bool {
        if number.isInteger { return true }
        guard let double = number.double else { return true }
        return double.rounded() == double
    }

    private func listed(_ value: JSONValue, _ rules: JSONObject, _ place: String) -> Mismatch? {
        guard let allowed = rules["enum"]?.array ?? rules["const"].map({ [$0] }),
            !allowed.contains(where: { Self.mayEqual($0, value) })
        else { return nil }
        let names = allowed.prefix(12).map { Printable.text($0.text, limit: 40) }
        return Mismatch(
            place: place, found: shown(value, limit: 40),
            expected: "one of " + names.joined(separator: ", ")
                + (allowed.count > names.count ? ", …" : ""))
    }

    private static func mayEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)):
            if left.text == right.text { return true }
            guard let left = left.double, let right = right.double else { return true }
            return left == right
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy(mayEqual)
        case (.object(let left), .object(let right)):
            return left.count == right.count
                && left.allSatisfy { name, value in right[name].map { mayEqual(value, $0) } ?? false
                }
        default: return left == right
        }
    }

    private func limits(_ value: JSONValue, _ rules: JSONObject, _ place: String) -> Mismatch? {
        if let number = value.number?.double {
            // Rounding keeps the order, so that what is less as a Double is less.
            if let least = rules["minimum"]?.number, let limit = least.double, number < limit {
                return Mismatch(
                    place: place, found: shown(value, limit: 24),
                    expected: "at least \(Printable.text(least.text, limit: 24))")
            }
            if let most = rules["maximum"]?.number, let limit = most.double, number > limit {
                return Mismatch(
                    place: place, found: shown(value, limit: 24),
                    expected: "at most \(Printable.text(most.text, limit: 24))")
            }
        }
        if let text = value.string {
            return count(text.unicodeScalars.count, "characters", "Length", rules, place)
        }
        if let elements = value.array {
            return count(elements.count, "elements", "Items", rules, place)
        }
        return nil
    }

    private func count(
        _ count: Int, _ what: String, _ suffix: String, _ rules: JSONObject, _ place: String
    ) -> Mismatch? {
        if let least = rules["min\(suffix)"]?.number?.int64, count < least {
            return Mismatch(place: place, found: "\(count) \(what)", expected: "at least \(least)")
        }
        if let most = rules["max\(suffix)"]?.number?.int64, count > most {
            return Mismatch(place: place, found: "\(count) \(what)", expected: "at most \(most)")
        }
        return nil
    }

    // MARK: Values within

    private func elements(
        _ value: JSONValue, _ rules: JSONObject, _ place: String, _ depth: Int
    ) -> Mismatch? {
        guard let elements = value.array else { return nil }
        let first = rules["prefixItems"]?.array ?? rules["items"]?.array ?? []
        let rest = rules["items"].flatMap { $0.array == nil ? $0 : nil }
        for (index, element) in elements.enumerated() {
            guard let schema = index < first.count ? first[index] : rest else { continue }
            if let found = mismatch(element, schema, "\(place)[\(index)]", depth + 1) {
                return found
            }
        }
        return nil
    }

    private func members(
        _ value: JSONValue, _ rules: JSONObject, _ place: String, _ depth: Int
    ) -> Mismatch? {
        guard let members = value.object else { return nil }
        let known = rules["properties"]?.object ?? [:]
        for name in (rules["required"]?.array ?? []).compactMap(\.string) where members[name] == nil
        {
            // What only the server writes is required of its answers alone (OpenAPI 3).
            if known[name].map(resolved)?["readOnly"]?.bool == true { continue }
            return Mismatch(place: place + Self.step(name), found: "nothing", expected: "a value")
        }
        for (name, member) in members {
            if let schema = known[name] {
                if let found = mismatch(member, schema, place + Self.step(name), depth + 1) {
                    return found
                }
            } else if rules["patternProperties"] == nil, let others = rules["additionalProperties"]
            {
                if others.bool == false {
                    return Mismatch(
                        place: place + Self.step(name), found: "a member of this name",
                        expected: known.isEmpty ? "none" : "one of \(Self.list(known.memberNames))")
                }
                if let found = mismatch(member, others, place + Self.step(name), depth + 1) {
                    return found
                }
            }
        }
        return nil
    }

    static func step(_ name: String) -> String { "." + Printable.text(name, limit: 64) }

    static func list(_ names: [String]) -> String {
        names.prefix(12).map { Printable.text($0, limit: 40) }.joined(separator: ", ")
            + (names.count > 12 ? ", …" : "")
    }

    private func combinations(
        _ value: JSONValue, _ rules: JSONObject, _ place: String, _ depth: Int
    ) -> Mismatch? {
        for schema in rules["allOf"]?.array ?? [] {
            if let found = mismatch(value, schema, place, depth + 1) { return found }
        }
        for name in ["anyOf", "oneOf"] {
            guard let schemas = rules[name]?.array, !schemas.isEmpty else { continue }
            var mismatches: [Mismatch] = []
            for schema in schemas {
                guard let found = mismatch(value, schema, place, depth + 1) else { break }
                mismatches.append(found)
            }
            guard mismatches.count == schemas.count else { continue }
            guard mismatches.count > 1 else { return mismatches[0] }
            let here = mismatches.filter { $0.place == place }
            return Mismatch(
                place: place, found: here.first?.found ?? value.typeName,
                expected: here.isEmpty
                    ? "one of \(schemas.count) forms"
                    : here.map(\.expected).joined(separator: ", or "))
        }
        return nil
    }

    // MARK: References

    /// A schema behind its references.
    func resolved(_ schema: JSONValue) -> JSONValue {
        var schema = schema
        for _ in 0..<Self.maximumDepth {
            guard let reference = schema["$ref"], let next = target(of: reference) else { break }
            schema = next
        }
        return schema
    }

    /// Where a reference leads within the document; nil for any other.
    private func target(of reference: JSONValue) -> JSONValue? {
        reference.string.flatMap { document.target(ofReference: $0) }
    }
}

extension JSONValue {
    /// Where a reference of the form `#/a/b` leads (RFC 6901, section 6); nil where it leads elsewhere or
    /// nowhere.
    func target(ofReference reference: String) -> JSONValue? {
        guard reference.utf8.first == UInt8(ascii: "#") else { return nil }
        guard let pointer = Self.undoingPercent(reference.utf8.dropFirst()) else { return nil }
        if pointer.isEmpty { return self }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var value = self
        for step in pointer.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            let name = String(Substring(step)).replacing("~1", with: "/").replacing("~0", with: "~")
            let next: JSONValue? =
                if let elements = value.array {
                    Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                } else {
                    value[name]
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }

    private static func undoingPercent(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let escaped = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2
            else {
                return nil
            }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
