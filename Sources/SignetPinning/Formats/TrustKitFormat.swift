internal import SignetJSON

/// TrustKit's configuration, as the project's TSKTrustKitConfig.h documents its keys.
///
/// TrustKit's own spelling of the key for exclusions lacks a letter (`kSKExclude…`), which is what its
/// code looks for; its documentation has `TSKExclude…`. Both are read, the first is written.
enum TrustKitFormat {
    private static let excludes = "kSKExcludeSubdomainFromParentPolicy"
    private static let documentedExcludes = "TSKExcludeSubdomainFromParentPolicy"

    static func json(_ bytes: [UInt8]) throws(PinError) -> JSONValue {
        do {
            return try JSONValue(parsing: bytes, maximumDepth: 64)
        } catch {
            throw PinError(
                code: .malformedInput, message: "no strict JSON: \(error.message)")
        }
    }

    // MARK: - Reading

    static func policy(_ list: JSONValue, _ notes: inout ConversionNotes) throws(PinError)
        -> PinPolicy
    {
        guard let top = list.object else { throw malformed("a dictionary is wanted") }
        let settings = try top["TSKConfiguration"].map { (value) throws(PinError) in
            try object(value, "\"TSKConfiguration\"")
        }
        let configuration = settings ?? top
        guard let domains = configuration["TSKPinnedDomains"] else {
            throw malformed("\"TSKPinnedDomains\" is missing")
        }
        for name in configuration.memberNames where name != "TSKPinnedDomains" {
            // An Info.plist says much more than TrustKit's part.
            if name.hasPrefix("TSK"), name != "TSKSwizzleNetworkDelegates" {
                notes.add("\(name) has no counterpart and is left out")
            }
        }
        var rules: [PinRule] = []
        for (host, value) in try object(domains, "\"TSKPinnedDomains\"") {
            do throws(PinError) {
                rules.append(try rule(host, value, &notes))
            } catch {
                throw PinError(code: error.code, message: "domain \(host): \(error.message)")
            }
        }
        guard !rules.isEmpty else { throw malformed("\"TSKPinnedDomains\" has no domain") }
        notes.addUnlisted("TrustKit")
        return try PinPolicy(rules: rules)
    }

    private static func rule(_ host: String, _ value: JSONValue, _ notes: inout ConversionNotes)
        throws(PinError) -> PinRule
    {
        let members = try object(value, "the domain's policy")
        try demandPlainHost(host)
        for name in [excludes, documentedExcludes] {
            guard try flag(members[name], name, false) else { continue }
            guard members.count == 1 else {
                throw malformed("\(name) stands alone in a domain's policy")
            }
            return try PinRule(excluding: host)
        }
        for name in members.memberNames {
            switch name {
            case "TSKPublicKeyHashes", "TSKIncludeSubdomains", "TSKExpirationDate",
                "TSKEnforcePinning", excludes, documentedExcludes, "TSKDisableDefaultReportUri":
                break
            case "TSKPublicKeyAlgorithms":
                notes.add("\(name) is left out: a pin is of a key of any kind")
            default: notes.add("\(host): \(name) has no counterpart and is left out")
            }
        }
        guard let hashes = members["TSKPublicKeyHashes"]?.array else {
            throw malformed("\"TSKPublicKeyHashes\" is an array of strings")
        }
        var pins = DistinctPins()
        for hash in hashes {
            guard let text = hash.string else {
                throw malformed("\"TSKPublicKeyHashes\" is an array of strings")
            }
            pins.add(try Pin(parsing: Pin.prefix + text))
        }
        let expires = members["TSKExpirationDate"]
        guard expires == nil || expires?.string != nil else {
            throw malformed("\"TSKExpirationDate\" is a string, YYYY-MM-DD")
        }
        if let day = expires?.string {
            notes.add(
                "\(host): TrustKit lets the pins go as \(day) begins, the policy when it ends")
        }
        return try PinRule(
            host: host, pins: pins.pins,
            includesSubdomains: try flag(
                members["TSKIncludeSubdomains"], "TSKIncludeSubdomains", false),
            expires: expires?.string, afterExpiry: expires == nil ? .refuse : .allow,
            mode: try flag(members["TSKEnforcePinning"], "TSKEnforcePinning", true)
                ? .enforce : .report)
    }

    /// TrustKit knows no patterns: a star would be a name nobody has.
    static func demandPlainHost(_ host: String) throws(PinError) {
        guard !host.utf8.contains(UInt8(ascii: "*")) else {
            throw HostName.refusal("a domain holds no star")
        }
    }

    private static func object(_ value: JSONValue, _ what: String) throws(PinError) -> JSONObject {
        guard let object = value.object else { throw malformed("\(what) is a dictionary") }
        return object
    }

    /// A boolean, also as the number or word that Apple's `boolValue` takes for one.
    private static func flag(_ value: JSONValue?, _ name: String, _ standard: Bool)
        throws(PinError) -> Bool
    {
        guard let value else { return standard }
        if let flag = value.bool { return flag }
        switch (value.number?.int64, value.string) {
        case (1, _), (_, "YES"): return true
        case (0, _), (_, "NO"): return false
        default: throw malformed("\(name) is true or false")
        }
    }

    private static func malformed(_ what: String) -> PinError {
        PinError(code: .malformedInput, message: "no TrustKit configuration: \(what)")
    }

    // MARK: - Writing

    static func propertyList(_ policy: PinPolicy, _ notes: inout ConversionNotes) throws(PinError)
        -> JSONValue
    {
        ["TSKConfiguration": .object(try configuration(policy, &notes))]
    }

    static func jsonText(_ policy: PinPolicy, _ notes: inout ConversionNotes) throws(PinError)
        -> [UInt8]
    {
        JSONValue.object(try configuration(policy, &notes)).serialized(.pretty)
            + [UInt8(ascii: "\n")]
    }

    private static func configuration(_ policy: PinPolicy, _ notes: inout ConversionNotes)
        throws(PinError) -> JSONObject
    {
        let index = RuleScopeIndex(policy)
        var domains = JSONObject()
        for rule in policy.rules {
            let name = rule.pattern.host.text
            guard rule.pattern.host.kind == .name else {
                throw PinConversion.notExpressible("TrustKit pins no addresses: \(rule.pattern)")
            }
            let reachesBelow = try rule.reachesBelow("TrustKit")
            guard domains[name] == nil else {
                throw PinConversion.notExpressible("TrustKit has one policy a domain: \(name)")
            }
            if rule.isExclusion {
                guard !reachesBelow else {
                    throw PinConversion.notExpressible(
                        "TrustKit excludes single names, not \(rule.pattern) and all below it")
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
                notes.add("\(name): TrustKit demands two pins and will refuse to start with one")
            }
            if reachesBelow { members["TSKIncludeSubdomains"] = true }
            if let date = rule.expires, rule.afterExpiry == .allow {
                members["TSKExpirationDate"] = .string(date.text)
                notes.add(
                    "\(name): TrustKit lets the pins go as \(date) begins, the policy when it ends")
            } else {
                notes.addExpiry(of: rule, "TrustKit")
            }
            if rule.mode == .report { members["TSKEnforcePinning"] = false }
            members["TSKDisableDefaultReportUri"] = true
            domains[name] = .object(members)
        }
        guard !domains.isEmpty else {
            throw PinConversion.notExpressible("TrustKit demands a pinned domain")
        }
        return ["TSKSwizzleNetworkDelegates": false, "TSKPinnedDomains": .object(domains)]
    }
}
