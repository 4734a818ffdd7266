import SignetBase
public import SignetJSON
import SignetRPC

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
        Check(
            context: CheckContext(document: document, repeatsValues: repeatsValues), value: value,
            schema: self.value, place: "", depth: 0
        ).mismatch()
    }

    /// The types that the schema itself names, such as `string` or `integer|null`; `any` if it
    /// names none.
    public var typeName: String {
        let schema = value.resolved(in: document) ?? value
        if let types = Self.types(schema) {
            return types.map { printable($0, limit: 40) }.joined(separator: "|")
        }
        return schema["enum"] == nil ? "any" : "enum"
    }
}

extension ParameterSchema {
    /// Returns a member's name as a step of a mismatch's place.
    static func step(_ name: String) -> String { "." + printable(name, limit: 64) }

    /// The types that a schema names; nil if it names none.
    fileprivate static func types(_ schema: JSONValue) -> [String]? {
        let names = schema["type"].map { $0.array ?? [$0] }?.compactMap(\.string)
        return names?.isEmpty == false ? names : nil
    }
}

/// The settings of a check, shared by the checks of all values within a value.
private final class CheckContext {
    let document: JSONValue
    let repeatsValues: Bool
    /// The number of schemas that may still be checked. It limits the work for a schema that refers
    /// to itself several times.
    var budget = 20_000

    init(document: JSONValue, repeatsValues: Bool) {
        self.document = document
        self.repeatsValues = repeatsValues
    }
}

/// Checks one value against one schema.
private struct Check {
    typealias Mismatch = ParameterSchema.Mismatch

    let context: CheckContext
    let value: JSONValue
    let schema: JSONValue
    let place: String
    let depth: Int

    private static let maximumDepth = 64

    func mismatch() -> Mismatch? {
        if schema.bool == false { return mismatch(found: "a value", expected: "none") }
        // A schema with its own `$id` is the base of its references, which may lead elsewhere.
        guard let rules = schema.object, depth < Self.maximumDepth,
            rules["$id"] == nil || depth == 0, context.budget > 0
        else { return nil }
        context.budget -= 1
        if let reference = rules["$ref"] {
            let target = reference.string.flatMap(context.document.target(ofReference:))
            return target.flatMap { mismatch(of: value, against: $0) }
        }
        if value.isNull, rules["nullable"]?.bool == true { return nil }
        return typeMismatch() ?? enumMismatch(rules) ?? limitMismatch(rules)
            ?? elementMismatch(rules) ?? memberMismatch(rules) ?? combinationMismatch(rules)
    }

    /// Returns the mismatch of the value itself.
    private func mismatch(found: String, expected: String) -> Mismatch {
        Mismatch(place: place, found: found, expected: expected)
    }

    /// Returns the mismatch of the value itself or of one within it.
    private func mismatch(
        of value: JSONValue, against schema: JSONValue, at step: String = ""
    ) -> Mismatch? {
        Check(
            context: context, value: value, schema: schema, place: place + step, depth: depth + 1
        ).mismatch()
    }

    /// Returns the value's text for a mismatch.
    private func shown(limit: Int) -> String {
        context.repeatsValues ? printable(value.text, limit: limit) : "another \(value.typeName)"
    }

    // MARK: One value

    private func typeMismatch() -> Mismatch? {
        guard let types = ParameterSchema.types(schema) else { return nil }
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
        return mismatch(
            found: value.number == nil || !context.repeatsValues
                ? value.typeName : "number \(printable(value.text, limit: 24))",
            expected: types.map { printable($0, limit: 40) }.joined(separator: " or "))
    }

    /// A number without a fraction is an integer, even if written as `1.0` or `1e2`.
    private static func mayBeInteger(_ number: JSONNumber) -> Bool {
        if number.isInteger { return true }
        guard let double = number.double else { return true }
        return double.rounded() == double
    }

