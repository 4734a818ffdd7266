extension PinPolicy {
    /// The remedy for a chain of which no key is wanted.
    func remedy(
        ofMismatchWith chain: [SeenCertificate], host: HostName, port: Int?, rule: PinRule
    ) -> PinRemedy {
        guard let leaf = chain.first else {
            return PinRemedy(
                kind: .noChain,
                advice: "no verified chain was seen; look at it with \(Self.show(host, port))")
        }
        for wanted in rule.pins {
            let lower = wanted.text.lowercased()
            if let twin = chain.first(where: { $0.pin.text.lowercased() == lower }) {
                return PinRemedy(
                    kind: .letterCase,
                    advice: "\(wanted.text) differs from the chain's pin in letter case alone; take"
                        + " the pin as it is made, not as it was typed",
                    entry: rule.entry(pins: rule.pins.map { $0 == wanted ? twin.pin : $0 }))
            }
        }
        if rule.pins.allSatisfy(\.matchesNoKey) {
            return PinRemedy(
                kind: .notAKey,
                advice: "the rule's pins are placeholders, no hashes of keys; if this chain is the"
                    + " right one, take its pins",
                entry: rule.entry(pins: Self.suggestion(chain)))
        }
        let other = rules.first { other in
            other.pattern != rule.pattern && chain.contains { other.pins.contains($0.pin) }
        }
        if let other {
            return PinRemedy(
                kind: .otherRule,
                advice:
                    "the pins of the rule \(other.pattern) match this chain: perhaps the pins of"
                    + " the two stand at each other's place, or one key now serves both; if so",
                entry: rule.entry(pins: rule.pins + [leaf.pin]))
        }
        return PinRemedy(
            kind: .newKey,
            advice: "if \(host.uriText) changed its key on purpose, and only then, add its pin",
            entry: rule.entry(pins: rule.pins + [leaf.pin]))
    }

    /// The remedy for a host that no rule is for.
    func remedy(
        ofUnlisted host: HostName, port: Int?, chain: [SeenCertificate]
    ) -> PinRemedy {
        if host.kind == .name {
            let name = host.text
            let above = rules.filter {
                $0.pattern.host.kind == .name && name.hasSuffix("." + $0.pattern.host.text)
            }.max { $0.pattern.host.text.utf8.count < $1.pattern.host.text.utf8.count }
            if let above {
                return PinRemedy(
                    kind: .reach,
                    advice:
                        "the rule \(above.pattern) does not reach \(host.uriText): add the host,"
                        + " or say \"includeSubdomains\":true there",
                    entry: Self.entry(host, chain))
            }
        }
        return PinRemedy(
            kind: .unlisted,
            advice: "add its pins (\(Self.show(host, port))), exclude it, or say"
                + " \"unlisted\":\"allow\"", entry: Self.entry(host, chain))
    }

    /// The command that shows a host's pins.
    private static func show(_ host: HostName, _ port: Int?) -> String {
        let port = port ?? 443
        return "signet pins show https://\(host.uriText)" + (port == 443 ? "" : ":\(port)")
    }

    /// The remedy for a rule whose last day is over.
    func remedy(ofExpired rule: PinRule, chain: [SeenCertificate]) -> PinRemedy {
        let isMatch = chain.contains { rule.pins.contains($0.pin) }
        return PinRemedy(
            kind: .expired,
            advice: "renew \"expires\", or say \"afterExpiry\":\"allow\""
                + (chain.isEmpty
                    ? ""
                    : isMatch
                        ? " (a pin still matches)" : " (no pin matches any more: renew them too)")
        )
    }

    /// The keys of a chain that are worth pinning: the leaf's and its issuer's.
    private static func suggestion(_ chain: [SeenCertificate]) -> [Pin] {
        chain.prefix(2).map(\.pin)
    }

    private static func entry(_ host: HostName, _ chain: [SeenCertificate]) -> String? {
        let pins = suggestion(chain)
        guard !pins.isEmpty, let rule = try? PinRule(host: host.text, pins: pins) else {
            return nil
        }
        return rule.entry(pins: pins)
    }
}
