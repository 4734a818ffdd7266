import SignetBase
package import SignetJSON

/// Finds values that look like secrets, by the rules for values of a configuration.
package enum SecretSearch {
    /// Whether a value looks like a secret: by its name, by its form, or by what is inside it.
    package static func looksSecret(_ value: JSONValue, named name: String?) -> Bool {
        SecretDetector.finding(in: value, named: name) != nil
    }

    /// Whether an object's members mean a secret only together, such as the private members of a
    /// JWK.
    package static func isSecretWhole(_ object: JSONObject) -> Bool {
        SecretDetector.reasonToKeepWhole(object) != nil
    }

    /// Whether the name of a member is itself a secret, such as `alice:hunter2`.
    package static func isSecret(memberName name: String) -> Bool {
        SecretDetector.isSecret(name: name)
    }

    /// Whether a member of this name may have the value of a secret that another member names, as
    /// in `{"name":"DB_PASSWORD","value":"…"}`.
    package static func isValueMember(_ name: [UInt8]) -> Bool {
        SecretDetector.valueMembers.contains(
            String(decoding: name, as: UTF8.self).lowercased())
    }

    /// Whether the value of a URL's or a form's parameter of this name is a secret, a session or a
    /// signature, such as `code` or `ticket`.
    package static func isSecret(parameterName name: [UInt8]) -> Bool {
        SecretURL.parameterNames.contains(
            String(decoding: name.map(\.lowercased), as: UTF8.self))
    }
}