    private func enumMismatch(_ rules: JSONObject) -> Mismatch? {
        guard let allowed = rules["enum"]?.array ?? rules["const"].map({ [$0] }),
            !allowed.contains(where: { Self.mayEqual($0, value) })
        else { return nil }
        let names = MethodDescription.list(allowed.map(\.text))
        return mismatch(found: shown(limit: 40), expected: "one of \(names)")
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

    private func limitMismatch(_ rules: JSONObject) -> Mismatch? {
        if let number = value.number?.double {
            // Rounding to a Double never reverses an order: a smaller Double is a smaller number.
            if let least = rules["minimum"]?.number, let limit = least.double, number < limit {
                let least = printable(least.text, limit: 24)
                return mismatch(found: shown(limit: 24), expected: "at least \(least)")
            }
            if let most = rules["maximum"]?.number, let limit = most.double, number > limit {
                let most = printable(most.text, limit: 24)
                return mismatch(found: shown(limit: 24), expected: "at most \(most)")
            }
        }
        if let text = value.string {
            return countMismatch(
                of: text.unicodeScalars.count, "characters", suffix: "Length", rules: rules)
        }
        return value.array.flatMap {
            countMismatch(of: $0.count, "elements", suffix: "Items", rules: rules)
        }
    }

    private func countMismatch(
        of count: Int, _ unit: String, suffix: String, rules: JSONObject
    ) -> Mismatch? {
        if let least = rules["min\(suffix)"]?.number?.int64, count < least {
            return mismatch(found: "\(count) \(unit)", expected: "at least \(least)")
        }
        if let most = rules["max\(suffix)"]?.number?.int64, count > most {
            return mismatch(found: "\(count) \(unit)", expected: "at most \(most)")
        }
        return nil
    }

    // MARK: Values within

    private func elementMismatch(_ rules: JSONObject) -> Mismatch? {
        let first = rules["prefixItems"]?.array ?? rules["items"]?.array ?? []
        let rest = rules["items"].flatMap { $0.array == nil ? $0 : nil }
        for (index, element) in (value.array ?? []).enumerated() {
            guard let schema = index < first.count ? first[index] : rest else { continue }
            if let found = mismatch(of: element, against: schema, at: "[\(index)]") { return found }
        }
        return nil
    }

    private func memberMismatch(_ rules: JSONObject) -> Mismatch? {
        guard let members = value.object else { return nil }
        let known = rules["properties"]?.object ?? [:]
        for name in (rules["required"]?.array ?? []).compactMap(\.string) where members[name] == nil
        {
            // A read-only property is required in responses only (OpenAPI 3).
            let schema = known[name].map { $0.resolved(in: context.document) ?? $0 }
            if schema?["readOnly"]?.bool == true { continue }
            return Mismatch(
                place: place + ParameterSchema.step(name), found: "nothing", expected: "a value")
        }
        let others = rules["patternProperties"] == nil ? rules["additionalProperties"] : nil
        for (name, member) in members {
            guard let schema = known[name] ?? others else { continue }
            let step = ParameterSchema.step(name)
            if known[name] == nil, schema.bool == false {
                return Mismatch(
                    place: place + step, found: "a member of this name",
                    expected: known.isEmpty
                        ? "none" : "one of \(MethodDescription.list(known.memberNames))")
            }
            if let found = mismatch(of: member, against: schema, at: step) { return found }
        }
        return nil
    }

    private func combinationMismatch(_ rules: JSONObject) -> Mismatch? {
        for schema in rules["allOf"]?.array ?? [] {
            if let found = mismatch(of: value, against: schema) { return found }
        }
        for name in ["anyOf", "oneOf"] {
            guard let schemas = rules[name]?.array, !schemas.isEmpty else { continue }
            var mismatches: [Mismatch] = []
            for schema in schemas {
                guard let found = mismatch(of: value, against: schema) else { break }
                mismatches.append(found)
            }
            guard mismatches.count == schemas.count else { continue }
            guard mismatches.count > 1 else { return mismatches[0] }
            let here = mismatches.filter { $0.place == place }
            return mismatch(
                found: here.first?.found ?? value.typeName,
                expected: here.isEmpty
                    ? "one of \(schemas.count) forms"
                    : here.map(\.expected).joined(separator: ", or "))
        }
        return nil
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
                    Int(name).flatMap { index in
                        // An index has neither a sign nor leading zeros.
                        elements.indices.contains(index) && String(index) == name
                            ? elements[index] : nil
                    }
                } else {
                    value[name]
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}
