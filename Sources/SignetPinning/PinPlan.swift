/// What becomes of a policy's pins: which host loses which pin when, which have no key at hand, and what
/// to add before a key is changed.
public struct PinPlan: Sendable, Hashable {
    /// A certificate, a request for one, or a key, as far as pins go.
    public struct Material: Sendable, Hashable {
        /// What it is.
        public enum Kind: String, Sendable, Hashable {
            /// A certificate.
            case certificate
            /// A certificate signing request: the key is at hand, its certificate to come.
            case request
            /// A public key.
            case publicKey = "public-key"
            /// A private key, of which the public half counts.
            case privateKey = "private-key"
        }

        /// What it is.
        public let kind: Kind
        /// The pin of its key.
        public let pin: Pin
        /// The subject's distinguished name (RFC 4514); empty for a bare key.
        public let subject: String
        /// The names and addresses of its subject alternative name (RFC 5280, section 4.2.1.6).
        public let hosts: [String]
        /// The first second of its validity, in Unix seconds; nil for what is no certificate.
        public let notBefore: Int64?
        /// The last second of its validity, in Unix seconds; nil for what is no certificate.
        public let notAfter: Int64?
        /// Where it is from, for people.
        public let source: String

        /// Takes the facts.
        public init(
            kind: Kind, pin: Pin, subject: String, hosts: [String] = [], notBefore: Int64? = nil,
            notAfter: Int64? = nil, source: String
        ) {
            self.kind = kind
            self.pin = pin
            self.subject = subject
            self.hosts = hosts
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.source = source
        }

        /// A host that it is for.
        struct Name {
            let host: HostName
            /// What stands behind a wildcard's star; then `host` is some name that it is for.
            let parent: Substring?

            init?(_ text: String) {
                let isWildcard = text.hasPrefix("*.")
                guard
                    let host = try? HostName.canonical(
                        isWildcard ? "x." + text.dropFirst(2) : text)
                else { return nil }
                self.host = host
                parent = isWildcard ? host.text.dropFirst(2) : nil
            }
        }

        /// The hosts that it is for: those of its subject alternative name, which alone counts where
        /// there is one (RFC 9525, section 2), or else the subject's common name.
        var names: [Name] {
            if !hosts.isEmpty { return hosts.compactMap(Name.init) }
            for part in subject.split(separator: ",") {
                let part = part.drop { $0 == " " }
                guard part.hasPrefix("CN=") else { continue }
                return [Name(String(part.dropFirst(3)))].compactMap { $0 }
            }
            return []
        }
    }

    /// How it stands with a pin.
    public enum State: String, Sendable, Hashable {
        /// A certificate of the key is valid now.
        case inUse = "in-use"
        /// The key is at hand, and no certificate of it is valid yet.
        case reserve
        /// The certificates of the key are past, and nothing says that the key is still at hand.
        case ended
        /// Nothing at hand is of this key.
        case noKey = "no-key"
    }

    /// A pin of a rule.
    public struct PinState: Sendable, Hashable {
        /// The pin.
        public let pin: Pin
        /// How it stands with it.
        public let state: State
        /// The last second in which a certificate of the key is valid, in Unix seconds.
        public let until: Int64?
        /// What there is of the key.
        public let materials: [Material]
    }

    /// A rule with pins.
    public struct Host: Sendable, Hashable {
        /// The rule.
        public let rule: PinRule
        /// Its pins, in its order.
        public let pins: [PinState]
        /// The last second in which the host can show a wanted key with the certificates that there are,
        /// in Unix seconds; nil where it cannot now.
        public let until: Int64?
    }

    /// What a finding is about; more may be added.
    public struct Finding: Sendable, Hashable {
        /// What it is, in kebab-case: `cut-off`, `no-reserve`, `no-key`, `ended`, `ends-soon`,
        /// `not-pinned`, `rule-expired`, `rule-expires-soon`, `unused`.
        public let code: String
        /// How much it matters.
        public let severity: PinLint.Severity
        /// The rule's pattern; nil where the finding is of no rule.
        public let host: String?
        /// The pin that it is about, if it is about one.
        public let pin: Pin?
        /// The moment that it is about, in Unix seconds.
        public let at: Int64?
        /// What was found and what to do.
        public let message: String
    }

    /// The rules with pins, in the policy's order.
    public let hosts: [Host]
    /// What was found, by host in the policy's order, then of what belongs to none.
    public let findings: [Finding]

    /// Looks at a policy and at what keys there are.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - materials: Certificates, requests and keys, also those to come.
    ///   - now: Unix time in seconds.
    ///   - horizon: What ends within this many seconds ends soon; 30 days is usual.
    public init(policy: PinPolicy, materials: [Material], now: Int64, horizon: Int64 = 30 * 86_400)
    {
        let byPin = Dictionary(grouping: materials, by: \.pin)
        let exact = policy.rules.filter {
            $0.pattern.scope == .exact && $0.pattern.host.kind == .name
        }
        let byParent = Dictionary(grouping: exact) { rule -> Substring in
            let name = rule.pattern.host.text
            return name.firstIndex(of: ".").map { name[name.index(after: $0)...] } ?? ""
        }
        let owned = materials.map { material in
            (material: material, rules: Self.rules(for: material, policy, byParent))
        }
        var byRule: [PinRule.Pattern: [Material]] = [:]
        for (material, rules) in owned {
            for rule in rules { byRule[rule.pattern, default: []].append(material) }
        }
        var hosts: [Host] = []
        var findings = Findings(now: now, soon: now.addingReportingOverflow(horizon).partialValue)
        for rule in policy.rules where !rule.isExclusion {
            let pins = rule.pins.map { Self.state(of: $0, byPin[$0] ?? [], now: now) }
            let until = pins.filter { $0.state == .inUse }.compactMap(\.until).max()
            let host = Host(rule: rule, pins: pins, until: until)
            hosts.append(host)
            let strangers = (byRule[rule.pattern] ?? []).filter { !rule.pins.contains($0.pin) }
            findings.look(at: host, strangers: strangers)
        }
        let wanted = Set(policy.rules.flatMap(\.pins))
        for (material, rules) in owned where !wanted.contains(material.pin) {
            if rules.allSatisfy(\.isExclusion) { findings.addUnused(material) }
        }
        self.hosts = hosts
        self.findings = findings.all
    }

    /// The rules that decide for the hosts of a certificate or request, each once; a wildcard is also
    /// for the hosts one label below that have a rule of their own.
    private static func rules(
        for material: Material, _ policy: PinPolicy, _ byParent: [Substring: [PinRule]]
    ) -> [PinRule] {
        var seen: Set<PinRule.Pattern> = []
        return material.names.flatMap { name -> [PinRule] in
            guard let parent = name.parent else {
                return policy.rule(for: name.host).map { [$0] } ?? []
            }
            return (policy.rule(for: name.host).map { [$0] } ?? []) + byParent[parent, default: []]
        }.filter { seen.insert($0.pattern).inserted }
    }

    private static func state(of pin: Pin, _ materials: [Material], now: Int64) -> PinState {
        let until = materials.compactMap(\.notAfter).max()
        let isValid = materials.contains {
            ($0.notBefore ?? .max) <= now && now <= ($0.notAfter ?? .min)
        }
        let isAtHand = materials.contains { material in
            material.kind != .certificate || (material.notBefore ?? .min) > now
        }
        let state: State =
            isValid ? .inUse : isAtHand ? .reserve : materials.isEmpty ? .noKey : .ended
        return PinState(pin: pin, state: state, until: until, materials: materials)
    }
}
