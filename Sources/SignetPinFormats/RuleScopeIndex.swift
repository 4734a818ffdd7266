import SignetBase
import SignetPinning

/// Finds the rules of a policy that cover the hosts of another rule, without comparing all pairs of
/// rules.
struct RuleScopeIndex {
    private let rules: [PinRule]
    private let byHost: [String: [Int]]

    init(_ policy: PinPolicy) {
        rules = policy.rules
        byHost = Dictionary(grouping: rules.indices) { policy.rules[$0].pattern.host.text }
    }

    /// Returns the other rules with pins that cover any host that `rule` decides about, in the
    /// policy's order.
    func pinnedRules(around rule: PinRule) -> [PinRule] {
        (covering(rule) + [parentWildcard(of: rule)].compactMap(\.self)).sorted()
            .map { rules[$0] }
    }

    /// Returns the other rules with pins that cover every host that `rule` decides about.
    func rules(coveringAllOf rule: PinRule) -> [PinRule] {
        let wildcard = rule.pattern.scope == .exact ? parentWildcard(of: rule) : nil
        return (covering(rule) + [wildcard].compactMap(\.self)).sorted().map { rules[$0] }
    }

    /// Returns the `*.` rule with pins that covers the name of a `**.` rule itself, if that name
    /// has no rule of its own.
    func rule(coveringTopOf rule: PinRule) -> PinRule? {
        rule.pattern.scope == .anyDepth ? parentWildcard(of: rule).map { rules[$0] } : nil
    }

    /// Returns the other rules with pins that cover all names below the rule's host.
    private func covering(_ rule: PinRule) -> [Int] {
        var found: [Int] = []
        var suffix: Substring? = rule.pattern.host.text[...]
        while let name = suffix {
            found += byHost[String(name), default: []].filter { index in
                let other = rules[index]
                return !other.isExclusion && other.pattern != rule.pattern
                    && Self.includesBelow(other)
            }
            suffix = rule.pattern.host.kind == .name ? name.droppingFirstLabel : nil
        }
        return found
    }

    /// Returns the `*.` rule of the parent domain, if `rule` decides about its own name.
    private func parentWildcard(of rule: PinRule) -> Int? {
        let name = rule.pattern.host.text
        guard rule.pattern.host.kind == .name, rule.pattern.scope != .oneLabel,
            let parent = name[...].droppingFirstLabel
        else { return nil }
        if rule.pattern.scope == .anyDepth,
            byHost[name, default: []].contains(where: { rules[$0].pattern.scope == .exact })
        {
            return nil
        }
        return byHost[String(parent), default: []].first {
            let other = rules[$0]
            return other.pattern.scope == .oneLabel && !other.isExclusion
                && !Self.includesBelow(other)
        }
    }

    private static func includesBelow(_ rule: PinRule) -> Bool {
        rule.includesSubdomains || rule.pattern.scope == .anyDepth
    }
}
