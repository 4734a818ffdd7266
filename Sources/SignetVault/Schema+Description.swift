public import SignetJSON

extension Schema {
    /// What a schema says of one key, for tools that show it to people.
    public struct Key: Sendable, Hashable {
        /// The key's name.
        public let name: String
        /// The type: `string`, `integer`, `number`, `boolean`, `array`, `object`, `duration`, `url` or `bytes`.
        public let type: String
        /// Whether the value may be seen outside of the sealed dump.
        public let isPublic: Bool
        /// The inputs that may give it, lower ones first.
        public let setBy: [ConfigurationOrigin]
        /// What it means, for people; nil where the schema does not say.
        public let meaning: String?
        /// A public key's limits as they stand in the schema (`minimum`, `pattern`, `enum`, `items` and so
        /// on). Empty for a secret key: what its value may be helps to guess it.
        public let limits: JSONObject
        /// Whether the schema says `"notSecret": true`: random text is let through.
        public let isNotSecret: Bool
    }

    /// What the schema says of each key, in its order.
    public var descriptions: [Key] { rules.map(Key.init) }

    /// What the schema says of a key, or nil.
    public func description(of name: String) -> Key? { rule(named: name).map(Key.init) }

    /// What may be read and looks like an oversight, in the order of the schema.
    public var findings: [Finding] {
        rules.flatMap { rule in
            Self.problems(rule).map { Finding(code: $0.code, key: rule.name, message: $0.message) }
        }
    }

    /// Something in a schema that is allowed and worth a look.
    public struct Finding: Sendable, Hashable {
        /// `not-secret` (a public key may hold random text), `no-meaning`, `no-limit` (a public text that
        /// others than the program's author may set to anything).
        public let code: String
        /// The key's name.
        public let key: String
        /// For people.
        public let message: String
    }

    private static func problems(_ rule: KeyRule) -> [(code: String, message: String)] {
        var problems: [(code: String, message: String)] = []
        if rule.isNotSecret {
            problems.append(
                ("not-secret", "the public value may be random text; is it surely no key?"))
        }
        if rule.meaning == nil {
            problems.append(("no-meaning", "nobody can tell what the key is for"))
        }
        if rule.isPublic, rule.type == .string, rule.limits.isEmpty, rule.setBy != [.defaults] {
            problems.append(
                ("no-limit", "the text has no pattern, list or length, and others may set it"))
        }
        return problems
    }
}

extension Schema.Key {
    init(_ rule: KeyRule) {
        self.init(
            name: rule.name, type: rule.type.rawValue, isPublic: rule.isPublic,
            setBy: ConfigurationOrigin.allCases.filter(rule.setBy.contains),
            meaning: rule.meaning, limits: rule.isPublic ? rule.limits : [:],
            isNotSecret: rule.isNotSecret)
    }
}
