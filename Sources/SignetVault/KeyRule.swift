import SignetBase
import SignetJSON

/// The origin of a value. Later cases win over earlier ones.
public enum ConfigurationOrigin: String, Sendable, Hashable, CaseIterable {
    /// Built into the program.
    case defaults
    /// Given when the program was started.
    case launch
    /// Fetched from a service at the start.
    case fetched
}

/// The schema's rule for one key. It doesn't print its limits, because they help to guess a secret.
package struct KeyRule: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key's name.
    package let name: String
    /// Whether the value may be seen outside of the sealed dump.
    package let isPublic: Bool
    /// The inputs that may set it.
    package let setBy: Set<ConfigurationOrigin>
    /// Whether the schema names the inputs.
    let namesOrigins: Bool
    /// The key's meaning, for people.
    package let meaning: String?
    /// Whether the schema says that random text isn't a secret here.
    let isNotSecret: Bool
    /// Whether a configuration without a value for the key is refused.
    let isRequired: Bool
    let value: ValueRule
    /// The limits as written in the schema.
    let limits: JSONObject

    /// The type that every value must have.
    package var type: ValueType { value.type }

    /// The name and the type.
    package var description: String { "KeyRule(\(quoted(name)), \(type.rawValue))" }
    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Checks a value and returns it as the key's type.
    ///
    /// - Throws: `wrong-type`, `out-of-range`, `pattern-mismatch`, `not-in-list`, or
    ///   `public-value-looks-secret`, naming the key and the input but never the value.
    func checked(_ value: JSONValue, from place: String) throws(VaultError) -> TypedValue {
        let typed: TypedValue
        do throws(ValueRule.Refusal) {
            typed = try self.value.checked(value)
        } catch {
            throw VaultError(
                error.code, "\(quoted(name)) in \(place): \(error.problem)", key: name)
        }
        if let reason = secretReason(in: value) {
            throw VaultError(
                .publicValueLooksSecret, "\(quoted(name)) in \(place): \(reason)", key: name)
        }
        return typed
    }

    /// Returns the reason that a value must not be public, or nil.
    func secretReason(in value: JSONValue) -> String? {
        // The values that a schema lists aren't secrets, whatever the key's name.
        let name = limits["enum"] == nil ? name : nil
        guard isPublic, let finding = SecretDetector.finding(in: value, named: name)
        else { return nil }
        if isNotSecret && !finding.isCertain { return nil }
        return "a public value that looks like a secret (\(finding.reason)); "
            + (finding.isCertain
                ? "make the key secret or remove the value"
                : "make the key secret, remove the value, or say \"notSecret\": true in the schema")
    }
}

extension JSONValue {
    /// The type with its article, for messages.
    var article: String {
        switch self {
        case .null: "null"
        case .array, .object: "an \(typeName)"
        case .bool, .number, .string: "a \(typeName)"
        }
    }
}
