import SignetBase
import SignetJSON
import SignetPinning

/// TrustKit's configuration, as the project's TSKTrustKitConfig.h documents its keys.
///
/// TrustKit's code looks for a misspelt key for exclusions (`kSKExclude…`), and its documentation
/// has `TSKExclude…`. This type reads both and writes the first.
enum TrustKitFormat {
    private static let excludes = "kSKExcludeSubdomainFromParentPolicy"
    private static let documentedExcludes = "TSKExcludeSubdomainFromParentPolicy"

    static func json(_ bytes: [UInt8]) throws(PinError) -> JSONValue {
        do {
            return try JSONValue(parsing: bytes, maximumDepth: 64)
        } catch {
            throw PinError(.malformedInput, "invalid JSON: \(error.message)")
        }
    }

    // MARK: - Reading

    static func policy(from list: JSONValue, notes: inout ConversionNotes) throws(PinError)
        -> PinPolicy
    {
        guard let top = list.object else { throw malformed("expected a dictionary") }
        let configuration = try object(
            top["TSKConfiguration"] ?? list, named: "\"TSKConfiguration\"")
        guard let domains = configuration["TSKPinnedDomains"] else {
            throw malformed("\"TSKPinnedDomains\" is missing")
        }
        for name in configuration.memberNames where name != "TSKPinnedDomains" {
            // An Info.plist has many keys that aren't TrustKit's.
            if name.startsWithBytes(of: "TSK"), name != "TSKSwizzleNetworkDelegates" {
                notes.add("\(name) has no counterpart and is left out")
            }
        }
        var rules: [PinRule] = []
        for (host, value) in try object(domains, named: "\"TSKPinnedDomains\"") {
            do throws(PinError) {
                rules.append(try rule(for: host, from: value, notes: &notes))
            } catch {
                throw PinError(error.code, "domain \(host): \(error.message)")
            }
        }
        guard !rules.isEmpty else { throw malformed("\"TSKPinnedDomains\" has no domain") }
        notes.addUnlisted(in: "TrustKit")
        return try PinPolicy(rules: rules)
    }

    private static func rule(for host: String, from value: JSONValue, notes: inout ConversionNotes)
        throws(PinError) -> PinRule
    {
        let members = try object(value, named: "the domain's policy")
        try requirePlainHost(host)
        for name in [excludes, documentedExcludes] {
            guard try flag(name, of: members, default: false) else { continue }
            guard members.count == 1 else {
                throw malformed("\(name) must be the only key")
            }
            return try PinRule(excluding: host)
        }
        for name in members.memberNames {
            switch name {
            case "TSKPublicKeyHashes", "TSKIncludeSubdomains", "TSKExpirationDate",
                "TSKEnforcePinning", excludes, documentedExcludes, "TSKDisableDefaultReportUri":
                break
            case "TSKPublicKeyAlgorithms":
                notes.add("\(name) is left out: a policy's pins match keys of any algorithm")
            default: notes.add("\(host): \(name) has no counterpart and is left out")
            }
        }
        guard let hashes = members["TSKPublicKeyHashes"]?.array else {
            throw malformed("\"TSKPublicKeyHashes\" must be an array of strings")
        }
        let pins = try hashes.map { (hash) throws(PinError) in
            guard let text = hash.string else {
                throw malformed("\"TSKPublicKeyHashes\" must be an array of strings")
            }
            return try Pin(parsing: Pin.prefix + text)
        }
        let expires = members["TSKExpirationDate"]
        guard expires == nil || expires?.string != nil else {
            throw malformed("\"TSKExpirationDate\" must be a string, YYYY-MM-DD")
        }
        if let day = expires?.string { notes.addNoteForMissingTime(day, of: host, in: "TrustKit") }
        return try PinRule(
            host: host, pins: pins.withoutDuplicates,
            includesSubdomains: try flag("TSKIncludeSubdomains", of: members, default: false),
            expires: expires?.string, afterExpiry: expires == nil ? .refuse : .allow,
            mode: try flag("TSKEnforcePinning", of: members, default: true) ? .enforce : .report)
    }

    /// Refuses a star, because a domain isn't a pattern.
    static func requirePlainHost(_ host: String) throws(PinError) {
        guard !host.utf8.contains(UInt8(ascii: "*")) else {
            throw PinError(.badHost, "a domain can't have a star")
        }
    }

    private static func object(_ value: JSONValue, named subject: String) throws(PinError)
        -> JSONObject
    {
        guard let object = value.object else { throw malformed("\(subject) must be a dictionary") }
        return object
    }

    /// Reads a boolean, also as one of the numbers and words that Apple's `boolValue` accepts.
    private static func flag(_ name: String, of members: JSONObject, default standard: Bool)
        throws(PinError) -> Bool
    {
        guard let value = members[name] else { return standard }
        if let flag = value.bool { return flag }
        switch (value.number?.int64, value.string) {
        case (1, _), (_, "YES"): return true
        case (0, _), (_, "NO"): return false
        default: throw malformed("\(name) must be true or false")
        }
    }

    private static func malformed(_ what: String) -> PinError {
        PinError(.malformedInput, "invalid TrustKit configuration: \(what)")
    }

    // MARK: - Writing

    static func configuration(of policy: PinPolicy, notes: inout ConversionNotes)
        throws(PinError) -> JSONValue
    {
        let index = RuleScopeIndex(policy)
        var domains = JSONObject()
        for rule in policy.rules {
            let name = rule.pattern.host.text
            guard rule.pattern.host.kind == .name else {
                throw PinError(
                    .notExpressible,
                    "TrustKit can't pin IP addresses: \(rule.pattern)")
            }
            let includesBelow = try rule.includesBelow(in: "TrustKit")
            guard domains[name] == nil else {
                throw PinError(
                    .notExpressible,
                    "TrustKit allows one policy for a domain: \(name)")
            }
            if rule.isExclusion {
                guard !includesBelow else {
                    throw PinError(
                        .notExpressible,
                        "TrustKit can't exclude the names below a host: \(rule.pattern)")
                }
                if index.pinnedRules(around: rule).isEmpty {
                    notes.add("\(name): no wider rule pins it, so its exclusion is left out")
                } else {
                    domains[name] = .object([excludes: true])
                }
                continue
            }
            var members: JSONObject = [
                "TSKPublicKeyHashes": .array(rule.pins.map { .string($0.base64) })
            ]
            if Set(rule.pins).count < 2, rule.mode == .enforce {
                notes.add("\(name): TrustKit requires two pins and doesn't start with one")
            }
            if includesBelow { members["TSKIncludeSubdomains"] = true }
            if let date = rule.expires, rule.afterExpiry == .allow {
                members["TSKExpirationDate"] = .string(date.text)
                notes.addNoteForMissingTime(date.text, of: name, in: "TrustKit")
            } else {
                notes.addExpiry(of: rule, in: "TrustKit")
            }
            if rule.mode == .report { members["TSKEnforcePinning"] = false }
            members["TSKDisableDefaultReportUri"] = true
            domains[name] = .object(members)
        }
        guard !domains.isEmpty else {
            throw PinError(
                .notExpressible, "TrustKit requires a pinned domain")
        }
        return ["TSKSwizzleNetworkDelegates": false, "TSKPinnedDomains": .object(domains)]
    }
}
