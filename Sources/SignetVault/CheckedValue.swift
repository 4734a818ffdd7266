package import SignetJSON

/// A configuration value that was checked against the schema.
public struct CheckedValue: Sendable, CustomStringConvertible, CustomReflectable {
    /// Holds both forms by reference, so that a read copies only the form that it returns.
    private final class Forms: Sendable {
        let typed: TypedValue
        let json: JSONValue

        init(typed: TypedValue, json: JSONValue) {
            self.typed = typed
            self.json = json
        }
    }

    private let forms: Forms

    init(typed: TypedValue, json: JSONValue) { self.forms = Forms(typed: typed, json: json) }

    /// Creates an element of a list or a map whose rule has no `items`.
    init(untyped value: JSONValue) { self.init(typed: TypedValue(untyped: value), json: value) }

    /// Returns whether both are the same value. Values of the type `other` are compared as JSON.
    func isSame(as other: CheckedValue) -> Bool {
        if case .other = typed { return json == other.json }
        return typed.isSame(as: other.typed)
    }

    package var typed: TypedValue { forms.typed }
    /// The value as it appeared in its input.
    package var json: JSONValue { forms.json }

    /// A redacted description.
    public var description: String { "CheckedValue(redacted)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CheckedValue {
    /// The JSON from which the value's Swift type decodes itself: for a `Duration`, the upper and
    /// lower 64 bits of its attoseconds; for bytes, a list of numbers; else the JSON of the input.
    var codableForm: JSONValue {
        switch typed {
        case .duration(let duration):
            let high = Int64(truncatingIfNeeded: duration.attoseconds >> 64)
            let low = UInt64(truncatingIfNeeded: duration.attoseconds)
            return [.number(JSONNumber(high)), .number(JSONNumber(low))]
        case .bytes(let bytes): return .array(bytes.map { .number(JSONNumber($0)) })
        case .array(let elements): return .array(elements.map(\.codableForm))
        case .object(let members):
            return .object(JSONObject(members.map { ($0.name, $0.value.codableForm) }))
        default: return json
        }
    }
}
