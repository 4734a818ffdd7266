import SignetBase
package import SignetJSON

/// Finds values that look like secrets, by the rules for values of a configuration.
package enum SecretSearch {
    /// Whether a value looks like a secret: by its name, by its form, or by what is inside it.
    package static func looksSecret(_ value: JSONValue, named name: String?) -> Bool {
        SecretDetector.finding(in: value, named: name) != nil
    }

    /// Whether a text is so short and plain that it is a secret only by its name.
    package static func isPlain(_ text: ArraySlice<UInt8>) -> Bool { SecretPatterns.isPlain(text) }

    /// Whether a text, a number or a list of this name is a secret only by its form.
    package static func isInnocent(name: String) -> Bool { SecretName(name).isInnocent }

    /// Whether an object's members mean a secret only together, such as the private members of a
    /// JWK.
    package static func isSecretWhole(_ object: JSONObject) -> Bool {
        SecretDetector.reasonToKeepWhole(object) != nil
    }

    /// Whether the name of a member is itself a secret, such as `alice:hunter2`.
    package static func isSecret(memberName name: String) -> Bool {
        SecretDetector.isSecret(name: name)
    }

    /// Whether an object with a member of this name may be a secret as a whole: it has the type of
    /// a key, or the value that another member names, as in `{"name":"DB_PASSWORD","value":"…"}`.
    package static func isSecretWithOthers(memberName name: [UInt8]) -> Bool {
        name.elementsEqual("kty".utf8)
            || SecretDetector.valueMembers.contains(
                String(decoding: name, as: UTF8.self).lowercased())
    }

    /// Whether the value of a URL's or a form's parameter of this name is a secret, a session or a
    /// signature, such as `code` or `ticket`.
    package static func isSecret(parameterName name: [UInt8]) -> Bool {
        SecretURL.parameterNames.contains(
            String(decoding: name.map(\.lowercased), as: UTF8.self))
    }
}
