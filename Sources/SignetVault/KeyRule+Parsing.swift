import SignetBase
import SignetJSON

extension KeyRule {
    private static let members =
        ValueRule.members + ["visibility", "setBy", "meaning", "notSecret", "required"]

    /// Reads the rule of a key.
    ///
    /// - Throws: `malformed-schema`, naming the key and the member.
    init(parsing description: JSONValue, named name: String) throws(VaultError) {
        do throws(ValueRule.InvalidRule) {
            try self.init(checking: description, named: name)
        } catch {
            throw VaultError(
                .malformedSchema, "key \(quoted(name)): \(error.problem)", key: name)
        }
    }

    private init(
        checking description: JSONValue, named name: String
    ) throws(ValueRule.InvalidRule) {
        if let problem = VersionBinding.problem(with: name) {
            throw .init("the name \(problem)")
        }
        // A direction mark or a zero-width joiner makes two names look the same.
        let hidden: [Unicode.GeneralCategory] = [.format, .lineSeparator, .paragraphSeparator]
        if name.unicodeScalars.contains(where: { hidden.contains($0.properties.generalCategory) }) {
            throw .init("the name contains an invisible character")
        }
        guard let object = description.object else {
            throw .init("found \(description.article), expected an object")
        }
        if let member = object.unknown(beside: Self.members) {
            throw .init("unknown member \(quoted(member))")
        }
        let value = try ValueRule(object)
        let isPublic = try Self.isPublic(object["visibility"])
        self.init(
            name: name, isPublic: isPublic,
            setBy: try Self.setBy(object["setBy"]) ?? Self.defaultOrigins(of: name),
            namesOrigins: object["setBy"] != nil,
            meaning: try Self.meaning(object["meaning"]),
            isNotSecret: try Self.isNotSecret(object["notSecret"], isPublic: isPublic),
            isRequired: try Self.isRequired(object["required"]),
            value: value,
            limits: JSONObject(
                object.filter { member in
                    member.name != "type" && ValueRule.members.contains(member.name)
                }))
        // Tools show the values of `enum` although no input sets them, so check them for secrets.
        for (index, element) in (object["enum"]?.array ?? []).enumerated() {
            if let reason = secretReason(in: element) {
                throw .init("element \(index) of \"enum\": \(reason)")
            }
        }
    }

    private static func isPublic(_ value: JSONValue?) throws(ValueRule.InvalidRule) -> Bool {
        switch value {
        case nil, .string("secret")?: false
        case .string("public")?: true
        default: throw .init("\"visibility\" must be \"public\" or \"secret\"")
        }
    }

    private static func isNotSecret(
        _ value: JSONValue?, isPublic: Bool
    ) throws(ValueRule.InvalidRule) -> Bool {
        guard let value else { return false }
        guard value.bool == true else { throw .init("\"notSecret\" must be true or absent") }
        guard isPublic else { throw .init("\"notSecret\" is for public keys; this one is secret") }
        return true
    }

    private static func isRequired(_ value: JSONValue?) throws(ValueRule.InvalidRule) -> Bool {
        guard let value else { return false }
        guard value.bool == true else { throw .init("\"required\" must be true or absent") }
        return true
    }

    private static func meaning(_ value: JSONValue?) throws(ValueRule.InvalidRule) -> String? {
        guard let value else { return nil }
        guard let text = value.string else { throw .init("\"meaning\" must be a string") }
        return text
    }

    /// The inputs that may set a key if the rule names none: all, but fetched values neither choose
    /// servers or test calls nor change how requests are signed. The server that sends them would
    /// get each service's credentials, or signatures that prove nothing, or make the program sign
    /// requests of its choice.
    private static func defaultOrigins(of name: String) -> Set<ConfigurationOrigin> {
        decidesTrust(name) ? [.defaults, .launch] : Set(ConfigurationOrigin.allCases)
    }

    /// Whether a key of the network system says which servers get requests, how they are checked,
    /// how requests are signed, or which ones are sent without a call of the program: URLs,
    /// addresses, pins and signing of a service in any mode, the proxy, the URL rules, and the
    /// requests of test calls.
    static func decidesTrust(_ name: String) -> Bool {
        let parts = name.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        guard let first = parts.first, parts.count > 1 else { return false }
        return switch first {
        case "proxy", "urlRules": true
        case "services":
            ["baseURL", "cdnURL", "addresses", "pins", "cdnPins", "proxy"].contains(parts.last)
                || parts.dropFirst(2).contains("signing")
        case "probes":
            parts.count == 3
                && ["service", "method", "path", "parameters"].contains(parts.last)
        default: false
        }
    }

    private static func setBy(
        _ value: JSONValue?
    ) throws(ValueRule.InvalidRule) -> Set<ConfigurationOrigin>? {
        guard let value else { return nil }
        guard let list = value.array, !list.isEmpty else {
            throw .init("\"setBy\" must be a list of at least one input")
        }
        var result: Set<ConfigurationOrigin> = []
        for element in list {
            guard let name = element.string, let origin = ConfigurationOrigin(rawValue: name) else {
                throw .init("\"setBy\" may only contain defaults, launch and fetched")
            }
            guard result.insert(origin).inserted else {
                throw .init("\"setBy\" has \(origin.rawValue) twice")
            }
        }
        return result
    }
}
