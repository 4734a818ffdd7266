import SignetBase
import SignetPinning

/// Android's network security configuration (developer.android.com, "Network security
/// configuration", configuration file format).
enum AndroidFormat {
    /// The settings that a nested `domain-config` inherits.
    private struct Inherited {
        var pins: [Pin]?
        var expires: String?
        var allowsCleartext: Bool?
    }

    // MARK: - Reading

    static func read(_ bytes: [UInt8], notes: inout ConversionNotes) throws(PinError) -> PinPolicy {
        guard bytes.count <= PropertyList.sizeLimit else {
            throw malformed("found more than 16 MiB")
        }
        let root = try XMLElement.root(of: bytes)
        guard root.name == "network-security-config" else {
            throw malformed("expected <network-security-config>")
        }
        var rules: [PinRule] = []
        for element in root.elements {
            switch element.name {
            case "domain-config":
                try readDomains(of: element, inherited: Inherited(), rules: &rules, notes: &notes)
            case "base-config":
                guard !element.elements.contains(where: { $0.name == "pin-set" }) else {
                    throw malformed("<pin-set> isn't allowed in <base-config>")
                }
                notes.add("<base-config> has no counterpart and is left out")
            default: notes.add("<\(element.name)> has no counterpart and is left out")
            }
        }
        notes.addUnlisted(in: "Android")
        return try PinPolicy(rules: rules)
    }

    private static func readDomains(
        of element: XMLElement, inherited outer: Inherited, rules: inout [PinRule],
        notes: inout ConversionNotes
    ) throws(PinError) {
        var inherited = outer
        var sawPins = false
        if let cleartext = try flag("cleartextTrafficPermitted", of: element) {
            inherited.allowsCleartext = cleartext
        }
        for child in element.elements {
            switch child.name {
            case "domain", "domain-config": break
            case "pin-set":
                guard !sawPins else { throw malformed("duplicate <pin-set>") }
                sawPins = true
                inherited.pins = try pins(in: child)
                inherited.expires = child["expiration"]
            case "trust-anchors":
                notes.add(
                    "<trust-anchors> has no counterpart and is left out: set \"caFile\" of the "
                        + "rule, or use --ca-file")
                if child.elements.contains(where: { $0["overridePins"] == "true" }) {
                    notes.add(
                        "overridePins=\"true\" is left out: a policy's CAs can't override its pins")
                }
            default: notes.add("<\(child.name)> has no counterpart and is left out")
            }
        }
        let domains = element.elements.filter { $0.name == "domain" }
        guard !domains.isEmpty else { throw malformed("found a <domain-config> without <domain>") }
        for domain in domains {
            rules.append(try rule(for: domain, inherited: inherited, notes: &notes))
        }
        for inner in element.elements where inner.name == "domain-config" {
            try readDomains(of: inner, inherited: inherited, rules: &rules, notes: &notes)
        }
    }

    private static func rule(
        for domain: XMLElement, inherited: Inherited, notes: inout ConversionNotes
    ) throws(PinError) -> PinRule {
        guard domain.elements.isEmpty else { throw malformed("<domain> must contain only a name") }
        let host = domain.textWithoutSpace
        try TrustKitFormat.requirePlainHost(host)
        let includesBelow = try flag("includeSubdomains", of: domain) ?? false
        guard let pins = inherited.pins, !pins.isEmpty else {
            return try PinRule(excluding: host, includesSubdomains: includesBelow)
        }
        if inherited.allowsCleartext == true {
            notes.add(
                "\(host): Android permits cleartext, which a policy never does for a pinned host")
        }
        if let day = inherited.expires { notes.addNoteForMissingTime(day, of: host, in: "Android") }
        return try PinRule(
            host: host, pins: pins, includesSubdomains: includesBelow, expires: inherited.expires,
            afterExpiry: inherited.expires == nil ? .refuse : .allow)
    }

    private static func pins(in set: XMLElement) throws(PinError) -> [Pin] {
        let pins = try set.elements.map { (element) throws(PinError) in
            guard element.name == "pin", element.elements.isEmpty else {
                throw malformed("<pin-set> must contain only <pin>")
            }
            guard element["digest"] == "SHA-256" else {
                throw malformed("a pin's digest must be SHA-256")
            }
            return try Pin(parsing: Pin.prefix + element.textWithoutSpace)
        }
        return pins.withoutDuplicates
    }

    private static func flag(_ name: String, of element: XMLElement) throws(PinError) -> Bool? {
        switch element[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw malformed("\(name) must be true or false")
        }
    }

    private static func malformed(_ what: String) -> PinError {
        PinError(.malformedInput, "invalid Android network security configuration: \(what)")
    }

    // MARK: - Writing

    static func write(_ policy: PinPolicy, notes: inout ConversionNotes) throws(PinError)
        -> [UInt8]
    {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<network-security-config>\n"
        var hosts: Set<String> = []
        for rule in policy.rules {
            let name = rule.pattern.host.text
            let includesBelow = try rule.includesBelow(in: "Android")
            guard hosts.insert(name).inserted else {
                throw PinError(
                    .notExpressible,
                    "Android allows one configuration for a domain: \(name)")
            }
            let isPinned = !rule.isExclusion && rule.mode == .enforce
            text += "    <domain-config\(isPinned ? " cleartextTrafficPermitted=\"false\"" : "")>\n"
            text +=
                "        <domain includeSubdomains=\"\(includesBelow)\">"
                + "\(XMLReader.escaped(name))</domain>\n"
            if isPinned {
                text += pinSet(of: rule, notes: &notes)
            } else if !rule.isExclusion {
                notes.add("\(name): Android has no report mode, so its pins are left out")
            }
            text += "    </domain-config>\n"
        }
        return Array((text + "</network-security-config>\n").utf8)
    }

    private static func pinSet(of rule: PinRule, notes: inout ConversionNotes) -> String {
        var expiration = ""
        if let date = rule.expires, rule.afterExpiry == .allow {
            expiration = " expiration=\"\(date.text)\""
            notes.addNoteForMissingTime(date.text, of: rule.pattern.description, in: "Android")
        } else {
            notes.addExpiry(of: rule, in: "Android")
        }
        let pins = rule.pins.map { "            <pin digest=\"SHA-256\">\($0.base64)</pin>\n" }
        return "        <pin-set\(expiration)>\n\(pins.joined())        </pin-set>\n"
    }
}
