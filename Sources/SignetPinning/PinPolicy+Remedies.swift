import SignetBase

extension PinPolicy {
    /// Returns the remedy for a chain in which no key is pinned.
    func remedy(
        forMismatchWith chain: [SeenCertificate], host: HostName, port: Int?, rule: PinRule
    ) -> PinRemedy {
        guard let leaf = chain.first else {
            return PinRemedy(
                kind: .noChain,
                advice: "no verified chain was seen; inspect it with"
                    + " \(Self.showCommand(for: host, port: port))")
        }
        for wanted in rule.pins {
            let lower = wanted.text.lowercased()
            if let similar = chain.first(where: { $0.pin.text.lowercased() == lower }) {
                return PinRemedy(
                    kind: .letterCase,
                    advice: "\(wanted.text) differs from the chain's pin only in letter case; copy"
                        + " the pin instead of typing it",
                    entry: rule.entry(pins: rule.pins.map { $0 == wanted ? similar.pin : $0 }))
            }
        }
        if rule.pins.allSatisfy(\.matchesNoKey) {
            return PinRemedy(
                kind: .notAKey,
                advice: "the rule's pins are placeholders, not hashes of keys; if this chain is the"
                    + " right one, use its pins",
                entry: rule.entry(pins: Self.suggestedPins(of: chain)))
        }
        let other = rules.first { other in
            other.pattern != rule.pattern && chain.contains { other.pins.contains($0.pin) }
        }
        if let other {
            return PinRemedy(
                kind: .otherRule,
                advice:
                    "the pins of the rule \(other.pattern) match this chain: perhaps the pins of"
                    + " the two rules were swapped, or both hosts use one key now; if so",
                entry: rule.entry(pins: rule.pins + [leaf.pin]))
        }
        return PinRemedy(
            kind: .newKey,
            advice: "add the new key's pin only if \(host.uriText) changed its key on purpose",
            entry: rule.entry(pins: rule.pins + [leaf.pin]))
    }

    /// Returns the remedy for a host without a rule.
    func remedy(
        forUnlisted host: HostName, port: Int?, chain: [SeenCertificate]
    ) -> PinRemedy {
        if host.kind == .name {
            let name = host.text
            let above = rules.filter {
                $0.pattern.host.kind == .name && name.endsWithBytes(of: "." + $0.pattern.host.text)
            }.max { $0.pattern.host.text.utf8.count < $1.pattern.host.text.utf8.count }
            if let above {
                return PinRemedy(
                    kind: .reach,
                    advice: "the rule \(above.pattern) doesn't cover \(host.uriText): add the host,"
                        + " or set \"includeSubdomains\":true there",
                    entry: Self.entry(for: host, chain: chain))
            }
        }
        return PinRemedy(
            kind: .unlisted,
            advice: "add its pins (\(Self.showCommand(for: host, port: port))), exclude it, or set"
                + " \"unlisted\":\"allow\"", entry: Self.entry(for: host, chain: chain))
    }

    /// Returns the command that prints a host's pins.
    private static func showCommand(for host: HostName, port: Int?) -> String {
        let port = port ?? 443
        return "signet pins show https://\(host.uriText)" + (port == 443 ? "" : ":\(port)")
    }

    /// Returns the remedy for an expired rule.
    func remedy(forExpired rule: PinRule, chain: [SeenCertificate]) -> PinRemedy {
        let isMatch = chain.contains { rule.pins.contains($0.pin) }
        return PinRemedy(
            kind: .expired,
            advice: "set a later \"expires\", or set \"afterExpiry\":\"allow\""
                + (chain.isEmpty
                    ? ""
                    : isMatch
                        ? " (a pin still matches)" : " (no pin matches any more: renew them too)")
        )
    }

    /// Returns the pins of a chain that are worth pinning: the leaf's and its issuer's.
    private static func suggestedPins(of chain: [SeenCertificate]) -> [Pin] {
        chain.prefix(2).map(\.pin)
    }

    private static func entry(for host: HostName, chain: [SeenCertificate]) -> String? {
        let pins = suggestedPins(of: chain)
        guard !pins.isEmpty, let rule = try? PinRule(host: host.text, pins: pins) else {
            return nil
        }
        return rule.entry(pins: pins)
    }
}
