import SignetJSON

/// Where a value came from, in the order in which later ones win.
public enum ConfigurationOrigin: String, Sendable, Hashable, CaseIterable {
    /// Built into the program.
    case defaults
    /// Given when the program was started.
    case launch
    /// Fetched from a service at the start.
    case fetched
}

/// What a schema says of one key.
package struct KeyRule: Sendable {
    /// The key's name.
    package let name: String
    /// The type every value must have.
    package let type: ValueType
    /// Whether the value may be seen outside of the sealed dump.
    package let isPublic: Bool
    /// The inputs that may give it.
    package let setBy: Set<ConfigurationOrigin>
    /// What it means, for people.
    package let meaning: String?

    let minimum: TypedValue?
    let maximum: TypedValue?
    let pattern: ValuePattern?
    /// Set last while parsing, because the rest of the rule checks it.
    var allowed: [TypedValue]?

    /// The value in the form of the key's type.
    ///
    /// - Throws: `wrong-type`, `out-of-range`, `pattern-mismatch`, `not-in-list`, or
    ///   `public-value-looks-secret`, naming the key and the input, never the value.
    func checked(_ value: JSONValue, from place: String) throws(VaultError) -> TypedValue {
        func failed(_ code: VaultError.Code, _ wanted: String) -> VaultError {
            VaultError(code, "\(quoted(name)) in \(place): \(wanted)")
        }
        let typed: TypedValue
        do {
            typed = try TypedValue(value, as: type)
        } catch .beyondType {
            throw failed(.outOfRange, "beyond what \(type.wanted) can hold here (64 bits)")
        } catch {
            throw failed(.wrongType, "found \(value.article), wanted \(type.wanted)")
        }
        if let minimum, typed.isBelow(minimum) {
            throw failed(.outOfRange, "below the schema's minimum")
        }
        if let maximum, maximum.isBelow(typed) {
            throw failed(.outOfRange, "above the schema's maximum")
        }
        if let pattern, let text = value.string, !pattern.matches(text) {
            throw failed(.patternMismatch, "the value as a whole does not match the pattern")
        }
        if let allowed, !allowed.contains(where: { $0.isSame(as: typed) }) {
            throw failed(.notInList, "none of the \(allowed.count) values the schema lists")
        }
        if isPublic, let reason = SecretDetector.reason(in: value) {
            throw failed(
                .publicValueLooksSecret,
                "a public value that looks like a secret (\(reason)); "
                    + "make the key secret or take the value out")
        }
        return typed
    }
}

extension JSONValue {
    /// The type with its article, for messages.
    var article: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
