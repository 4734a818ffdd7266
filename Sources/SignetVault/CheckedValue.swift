package import SignetJSON

/// A value of a configuration that has passed its schema.
public struct CheckedValue: Sendable, CustomStringConvertible, CustomReflectable {
    /// Both forms behind one reference, so that a read copies no more than what it returns.
    private final class Forms: Sendable {
        let typed: TypedValue
        let json: JSONValue

        init(_ typed: TypedValue, _ json: JSONValue) {
            self.typed = typed
            self.json = json
        }
    }

    private let forms: Forms

    init(typed: TypedValue, json: JSONValue) { self.forms = Forms(typed, json) }

    /// A value that no rule names a type for: an element of a list or a map.
    init(untyped value: JSONValue) { self.init(typed: TypedValue(untyped: value), json: value) }

    /// Whether both are the same value: where they have a type, by that; else by their JSON.
    func isSame(as other: CheckedValue) -> Bool {
        if case .other = typed { return json == other.json }
        return typed.isSame(as: other.typed)
    }

    package var typed: TypedValue { forms.typed }
    /// The value as it stood in its input.
    package var json: JSONValue { forms.json }

    /// Only the type; a value does not print by accident.
    public var description: String { "CheckedValue(redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CheckedValue {
    /// The value in the form in which its Swift type decodes itself: a `Duration`, which JSON writes
    /// as text, by its two halves, and bytes as numbers.
    var codableForm: JSONValue {
        switch typed {
        case .duration(let duration):
            let (high, low) = duration.halves
            return [.number(JSONNumber(high)), .number(JSONNumber(low))]
        case .bytes(let bytes): return .array(bytes.map { .number(JSONNumber($0)) })
        case .array(let elements): return .array(elements.map(\.codableForm))
        case .object(let members):
            return .object(JSONObject(members.map { ($0.name, $0.value.codableForm) }))
        default: return json
        }
    }
}

extension Duration {
    /// As `Duration` encodes itself: the upper 64 bits of its attoseconds, and the lower ones.
    fileprivate var halves: (high: Int64, low: UInt64) {
        let count = attoseconds
        return (Int64(truncatingIfNeeded: count >> 64), UInt64(truncatingIfNeeded: count))
    }
}
