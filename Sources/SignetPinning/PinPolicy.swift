/// Which keys the hosts of a program must show.
///
/// An immutable value: a call that holds one is judged by it to its end. The most specific rule alone
/// decides: the host itself, then the longer suffix, then `*.`, then `**.` and subdomains.
public struct PinPolicy: Sendable, Hashable {
    /// What holds for a host that no rule is for.
    public enum Unlisted: String, Sendable, Hashable {
        /// It is never connected to.
        case refuse
        /// CA and host name alone decide.
        case allow
    }

    /// The rules, in the order given.
    public let rules: [PinRule]
    /// What holds for a host that no rule is for.
    public let unlisted: Unlisted

    private let exact: [String: Int]
    private let oneLabel: [String: Int]
    private let anyDepth: [String: Int]

    /// Makes a policy of rules.
    ///
    /// - Throws: `PinError` with code `malformed-policy` where two rules are for one host or pattern.
    public init(rules: [PinRule], unlisted: Unlisted = .refuse) throws(PinError) {
        var exact: [String: Int] = [:]
        var oneLabel: [String: Int] = [:]
        var anyDepth: [String: Int] = [:]
        var below: [String: Int] = [:]
        for (index, rule) in rules.enumerated() {
            let host = rule.pattern.host.text
            let twin =
                switch rule.pattern.scope {
                case .exact: exact.updateValue(index, forKey: host)
                case .oneLabel: oneLabel.updateValue(index, forKey: host)
                case .anyDepth: anyDepth.updateValue(index, forKey: host)
                }
            guard twin == nil else {
                throw PinError(
                    code: .malformedPolicy,
                    message: "\(rule.pattern) stands twice (perhaps in two spellings)")
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

    /// The one rule that decides for a host, if there is any.
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
            guard let dot = suffix.firstIndex(of: ".") else { return nil }
            suffix = suffix[suffix.index(after: dot)...]
            dropped += 1
        }
    }

    /// What holds for a call before any connection is made.
    ///
    /// - Parameters:
    ///   - host: The host that is asked for.
    ///   - isSecure: Whether the call uses TLS.
    ///   - now: Unix time in seconds.
    ///   - port: The port that is asked for, for a refusal's words alone.
    /// - Returns: The rule, whether a pin must match, and why the call is refused, if it is.
    public func decision(
        for host: HostName, isSecure: Bool, now: Int64, port: Int? = nil
    ) -> PinDecision {
        guard let rule = rule(for: host) else {
            if unlisted == .allow { return PinDecision(rule: nil, isPinned: false, refusal: nil) }
            return PinDecision(
                rule: nil, isPinned: false,
                refusal: refusal(.unlistedHost, host, port, nil, []))
        }
        if rule.isExclusion { return PinDecision(rule: rule, isPinned: false, refusal: nil) }
        guard isSecure else {
            return PinDecision(
                rule: rule, isPinned: true,
                refusal: refusal(.cleartextToPinnedHost, host, port, rule, []))
        }
        if rule.hasExpired(at: now) {
            if rule.afterExpiry == .allow {
                return PinDecision(rule: rule, isPinned: false, refusal: nil)
            }
            if rule.mode == .enforce {
                return PinDecision(
                    rule: rule, isPinned: true,
                    refusal: refusal(.policyExpired, host, port, rule, []))
            }
        }
        return PinDecision(rule: rule, isPinned: true, refusal: nil)
    }

    /// Judges the verified chain that a host showed.
    ///
    /// - Parameters:
    ///   - host: The host that was asked for.
    ///   - chain: The *verified* chain, leaf first: never the chain as sent.
    ///   - now: Unix time in seconds.
    ///   - served: The chain as sent, for reports alone.
    ///   - port: The port that was asked for, for reports and words alone.
    /// - Returns: What was seen, what was wanted, and what is wrong, if anything is.
    public func verdict(
        for host: HostName, chain: [SeenCertificate], now: Int64, served: [[UInt8]] = [],
        port: Int? = nil
    ) -> PinVerdict {
        let decision = decision(for: host, isSecure: true, now: now)
        let rule = decision.rule
        let wanted = rule?.pins ?? []
        let isMatch = chain.contains { wanted.contains($0.pin) }
        var finding = decision.refusal
        if let known = finding {
            finding = refusal(known.code, host, port, rule, chain)
        } else if let rule, decision.isPinned, !isMatch {
            finding = refusal(.pinMismatch, host, port, rule, chain)
        }
        if var refusal = finding?.refusal, let known = finding {
            refusal.served = served
            refusal.port = port
            finding = PinError(code: known.code, message: known.message, refusal: refusal)
        }
        return PinVerdict(
            host: host, rule: rule?.pattern, mode: rule?.mode ?? .enforce, isMatch: isMatch,
            seen: chain, wanted: wanted, expires: rule?.expires, isPinned: decision.isPinned,
            finding: finding)
    }

    /// One message with all that a log line needs to repair a policy, and the same as values.
    private func refusal(
        _ code: PinError.Code, _ host: HostName, _ port: Int?, _ rule: PinRule?,
        _ chain: [SeenCertificate]
    ) -> PinError {
        let name = host.uriText
        let found: String
        let remedy: PinRemedy
        if let rule {
            let pattern = "(rule \(rule.pattern))"
            switch code {
            case .cleartextToPinnedHost:
                found = "\(name) is pinned \(pattern) and never spoken to without TLS"
                remedy = PinRemedy(kind: .cleartext, advice: "use https")
            case .policyExpired:
                found = "the pins of \(name) \(pattern) expired on \(rule.expires?.text ?? "-")"
                remedy = self.remedy(ofExpired: rule, chain: chain)
            default:
                found = "no pin matches for \(name) \(pattern)"
                remedy = self.remedy(ofMismatchWith: chain, host: host, port: port, rule: rule)
            }
        } else {
            found = "the pin policy does not list \(name)"
            remedy = self.remedy(ofUnlisted: host, port: port, chain: chain)
        }
        let seen =
            chain.isEmpty && code != .pinMismatch ? "" : "; verified chain: \(Self.list(chain))"
        let wanted = rule.map { Self.list($0.pins) } ?? "none"
        return PinError(
            code: code, message: "\(found)\(seen); wanted: \(wanted); remedy: \(remedy.text)",
            refusal: PinRefusal(host: host, rule: rule, seen: chain, remedy: remedy))
    }

    static func list(_ pins: [Pin]) -> String { pins.map(\.text).joined(separator: ", ") }

    static func list(_ chain: [SeenCertificate]) -> String {
        chain.isEmpty
            ? "none" : chain.map { "\($0.pin.text) (\($0.subject))" }.joined(separator: ", ")
    }
}
