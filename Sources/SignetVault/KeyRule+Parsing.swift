import SignetJSON

extension KeyRule {
    private static let members = [
        "type", "visibility", "setBy", "minimum", "maximum", "pattern", "enum", "meaning",
    ]

    /// Reads what a schema says of a key.
    ///
    /// - Throws: `malformed-schema`, naming the key and the member.
    init(_ name: String, _ description: JSONValue) throws(VaultError) {
        func malformed(_ problem: String) -> VaultError {
            VaultError(.malformedSchema, "key \(quoted(name)): \(problem)")
        }
        if let problem = VersionBinding.problem(with: name) {
            throw malformed("the name \(problem)")
        }
        guard let object = description.object else {
            throw malformed("found \(description.article), wanted an object")
        }
        for member in object.memberNames
        where !Self.members.contains(where: { sameBytes($0, member) }) {
            throw malformed("unknown member \(quoted(member))")
        }
        guard let typeName = object["type"]?.string, let type = ValueType(rawValue: typeName) else {
            let known = ValueType.allCases.map(\.rawValue).joined(separator: ", ")
            throw malformed("\"type\" must be one of \(known)")
        }
        self.name = name
        self.type = type
        self.isPublic = try Self.isPublic(object["visibility"], malformed)
        self.setBy = try Self.setBy(object["setBy"], malformed)
        self.meaning = object["meaning"]?.string
        if object["meaning"] != nil, meaning == nil {
            throw malformed("\"meaning\" must be a string")
        }
        self.minimum = try Self.limit(object["minimum"], "minimum", type, malformed)
        self.maximum = try Self.limit(object["maximum"], "maximum", type, malformed)
        if let minimum, let maximum, maximum.isBelow(minimum) {
            throw malformed("\"minimum\" is above \"maximum\", so no value fits")
        }
        self.pattern = try Self.pattern(object["pattern"], type, malformed)
        self.allowed = nil
        self.allowed = try allowed(object["enum"], malformed)
    }

    private static func isPublic(
        _ value: JSONValue?, _ malformed: (String) -> VaultError
    ) throws(VaultError) -> Bool {
        switch value {
        case nil, .string("secret")?: false
        case .string("public")?: true
        default: throw malformed("\"visibility\" must be \"public\" or \"secret\"")
        }
    }

    private static func setBy(
        _ value: JSONValue?, _ malformed: (String) -> VaultError
    ) throws(VaultError) -> Set<ConfigurationOrigin> {
        guard let value else { return Set(ConfigurationOrigin.allCases) }
        guard let list = value.array, !list.isEmpty else {
            throw malformed("\"setBy\" must be a list of at least one input")
        }
        var result: Set<ConfigurationOrigin> = []
        for element in list {
            guard let name = element.string, let origin = ConfigurationOrigin(rawValue: name) else {
                throw malformed("\"setBy\" may hold defaults, launch and fetched")
            }
            guard result.insert(origin).inserted else {
                throw malformed("\"setBy\" names \(origin.rawValue) twice")
            }
        }
        return result
    }

    private static func limit(
        _ value: JSONValue?, _ member: String, _ type: ValueType,
        _ malformed: (String) -> VaultError
    ) throws(VaultError) -> TypedValue? {
        guard let value else { return nil }
        guard type.isOrdered else {
            throw malformed(
                "\"\(member)\" is for integer, number and duration, not \(type.rawValue)")
        }
        guard let limit = try? TypedValue(value, as: type) else {
            throw malformed("\"\(member)\" must be \(type.wanted)")
        }
        return limit
    }

    private static func pattern(
        _ value: JSONValue?, _ type: ValueType, _ malformed: (String) -> VaultError
    ) throws(VaultError) -> ValuePattern? {
        guard let value else { return nil }
        guard type.isMatchable else {
            throw malformed("\"pattern\" is for string and url, not \(type.rawValue)")
        }
        guard let text = value.string, let pattern = try? ValuePattern(text) else {
            throw malformed("\"pattern\" is no regular expression")
        }
        return pattern
    }

    /// The list of values, each of which the rest of the rule must let pass.
    private func allowed(
        _ value: JSONValue?, _ malformed: (String) -> VaultError
    ) throws(VaultError) -> [TypedValue]? {
        guard let value else { return nil }
        guard let list = value.array, !list.isEmpty else {
            throw malformed("\"enum\" must be a list of at least one value")
        }
        var allowed: [TypedValue] = []
        for (index, element) in list.enumerated() {
            let place = "element \(index) of \"enum\""
            let typed: TypedValue
            do {
                typed = try checked(element, from: place)
            } catch {
                throw VaultError(.malformedSchema, "\(error.message) (\(error.code.name))")
            }
            if allowed.contains(where: { $0.isSame(as: typed) }) {
                throw malformed("\(place) repeats an earlier one")
            }
            allowed.append(typed)
        }
        return allowed
    }
}
