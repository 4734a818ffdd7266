internal import SignetBase
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
    /// - Throws: `malformed-input` if a nested and a flat member are the same key, or if the
    ///   configuration has no keys.
    package init(of configuration: JSONObject) throws(VaultError) {
        var guesses: [Guess] = []
        var values = JSONObject()
        var seen: Set<ByteName> = []
        for (name, value) in Self.flattened(configuration, prefix: "") {
            guard seen.insert(ByteName(name)).inserted else {
                throw VaultError(
                    .malformedInput, "\(quoted(name)): a nested and a flat member are the same key",
                    key: name)
            }
            let value = Self.representable(value)
            guesses.append(Self.guess(name, from: value))
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

    /// The number of keys, without the values.
    package var description: String { "GuessedSchema(\(guesses.count) keys)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Guessing

extension GuessedSchema {
    private static func flattened(
        _ object: JSONObject, prefix: String
    ) -> [(name: String, value: JSONValue)] {
        object.flatMap { name, value in
            if let nested = value.object, nested.count > 0 {
                return flattened(nested, prefix: "\(prefix)\(name).")
            }
            return [(prefix + name, value)]
        }
    }

    /// Returns a number that no type can hold as text, and any other value unchanged.
    private static func representable(_ value: JSONValue) -> JSONValue {
        guard let number = value.number, number.double == nil else { return value }
        return .string(number.text)
    }

    private static func guess(_ name: String, from value: JSONValue) -> Guess {
        let type = type(of: value)
        let reason =
            SecretDetector.finding(in: value)?.reason
            ?? (SecretName(name).isSecret(of: type) ? "its name" : nil)
        return Guess(
            name: name, type: type, elementType: value.array.flatMap(elementType),
            secretReason: reason)
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

/// The words of a key's name, which suggest whether its value is a secret.
private struct SecretName {
    /// The words of each part between dots, in lower case.
    private let parts: [[String]]

    init(_ name: String) {
        parts = name.split(separator: ".").map { Self.words(of: $0) }
    }

    /// Returns the words of `apiKey`, `api-key` or `API_KEY`.
    private static func words(of part: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        var wasLower = false
        for character in part {
            if !character.isLetter && !character.isNumber || wasLower && character.isUppercase {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if character.isLetter || character.isNumber { word += character.lowercased() }
            wasLower = character.isLowercase || character.isNumber
        }
        return word.isEmpty ? words : words + [word]
    }

    /// Returns whether a value of this type and name is probably a secret.
    func isSecret(of type: ValueType) -> Bool {
        guard let last = parts.last else { return false }
        switch type {
        case .boolean, .duration: return false
        // A plural doesn't mean a secret here: `max_tokens` is a limit.
        case .integer, .number:
            guard let word = last.last else { return false }
            return Self.isSecretWord(word, orPlural: false) || Self.isSecretLastWord(word)
                || word == "pin" || word == "key" && endsWithKey
        default:
            return last.contains { Self.isSecretWord($0) } || endsWithKey
                || last.last.map(Self.isSecretLastWord) ?? false
                || parts.dropLast().contains { $0.count == 1 && Self.isSecretWord($0[0]) }
        }
    }

    /// Returns whether a word means a secret. A number may follow it (`password2`), and another
    /// word may precede it (`pgpassword`).
    private static func isSecretWord(_ word: String, orPlural: Bool = true) -> Bool {
        let word = withoutNumber(word)
        return endings.contains(where: word.hasSuffix)
            || orPlural && word.endsWithBytes(of: "s")
                && isSecretWord(String(word.dropLast()), orPlural: false)
    }

    /// Returns whether a word means a secret if it is the last one: `auth` does, but not in
    /// `auth.url`.
    private static func isSecretLastWord(_ word: String) -> Bool {
        let word = withoutNumber(word)
        return lastWords.contains(word) || word.endsWithBytes(of: "pass")
    }

    private static func withoutNumber(_ word: String) -> String {
        String(word.reversed().drop(while: \.isNumber).reversed())
    }

    /// Whether the name ends with "key" or "keys", and the word before it isn't one such as
    /// "public" or "cache".
    private var endsWithKey: Bool {
        let words = parts.flatMap(\.self)
        guard words.last == "key" || words.last == "keys" else { return false }
        return words.dropLast().last.map { !Self.publicKeyKinds.contains($0) } ?? true
    }

    /// Words that mean a secret, at the end of a longer word too.
    private static let endings = [
        "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential",
        "apikey", "privatekey", "secretkey", "accesskey", "dsn",
    ]
    private static let lastWords: Set<String> = [
        "auth", "bearer", "cookie", "jwt", "otp", "private", "pw", "salt",
    ]
    private static let publicKeyKinds: Set<String> = [
        "public", "sort", "primary", "foreign", "partition", "routing", "cache", "index", "map",
    ]
}
