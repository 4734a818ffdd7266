internal import SignetBase
public import SignetJSON
internal import SignetRPC

/// The common core of JSON Schema, as service descriptions use it, to find a wrong parameter before
/// it is sent.
///
/// The keywords checked are `type`, `enum`, `const`, `nullable`, `minimum`, `maximum`, `minLength`,
/// `maxLength`, `minItems`, `maxItems`, `items`, `prefixItems`, `required`, `properties`,
/// `additionalProperties`, `allOf`, `anyOf`, `oneOf` and `$ref` within the document. All others are
/// ignored, and doubtful values pass: a value that the schema allows is never refused, but one that
/// it forbids may pass.
public struct ParameterSchema: Sendable, Hashable {
    /// The schema: an object or a boolean.
    public let value: JSONValue
    let document: JSONValue

    /// Creates a schema whose references lead into `document`.
    public init(_ value: JSONValue, in document: JSONValue) {
        self.value = value
        self.document = document
    }

    /// A part of a value that does not fit the schema.
    public struct Mismatch: Sendable, Hashable {
        /// The part's place in the value, such as `.address.lines[2]`; empty for the value itself.
        public var place: String
        /// The type, length or value found, shortened.
        public var found: String
        /// The types, limits or values that the schema allows.
        public var expected: String
    }

    /// Returns the first mismatch of a value; nil if it fits, or may fit.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - repeatsValues: Whether the mismatch may repeat a number or a text; false if it may be
    ///     secret.
    public func mismatch(_ value: JSONValue, repeatsValues: Bool = true) -> Mismatch? {
        Check(document: document, repeatsValues: repeatsValues).mismatch(
            value, against: self.value, at: "", depth: 0)
    }

    /// The types that the schema itself names, such as `string` or `integer|null`; `any` if it
    /// names none.
    public var typeName: String {
        let schema = Check(document: document, repeatsValues: false).resolved(value)
        if let types = Check.types(schema) {
            return types.map { printable($0, limit: 40) }.joined(separator: "|")
        }
        return schema["enum"] == nil ? "any" : "enum"
    }
}

extension ParameterSchema {
    /// Returns a member's name as a step of a mismatch's place.
    static func step(_ name: String) -> String { "." + printable(name, limit: 64) }
}

/// Checks one value.
private struct Check {
    let document: JSONValue
    let repeatsValues: Bool
    private let budget = Budget()
    private static let maximumDepth = 64

    init(document: JSONValue, repeatsValues: Bool) {
        self.document = document
        self.repeatsValues = repeatsValues
    }

    /// Returns a value's text for a mismatch.
    private func shown(_ value: JSONValue, limit: Int) -> String {
        repeatsValues ? printable(value.text, limit: limit) : "another \(value.typeName)"
    }

    /// The number of schemas still to check, which ends those that refer to themselves several
    /// times.
    private final class Budget {
        var left = 20_000
    }

    typealias Mismatch = ParameterSchema.Mismatch

    func mismatch(
        _ value: JSONValue, against schema: JSONValue, at place: String, depth: Int
    ) -> Mismatch? {
        if schema.bool == false {
            return Mismatch(place: place, found: "a value", expected: "none")
        }
        // The references of a schema with an identifier of its own may lead elsewhere.
        guard let rules = schema.object, depth < Self.maximumDepth,
            rules["$id"] == nil || depth == 0, budget.left > 0
        else { return nil }
        budget.left -= 1
        if let reference = rules["$ref"] {
            guard let target = target(of: reference) else { return nil }
            return mismatch(value, against: target, at: place, depth: depth + 1)
        }
        if value.isNull, rules["nullable"]?.bool == true { return nil }
        return typeMismatch(of: value, rules: rules, at: place)
            ?? enumMismatch(of: value, rules: rules, at: place)
            ?? limitMismatch(of: value, rules: rules, at: place)
            ?? elementMismatch(in: value, rules: rules, at: place, depth: depth)
            ?? memberMismatch(in: value, rules: rules, at: place, depth: depth)
            ?? combinationMismatch(of: value, rules: rules, at: place, depth: depth)
    }

    // MARK: One value

    static func types(_ schema: JSONValue) -> [String]? {
        let names = schema["type"].map { $0.array ?? [$0] }?.compactMap(\.string)
        return names?.isEmpty == false ? names : nil
    }

    private func typeMismatch(
        of value: JSONValue, rules: JSONObject, at place: String
    ) -> Mismatch? {
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
            ? value.typeName : "number \(printable(value.text, limit: 24))"
        return Mismatch(
            place: place, found: found,
            expected: types.map { printable($0, limit: 40) }.joined(separator: " or "))
    }

    /// A number without a fraction is an integer, even if written as `1.0` or `1e2`.
    private static func mayBeInteger(_ number: JSONNumber) -> Bool {
        if number.isInteger { return true }
        guard let double = number.double else { return true }
        return double.rounded() == double
    }

