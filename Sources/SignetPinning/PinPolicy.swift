import SignetBase

/// The public keys that a program accepts from each of its hosts.
///
/// - Warning: A wrong pin is an outage. If a host changes to a key that its rule doesn't list,
///   every call to the host fails until the program gets a new policy. Pin at least two keys, one
///   of them a backup key that isn't in use, agree with the host's operator on how keys are
///   changed, and try new pins with ``PinRule/Mode/report`` first. ``PinLint`` finds weak policies,
///   and ``PinPlan`` lists the pins that expire soon.
///
/// A host passes if any certificate of its *verified* chain has a pinned key, so a pin can be of
/// the leaf, of an intermediate CA or of the root. `signet pins show https://api.example.com`
/// prints the pins of a host's chain; see ``Pin`` for other ways to obtain a pin.
///
/// ```swift
/// let current = try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")
/// let backup = try Pin(parsing: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=")
/// let policy = try PinPolicy(rules: [
///     PinRule(host: "**.example.com", pins: [current, backup], expires: "2027-06-30"),
///     PinRule(excluding: "status.example.com"),
/// ])
/// let host = try HostName.canonical("API.example.com")
/// let decision = policy.decision(for: host, isSecure: true)
/// if let refusal = decision.refusal { throw refusal }
/// ```
///
/// | pattern | hosts |
/// |---|---|
/// | `example.com` | that host alone, and with `includesSubdomains` every name below it |
/// | `*.example.com` | names with one label more, such as `api.example.com` |
/// | `**.example.com` | `example.com` and every name below it |
///
/// Only the most specific rule decides about a host. A rule for the host itself comes first. Then
/// rules for a longer suffix precede those for a shorter one. For the same suffix, `*.` precedes
/// `**.`, which precedes `includesSubdomains`. A policy is immutable: each call uses one policy
/// from its start to its end.
public struct PinPolicy: Sendable, Hashable {
    /// The treatment of hosts without a rule.
    public enum Unlisted: String, Sendable, Hashable, CaseIterable {
        /// Refuses every connection to the host.
        case refuse
        /// Trusts the host by CA and host name alone.
        case allow
    }

    /// The rules, in the order given.
    public let rules: [PinRule]
    /// The treatment of hosts without a rule.
    public let unlisted: Unlisted

    private let exact: [String: Int]
    private let oneLabel: [String: Int]
    private let anyDepth: [String: Int]

    /// Creates a policy.
    ///
    /// - Throws: `PinError` with code `malformed-policy` if two rules have the same pattern.
    public init(rules: [PinRule], unlisted: Unlisted = .refuse) throws(PinError) {
        var exact: [String: Int] = [:]
        var oneLabel: [String: Int] = [:]
        var anyDepth: [String: Int] = [:]
        var below: [String: Int] = [:]
        for (index, rule) in rules.enumerated() {
            let host = rule.pattern.host.text
            let duplicate =
                switch rule.pattern.scope {
                case .exact: exact.updateValue(index, forKey: host)
                case .oneLabel: oneLabel.updateValue(index, forKey: host)
                case .anyDepth: anyDepth.updateValue(index, forKey: host)
                }
            guard duplicate == nil else {
                throw PinError(
                    .malformedPolicy,
                    "duplicate rule for \(rule.pattern) (perhaps in another spelling)")
            }
            if rule.includesSubdomains, rule.pattern.scope != .anyDepth {
                if rule.pattern.scope == .exact || below[host] == nil { below[host] = index }
            }
        }
        self.rules = rules
        self.unlisted = unlisted
        self.exact = exact
        self.oneLabel = oneLabel
        self.anyDepth = anyDepth.merging(below) { star, _ in star }
    }

    /// Returns the rule that decides about a host, or nil if no rule covers it.
    public func rule(for host: HostName) -> PinRule? {
        if let index = exact[host.text] { return rules[index] }
        guard host.kind == .name else { return nil }
        var suffix = host.text[...]
        var dropped = 0
        while true {
            let key = String(suffix)
            if dropped == 1, let index = oneLabel[key] { return rules[index] }
            if let index = anyDepth[key],
                dropped > 0 || rules[index].pattern.scope == .anyDepth
            {
                return rules[index]
            }
            guard let parent = suffix.droppingFirstLabel else { return nil }
            suffix = parent
            dropped += 1
        }
    }

