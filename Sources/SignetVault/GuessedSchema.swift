import SignetBase
package import SignetJSON

/// A schema that is guessed from the values of a configuration that exists already.
///
/// A key becomes secret if its value looks like a secret or its name suggests one, else public. In
/// doubt it's secret: the schema can be edited later, but a published value stays known.
package struct GuessedSchema: Sendable, CustomStringConvertible, CustomReflectable {
    /// The guess about one key.
    package struct Guess: Sendable {
        /// The key's name.
        package let name: String
        package let type: ValueType
        /// The type of an array's elements, if they have one.
        package let elementType: ValueType?
        /// The reason that the key is secret, or nil for a public one.
        package let secretReason: String?

        package var isSecret: Bool { secretReason != nil }
    }

    /// The keys, in the order of the configuration.
    package let guesses: [Guess]
    private let values: JSONObject

    /// Guesses a schema. Nested objects are flattened with dots.
    ///
    /// - Parameter reason: The reason that all keys are secret, or nil.
    /// - Throws: `malformed-input` if a nested and a flat member are the same key, if the
    ///   configuration has no keys, or if the name of one of its members looks like a secret.
    package init(
        of configuration: JSONObject, reason: String? = nil
    ) throws(VaultError) {
        var guesses: [Guess] = []
        var values = JSONObject()
        var seen: Set<ByteName> = []
        if let position = configuration.firstIndex(where: { SecretDetector.isSecret(name: $0.name) }
        ) {
            // The schema shows each name, and the error repeats none.
            throw VaultError(
                .malformedInput,
                "the name of member \(position + 1) looks like a secret, expected a name that "
                    + "schema.json may show")
        }
        let reason = reason ?? SecretDetector.reasonToKeepWhole(configuration)?.reason
        for (name, value, reason) in Self.flattened(configuration, prefix: "", reason: reason) {
            guard seen.insert(ByteName(name)).inserted else {
                throw VaultError(
                    .malformedInput, "\(quoted(name)): a nested and a flat member are the same key",
                    key: name)
            }
            let value = Self.representable(value)
            guesses.append(Self.guess(name, from: value, reason: reason))
            if !value.isNull { values[name] = value }
        }
        guard !guesses.isEmpty else {
            throw VaultError(.malformedInput, "found no key in the configuration, expected one")
        }
        self.guesses = guesses
        self.values = values
    }

    /// The schema as a document.
    package var document: JSONObject {
        let rules = guesses.map { guess -> (name: String, value: JSONValue) in
            var rule: JSONObject = [
                "type": .string(guess.type.rawValue),
                "visibility": guess.isSecret ? "secret" : "public",
            ]
            if let type = guess.elementType { rule["items"] = ["type": .string(type.rawValue)] }
            return (guess.name, .object(rule))
        }
        return ["keys": .object(JSONObject(rules))]
    }

    /// The values of the public keys, or those of the secret ones.
    package func values(secret: Bool) -> JSONObject {
        JSONObject(
            guesses.compactMap { guess in
                guard guess.isSecret == secret else { return nil }
                return values[guess.name].map { (guess.name, $0) }
            })
    }

    /// The keys that have no value, because it is null.
    package var withoutValue: [String] {
        guesses.map(\.name).filter { values[$0] == nil }
    }

    /// The number of keys, without the values.
    package var description: String { "GuessedSchema(\(guesses.count) keys)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Guessing

extension GuessedSchema {
    /// Returns the keys and values of an object.
    ///
    /// - Parameter reason: The reason that all of them are secret, or nil.
    private static func flattened(
        _ object: JSONObject, prefix: String, reason: String?
    ) -> [(name: String, value: JSONValue, reason: String?)] {
        let resource = SecretDetector.isSecretResource(object)
        return object.flatMap { name, value in
            let isData = resource && SecretDetector.dataMembers.contains { sameBytes($0, name) }
            let reason = isData ? "the data of a Secret" : reason
            // A secret's name and its value stay together, because each alone says nothing. A name
            // that is a secret stays inside, because the schema shows the names of keys.
            if let nested = value.object, nested.count > 0,
                SecretDetector.reasonToKeepWhole(nested) == nil,
                !nested.contains(where: { SecretDetector.isSecret(name: $0.name) })
            {
                return flattened(nested, prefix: "\(prefix)\(name).", reason: reason)
            }
            return [(prefix + name, value, reason)]
        }
    }

    /// Returns a number that no type can hold as text, and any other value unchanged.
    private static func representable(_ value: JSONValue) -> JSONValue {
        guard let number = value.number, number.double == nil else { return value }
        return .string(number.text)
    }

    private static func guess(
        _ name: String, from value: JSONValue, reason: String?
    ) -> Guess {
        let type = type(of: value)
        return Guess(
            name: name, type: type, elementType: value.array.flatMap(elementType),
            secretReason: reason ?? SecretDetector.finding(in: value, named: name)?.reason)
    }

    private static func type(of value: JSONValue) -> ValueType {
        switch value {
        case .null: .string
        case .bool: .boolean
        case .number(let number): number.isInteger && number.int64 != nil ? .integer : .number
        case .array: .array
        case .object: .object
        case .string(let text):
            if ConfigurationURL(text) != nil {
                .url
            } else if DurationText.duration(value) != nil {
                .duration
            } else {
                .string
            }
        }
    }

    /// Returns the type that all elements have, or nil.
    private static func elementType(_ elements: [JSONValue]) -> ValueType? {
        let types = Set(elements.map(type))
        if types.count == 1, !elements.contains(where: \.isNull) { return types.first }
        if !types.isEmpty, types.isSubset(of: [.integer, .number]) { return .number }
        let areTexts = !elements.isEmpty && elements.allSatisfy { $0.string != nil }
        return areTexts ? .string : nil
    }
}
