internal import SignetJSON

extension PinPolicy {
    /// The policy as a document (CONTRACT, section 6), which `init(parsing:)` reads as the same policy.
    ///
    /// Hosts stand in their one form, in the order of the rules; members with their usual value are
    /// left out. CA files are named as they were, not copied.
    ///
    /// - Returns: JSON in UTF-8, two spaces a level, ended by a newline.
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
    /// The rule's members, perhaps with other pins.
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

    /// The rule as a member of `hosts`, on one line.
    func entry(pins: [Pin]) -> String {
        JSONValue.string(pattern.description).text + ":"
            + JSONValue.object(members(pins: pins)).text
    }
}
