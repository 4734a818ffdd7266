/// Android's network security configuration (developer.android.com, "Network security configuration",
/// configuration file format).
enum AndroidFormat {
    /// What a nested `domain-config` gets from the one around it.
    private struct Inherited {
        var pins: [Pin]?
        var expires: String?
        var allowsCleartext: Bool?
    }

    // MARK: - Reading

    static func read(_ bytes: [UInt8], _ notes: inout ConversionNotes) throws(PinError) -> PinPolicy
    {
        guard bytes.count <= PropertyList.sizeLimit else { throw malformed("more than 16 MiB") }
        let root = try XMLReader.read(bytes)
        guard root.name == "network-security-config" else {
            throw malformed("<network-security-config> is wanted")
        }
        var rules: [PinRule] = []
        for element in root.elements {
            switch element.name {
            case "domain-config": try readDomains(element, Inherited(), &rules, &notes)
            case "base-config":
                guard !element.elements.contains(where: { $0.name == "pin-set" }) else {
                    throw malformed("<base-config> holds no <pin-set>")
                }
                notes.add("<base-config> has no counterpart and is left out")
            default: notes.add("<\(element.name)> has no counterpart and is left out")
            }
        }
        notes.addUnlisted("Android")
        return try PinPolicy(rules: rules)
    }

    private static func readDomains(
        _ element: XMLElement, _ outer: Inherited, _ rules: inout [PinRule],
        _ notes: inout ConversionNotes
    ) throws(PinError) {
        var inherited = outer
        var domains: [XMLElement] = []
        var nested: [XMLElement] = []
        var sawPins = false
        if let cleartext = try flag(element, "cleartextTrafficPermitted") {
            inherited.allowsCleartext = cleartext
        }
        for child in element.elements {
            switch child.name {
            case "domain": domains.append(child)
            case "domain-config": nested.append(child)
            case "pin-set":
                guard !sawPins else { throw malformed("<pin-set> stands twice") }
                sawPins = true
                inherited.pins = try pins(child)
                inherited.expires = child["expiration"]
            case "trust-anchors":
                notes.add("<trust-anchors> has no counterpart and is left out: give --ca-file")
                if child.elements.contains(where: { $0["overridePins"] == "true" }) {
                    notes.add("overridePins=\"true\" is left out: no CA sets the pins aside")
                }
            default: notes.add("<\(child.name)> has no counterpart and is left out")
            }
        }
        guard !domains.isEmpty else { throw malformed("a <domain-config> without <domain>") }
        for domain in domains { rules.append(try rule(domain, inherited, &notes)) }
        for inner in nested { try readDomains(inner, inherited, &rules, &notes) }
    }

    private static func rule(
        _ domain: XMLElement, _ inherited: Inherited, _ notes: inout ConversionNotes
    ) throws(PinError) -> PinRule {
        guard domain.elements.isEmpty else { throw malformed("<domain> holds a name alone") }
        let host = String(
            decoding: domain.text.utf8.filter { !XMLReader.isSpace($0) }, as: UTF8.self)
        try TrustKitFormat.demandPlainHost(host)
        let reachesBelow = try flag(domain, "includeSubdomains") ?? false
        guard let pins = inherited.pins, !pins.isEmpty else {
            return try PinRule(excluding: host, includesSubdomains: reachesBelow)
        }
        if inherited.allowsCleartext == true {
            notes.add("\(host): cleartext is permitted there, and never to a pinned host here")
        }
        if let day = inherited.expires {
            notes.add("\(host): Android lets the pins go as \(day) begins, the policy when it ends")
        }
        return try PinRule(
            host: host, pins: pins, includesSubdomains: reachesBelow, expires: inherited.expires,
            afterExpiry: inherited.expires == nil ? .refuse : .allow)
    }

    private static func pins(_ set: XMLElement) throws(PinError) -> [Pin] {
        var pins = DistinctPins()
        for element in set.elements {
            guard element.name == "pin", element.elements.isEmpty else {
                throw malformed("<pin-set> holds <pin> alone")
            }
            guard element["digest"] == "SHA-256" else {
                throw malformed("a pin's digest is SHA-256")
            }
            let text = String(
                decoding: element.text.utf8.filter { !XMLReader.isSpace($0) }, as: UTF8.self)
            pins.add(try Pin(parsing: Pin.prefix + text))
        }
        return pins.pins
    }

    private static func flag(_ element: XMLElement, _ name: String) throws(PinError) -> Bool? {
        switch element[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw malformed("\(name) is true or false")
        }
    }

    private static func malformed(_ what: String) -> PinError {
        PinError(
            code: .malformedInput, message: "no Android network security configuration: \(what)")
    }

    // MARK: - Writing

    static func write(_ policy: PinPolicy, _ notes: inout ConversionNotes) throws(PinError)
        -> [UInt8]
    {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<network-security-config>\n"
        var hosts: Set<String> = []
        for rule in policy.rules {
            let name = rule.pattern.host.text
            let reachesBelow = try rule.reachesBelow("Android")
            guard hosts.insert(name).inserted else {
                throw PinConversion.notExpressible(
                    "Android has one configuration a domain: \(name)")
            }
            let isPinned = !rule.isExclusion && rule.mode == .enforce
            text += "    <domain-config\(isPinned ? " cleartextTrafficPermitted=\"false\"" : "")>\n"
            text +=
                "        <domain includeSubdomains=\"\(reachesBelow)\">"
                + "\(XMLReader.escaped(name))</domain>\n"
            if isPinned {
                text += pinSet(rule, &notes)
            } else if !rule.isExclusion {
                notes.add("\(name): Android has no report mode, so its pins are left out")
            }
            text += "    </domain-config>\n"
        }
        return Array((text + "</network-security-config>\n").utf8)
    }

    private static func pinSet(_ rule: PinRule, _ notes: inout ConversionNotes) -> String {
        var expiration = ""
        if let date = rule.expires, rule.afterExpiry == .allow {
            expiration = " expiration=\"\(date.text)\""
            notes.add(
                "\(rule.pattern): Android lets the pins go as \(date) begins, the policy when it"
                    + " ends")
        } else {
            notes.addExpiry(of: rule, "Android")
        }
        var text = "        <pin-set\(expiration)>\n"
        for pin in rule.pins {
            text += "            <pin digest=\"SHA-256\">\(pin.base64)</pin>\n"
        }
        return text + "        </pin-set>\n"
    }
}
