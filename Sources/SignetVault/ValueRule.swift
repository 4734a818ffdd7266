import SignetBase
import SignetJSON

/// The schema's rule for a value: its type and limits. For a list or a map also the rule of its
/// elements.
struct ValueRule: Sendable {
    /// The type that every value must have.
    let type: ValueType
    var minimum: TypedValue?
    var maximum: TypedValue?
    /// The allowed number of a text's Unicode scalars, or of bytes.
    var length: ClosedRange<Int>?
    /// The allowed number of elements of a list or a map.
    var count: ClosedRange<Int>?
    var pattern: ValuePattern?
    /// The rule of a list's elements or a map's values.
    var items: Items?
    /// The values of `enum`. Set last while parsing, because the rest of the rule checks them.
    var allowed: [TypedValue]?

    /// A rule inside a rule.
    final class Items: Sendable {
        let rule: ValueRule

        init(_ rule: ValueRule) { self.rule = rule }
    }

    init(type: ValueType) { self.type = type }

    /// The reason that a value is refused, without the value.
    struct Refusal: Error {
        let code: VaultError.Code
        let problem: String

        init(_ code: VaultError.Code, _ problem: String) {
            self.code = code
            self.problem = problem
        }
    }

    /// Checks a value and returns it as the rule's type.
    ///
    /// - Throws: `wrong-type`, `out-of-range`, `pattern-mismatch` or `not-in-list`.
    func checked(_ value: JSONValue) throws(Refusal) -> TypedValue {
        let typed = try typed(value)
        if let minimum, typed.isBelow(minimum) {
            throw Refusal(.outOfRange, "below the schema's minimum")
        }
        if let maximum, maximum.isBelow(typed) {
            throw Refusal(.outOfRange, "above the schema's maximum")
        }
        if let length, let found = typed.length, !length.contains(found) {
            throw Refusal(
                .outOfRange,
                found < length.lowerBound
                    ? "shorter than the schema's minLength" : "longer than the schema's maxLength")
        }
        if let pattern, let text = value.string, !pattern.matches(text) {
            throw Refusal(.patternMismatch, "the value as a whole does not match the pattern")
        }
        if let allowed, !allowed.contains(where: { $0.isSame(as: typed) }) {
            throw Refusal(
                .notInList, "the value is not one of the \(allowed.count) that the schema lists")
        }
        return typed
    }

    private func typed(_ value: JSONValue) throws(Refusal) -> TypedValue {
        switch (type, value) {
        case (.array, .array(let elements)):
            try check(count: elements.count)
            guard let items = items?.rule else { return TypedValue(untyped: value) }
            return .array(
                try elements.enumerated().map { index, element throws(Refusal) in
                    try items.element(element, at: "element \(index)")
                })
        case (.object, .object(let object)):
            try check(count: object.count)
            guard let items = items?.rule else { return TypedValue(untyped: value) }
            // A member's name is part of the value, so the message has its position instead.
            return .object(
                try object.enumerated().map { index, member throws(Refusal) in
                    let place = "the value of member \(index)"
                    return (member.name, try items.element(member.value, at: place))
                })
        default: break
        }
        do {
            return try TypedValue(value, as: type)
        } catch .outOfRange {
            throw Refusal(
                .outOfRange, "out of range: expected \(type.expectation) of at most 64 bits")
        } catch {
            throw Refusal(.wrongType, "found \(value.article), expected \(type.expectation)")
        }
    }

    private func element(
        _ value: JSONValue, at place: String
    ) throws(Refusal) -> CheckedValue {
        do throws(Refusal) {
            return CheckedValue(typed: try checked(value), json: value)
        } catch {
            throw Refusal(error.code, "\(place): \(error.problem)")
        }
    }

    private func check(count found: Int) throws(Refusal) {
        guard let count, !count.contains(found) else { return }
        let (few, many) =
            type == .array ? ("minItems", "maxItems") : ("minProperties", "maxProperties")
        throw Refusal(
            .outOfRange,
            found < count.lowerBound
                ? "fewer elements than the schema's \(few)"
                : "more elements than the schema's \(many)")
    }
}
