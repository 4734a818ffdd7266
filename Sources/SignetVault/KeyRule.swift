internal import SignetBase
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

/// What a schema says of one key. It does not print: a secret's limits help to guess it.
package struct KeyRule: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key's name.
    package let name: String
    /// Whether the value may be seen outside of the sealed dump.
    package let isPublic: Bool
    /// The inputs that may give it.
    package let setBy: Set<ConfigurationOrigin>
    /// What it means, for people.
    package let meaning: String?
    /// Whether the schema's author says that random text is no secret here.
    let isNotSecret: Bool
    let value: ValueRule
    /// The limits as they stand in the schema.
    let limits: JSONObject

    /// The type every value must have.
    package var type: ValueType { value.type }

    /// The name and the type.
    package var description: String { "KeyRule(\(quoted(name)), \(type.rawValue))" }
    /// Without children.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The value in the form of the key's type.
    ///
    /// - Throws: `wrong-type`, `out-of-range`, `pattern-mismatch`, `not-in-list`, or
    ///   `public-value-looks-secret`, naming the key and the input, never the value.
    func checked(_ value: JSONValue, from place: String) throws(VaultError) -> TypedValue {
        func failed(_ code: VaultError.Code, _ problem: String) -> VaultError {
            VaultError(code, "\(quoted(name)) in \(place): \(problem)")
        }
        let typed: TypedValue
        do throws(ValueRule.Refusal) {
            typed = try self.value.checked(value)
        } catch {
            throw failed(error.code, error.problem)
        }
        if let reason = secretReason(in: value) { throw failed(.publicValueLooksSecret, reason) }
        return typed
    }

    /// Why a value must not be public, or nil.
    func secretReason(in value: JSONValue) -> String? {
        guard isPublic, let finding = SecretDetector.finding(in: value) else { return nil }
        if isNotSecret && !finding.isCertain { return nil }
        return "a public value that looks like a secret (\(finding.reason)); "
            + (finding.isCertain
                ? "make the key secret or take the value out"
                : "make the key secret, take the value out, or say \"notSecret\": true in the schema")
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