    /// Decides about a call before any connection is made.
    ///
    /// - Parameters:
    ///   - host: The host of the call.
    ///   - isSecure: Whether the call uses TLS.
    ///   - now: Unix time in seconds; nil means now.
    ///   - port: The port of the call, for the values and the text of a refusal only.
    /// - Returns: The rule, whether a pin must match, and the refusal if the call isn't allowed.
    public func decision(
        for host: HostName, isSecure: Bool, now: Int64? = nil, port: Int? = nil
    ) -> PinDecision {
        guard let rule = rule(for: host) else {
            let code: PinRefusal.Code? = unlisted == .allow ? nil : .unlistedHost
            return PinDecision(
                rule: nil, isPinned: false,
                refusal: code.map { refusal(of: $0, host: host, port: port) })
        }
        let hasExpired = rule.hasExpired(at: now ?? UnixTime.now())
        if rule.isExclusion || isSecure && hasExpired && rule.afterExpiry == .allow {
            return PinDecision(rule: rule, isPinned: false, refusal: nil)
        }
        let code: PinRefusal.Code? =
            if !isSecure {
                .cleartextToPinnedHost
            } else {
                hasExpired && rule.mode == .enforce ? .policyExpired : nil
            }
        return PinDecision(
            rule: rule, isPinned: true,
            refusal: code.map { refusal(of: $0, host: host, port: port, rule: rule) })
    }

    /// Compares a host's verified chain with the pins of its rule.
    ///
    /// SignetCurl's engine has compared them itself before it sent the request (`chain.c` of
    /// CSignetCurl); there, this describes the chain of a response.
    ///
    /// - Parameters:
    ///   - host: The host of the call.
    ///   - chain: The *verified* chain, leaf first, never the chain as the server sent it.
    ///   - now: Unix time in seconds; nil means now.
    ///   - served: The chain as the server sent it, for reports only.
    ///   - port: The port of the call, for the values and the text of a finding only.
    /// - Returns: The keys that were seen, the pins of the rule, and the finding if none matches.
    public func verdict(
        for host: HostName, chain: [SeenCertificate], now: Int64? = nil, served: [[UInt8]] = [],
        port: Int? = nil
    ) -> PinVerdict {
        let decision = decision(for: host, isSecure: true, now: now)
        let rule = decision.rule
        let expected = rule?.pins ?? []
        let isMatch = chain.contains { expected.contains($0.pin) }
        let code =
            decision.refusal?.code ?? (decision.isPinned && !isMatch ? .pinMismatch : nil)
        let finding = code.map {
            refusal(of: $0, host: host, port: port, rule: rule, chain: chain, served: served)
        }
        return PinVerdict(
            host: host, rule: rule?.pattern, mode: rule?.mode ?? .enforce, isMatch: isMatch,
            seen: chain, expected: expected, expires: rule?.expires, isPinned: decision.isPinned,
            finding: finding)
    }

    /// Creates a refusal with everything that is needed to correct the policy.
    private func refusal(
        of code: PinRefusal.Code, host: HostName, port: Int?, rule: PinRule? = nil,
        chain: [SeenCertificate] = [], served: [[UInt8]] = []
    ) -> PinRefusal {
        let name = host.uriText
        let pattern = rule.map { "(rule \($0.pattern))" } ?? ""
        let found: String
        let remedy: PinRemedy
        switch (code, rule) {
        case (_, nil):
            found = "the pin policy doesn't list \(name)"
            remedy = self.remedy(forUnlisted: host, port: port, chain: chain)
        case (.cleartextToPinnedHost, _?):
            found = "\(name) is pinned \(pattern), and a pinned host needs TLS"
            remedy = PinRemedy(kind: .cleartext, advice: "use https")
        case (.policyExpired, let rule?):
            found = "the pins of \(name) \(pattern) expired on \(rule.expires?.text ?? "-")"
            remedy = self.remedy(forExpired: rule, chain: chain)
        case (_, let rule?):
            found = "no pin matches for \(name) \(pattern)"
            remedy = self.remedy(forMismatchWith: chain, host: host, port: port, rule: rule)
        }
        return PinRefusal(
            code, found, host: host, port: port, rule: rule, seen: chain, served: served,
            remedy: remedy)
    }
}

extension Substring {
    /// A host name's parent domain, `b.c` for `a.b.c`; nil for a single label.
    package var droppingFirstLabel: Substring? {
        firstIndex(of: ".").map { self[index(after: $0)...] }
    }
}
