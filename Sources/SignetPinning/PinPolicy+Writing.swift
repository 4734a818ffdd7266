import SignetJSON

extension PinPolicy {
    /// Writes the policy as a document that `init(parsing:)` reads as the same policy.
    ///
    /// Hosts are written in canonical form, in the order of the rules. Members that have their
    /// default value are left out. CA files are named as before, not copied.
    ///
    /// - Returns: JSON in UTF-8, indented by two spaces a level, with a newline at the end.
    public func serialized() -> [UInt8] {
        JSONValue.object(document).serialized(.pretty) + [UInt8(ascii: "\n")]
    }

    /// The document's members.
    var document: JSONObject {
        var hosts = JSONObject()
        for rule in rules { hosts[rule.pattern.description] = .object(rule.members()) }
        var top: JSONObject = ["hosts": .object(hosts)]
        if unlisted != .refuse { top["unlisted"] = .string(unlisted.rawValue) }
        return top
    }
}

extension PinRule {
    /// Returns the rule's members, with other pins if some are given.
    func members(pins other: [Pin]? = nil) -> JSONObject {
        var members = JSONObject()
        if isExclusion {
            members["exclude"] = true
        } else {
            members["pins"] = .array((other ?? pins).map { .string($0.text) })
        }
        if includesSubdomains { members["includeSubdomains"] = true }
        if let expires { members["expires"] = .string(expires.text) }
        if afterExpiry != .refuse { members["afterExpiry"] = .string(afterExpiry.rawValue) }
        if let authorities {
            members["caFile"] = .string(authorities.file)
            members["caMode"] = .string(authorities.mode.rawValue)
        }
        if mode != .enforce { members["mode"] = .string(mode.rawValue) }
        return members
    }

    /// Returns the rule with other pins as a member of `hosts`, on one line.
    func entry(pins: [Pin]) -> String {
        JSONValue.string(pattern.description).text + ":"
            + JSONValue.object(members(pins: pins)).text
    }
}
