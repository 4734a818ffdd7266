public import SignetJSON

extension Schema {
    /// The schema's description of one key, for tools that show it to people.
    public struct Key: Sendable, Hashable {
        /// The key's name.
        public let name: String
        /// The type: `string`, `integer`, `number`, `boolean`, `array`, `object`, `duration`, `url`
        /// or `bytes`.
        public let type: String
        /// Whether the value may be seen outside of the sealed dump.
        public let isPublic: Bool
        /// The inputs that may set it, in ascending order.
        public let setBy: [ConfigurationOrigin]
        /// The key's meaning, for people; nil if the schema has none.
        public let meaning: String?
        /// A public key's limits as written in the schema (`minimum`, `pattern`, `enum`, `items`
        /// and so on). Empty for a secret key, because limits help to guess the value.
        public let limits: JSONObject
        /// Whether the schema says `"notSecret": true`, so that random text is allowed.
        public let isNotSecret: Bool
        /// Whether the schema says `"required": true`, so that a configuration without a value for
        /// the key is not sealed.
        public let isRequired: Bool
    }

    /// The descriptions of all keys, in the order of the schema.
    public var descriptions: [Key] { rules.map(Key.init) }

    /// Returns the description of a key, or nil.
    public func description(of name: String) -> Key? { rule(named: name).map(Key.init) }

    /// The rules that are allowed but look like an oversight, in the order of the schema.
    public var findings: [Finding] { rules.flatMap(Self.findings) }

    /// Something in a schema that is allowed but should be reviewed.
    public struct Finding: Sendable, Hashable {
        /// `not-secret` (a public key may hold random text), `no-meaning`, `no-limit` (launch or
        /// fetched values may set a public text to anything), `no-set-by` (the schema doesn't say
        /// which inputs choose servers), or `fetched-server` (fetched values choose them).
        public let code: String
        /// The key's name.
        public let key: String
        /// A description for people.
        public let message: String
    }

    private static func findings(in rule: KeyRule) -> [Finding] {
        var findings: [Finding] = []
        func add(_ code: String, message: String) {
            findings.append(Finding(code: code, key: rule.name, message: message))
        }
        if rule.isNotSecret {
            add(
                "not-secret",
                message: "the public value may be random text; make sure it isn't a key")
        }
        if rule.meaning == nil { add("no-meaning", message: "\"meaning\" is missing") }
        if rule.isPublic, rule.type == .string, rule.limits.isEmpty, rule.setBy != [.defaults] {
            add(
                "no-limit",
                message: "the text has no pattern, enum or length limit, and inputs other than the "
                    + "defaults may set it")
        }
        if KeyRule.decidesTrust(rule.name) {
            if !rule.namesOrigins {
                add(
                    "no-set-by",
                    message: "\"setBy\" is missing; fetched values set this key only if it names "
                        + "fetched")
            } else if rule.setBy.contains(.fetched) {
                add(
                    "fetched-server",
                    message:
                        "who sends the fetched values decides which requests are sent, which "
                        + "servers get them, or how they are signed")
            }
        }
        return findings
    }
}

extension Schema.Key {
    init(_ rule: KeyRule) {
        self.init(
            name: rule.name, type: rule.type.rawValue, isPublic: rule.isPublic,
            setBy: ConfigurationOrigin.allCases.filter(rule.setBy.contains),
            meaning: rule.meaning, limits: rule.isPublic ? rule.limits : [:],
            isNotSecret: rule.isNotSecret, isRequired: rule.isRequired)
    }
}