    private func enumMismatch(
        of value: JSONValue, rules: JSONObject, at place: String
    ) -> Mismatch? {
        guard let allowed = rules["enum"]?.array ?? rules["const"].map({ [$0] }),
            !allowed.contains(where: { Self.mayEqual($0, value) })
        else { return nil }
        let names = allowed.prefix(12).map { printable($0.text, limit: 40) }
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

    private func limitMismatch(
        of value: JSONValue, rules: JSONObject, at place: String
    ) -> Mismatch? {
        if let number = value.number?.double {
            // Rounding keeps the order: what is less as a Double is less.
            if let least = rules["minimum"]?.number, let limit = least.double, number < limit {
                return Mismatch(
                    place: place, found: shown(value, limit: 24),
                    expected: "at least \(printable(least.text, limit: 24))")
            }
            if let most = rules["maximum"]?.number, let limit = most.double, number > limit {
                return Mismatch(
                    place: place, found: shown(value, limit: 24),
                    expected: "at most \(printable(most.text, limit: 24))")
            }
        }
        if let text = value.string {
            return countMismatch(
                of: text.unicodeScalars.count, "characters", suffix: "Length", rules: rules,
                at: place)
        }
        if let elements = value.array {
            return countMismatch(
                of: elements.count, "elements", suffix: "Items", rules: rules, at: place)
        }
        return nil
    }

    private func countMismatch(
        of count: Int, _ unit: String, suffix: String, rules: JSONObject, at place: String
    ) -> Mismatch? {
        if let least = rules["min\(suffix)"]?.number?.int64, count < least {
            return Mismatch(place: place, found: "\(count) \(unit)", expected: "at least \(least)")
        }
        if let most = rules["max\(suffix)"]?.number?.int64, count > most {
            return Mismatch(place: place, found: "\(count) \(unit)", expected: "at most \(most)")
        }
        return nil
    }

    // MARK: Values within

    private func elementMismatch(
        in value: JSONValue, rules: JSONObject, at place: String, depth: Int
    ) -> Mismatch? {
        guard let elements = value.array else { return nil }
        let first = rules["prefixItems"]?.array ?? rules["items"]?.array ?? []
        let rest = rules["items"].flatMap { $0.array == nil ? $0 : nil }
        for (index, element) in elements.enumerated() {
            guard let schema = index < first.count ? first[index] : rest else { continue }
            if let found = mismatch(
                element, against: schema, at: "\(place)[\(index)]", depth: depth + 1)
            {
                return found
            }
        }
        return nil
    }

    private func memberMismatch(
        in value: JSONValue, rules: JSONObject, at place: String, depth: Int
    ) -> Mismatch? {
        guard let members = value.object else { return nil }
        let known = rules["properties"]?.object ?? [:]
        for name in (rules["required"]?.array ?? []).compactMap(\.string) where members[name] == nil
        {
            // A read-only property is required in responses only (OpenAPI 3).
            if known[name].map(resolved)?["readOnly"]?.bool == true { continue }
            return Mismatch(
                place: place + ParameterSchema.step(name), found: "nothing", expected: "a value")
        }
        for (name, member) in members {
            if let schema = known[name] {
                if let found = mismatch(
                    member, against: schema, at: place + ParameterSchema.step(name),
                    depth: depth + 1)
                {
                    return found
                }
            } else if rules["patternProperties"] == nil, let others = rules["additionalProperties"]
            {
                if others.bool == false {
                    return Mismatch(
                        place: place + ParameterSchema.step(name), found: "a member of this name",
                        expected: known.isEmpty
                            ? "none" : "one of \(MethodDescription.list(known.memberNames))")
                }
                if let found = mismatch(
                    member, against: others, at: place + ParameterSchema.step(name),
                    depth: depth + 1)
                {
                    return found
                }
            }
        }
        return nil
    }

    private func combinationMismatch(
        of value: JSONValue, rules: JSONObject, at place: String, depth: Int
    ) -> Mismatch? {
        for schema in rules["allOf"]?.array ?? [] {
            if let found = mismatch(value, against: schema, at: place, depth: depth + 1) {
                return found
            }
        }
        for name in ["anyOf", "oneOf"] {
            guard let schemas = rules[name]?.array, !schemas.isEmpty else { continue }
            var mismatches: [Mismatch] = []
            for schema in schemas {
                guard let found = mismatch(value, against: schema, at: place, depth: depth + 1)
                else { break }
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

    /// Returns a schema after following its references.
    func resolved(_ schema: JSONValue) -> JSONValue {
        var schema = schema
        for _ in 0..<Self.maximumDepth {
            guard let reference = schema["$ref"], let next = target(of: reference) else { break }
            schema = next
        }
        return schema
    }

    /// Returns the reference's target in the document; nil if it has none there.
    private func target(of reference: JSONValue) -> JSONValue? {
        reference.string.flatMap { document.target(ofReference: $0) }
    }
}

extension JSONValue {
    /// Returns the target of a reference such as `#/a/b` (RFC 6901, section 6); nil if it leads
    /// elsewhere or has no target.
    func target(ofReference reference: String) -> JSONValue? {
        guard reference.utf8.first == UInt8(ascii: "#") else { return nil }
        guard let bytes = PercentCoding.decoded(Array(reference.utf8.dropFirst())[...]),
            let pointer = String(validating: bytes, as: UTF8.self)
        else { return nil }
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
}
