import SignetBase

/// A forecast for a policy's pins: which host loses which pin and when, which pins have no known
/// key, and which pins to add before a key changes.
public struct PinPlan: Sendable, Hashable {
    /// A certificate, a certificate request or a key, with the values that pinning needs.
    public struct Material: Sendable, Hashable {
        /// The kind of a material.
        public enum Kind: String, Sendable, Hashable {
            /// A certificate.
            case certificate
            /// A certificate signing request. Its key exists, its certificate doesn't yet.
            case request
            /// A public key.
            case publicKey = "public-key"
            /// A private key, whose public half is pinned.
            case privateKey = "private-key"
        }

        /// The kind of the material.
        public let kind: Kind
        /// The pin of its key.
        public let pin: Pin
        /// The subject's distinguished name (RFC 4514); empty for a bare key.
        public let subject: String
        /// The names and addresses of its subject alternative name (RFC 5280, section 4.2.1.6).
        public let hosts: [String]
        /// The first second of a certificate's validity, in Unix seconds; nil for other materials.
        public let notBefore: Int64?
        /// The last second of a certificate's validity, in Unix seconds; nil for other materials.
        public let notAfter: Int64?
        /// The material's origin, for messages.
        public let source: String

        /// Creates the description of a material.
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

        /// Whether the material is a certificate that is valid at a Unix time in seconds.
        func isValid(at now: Int64) -> Bool {
            (notBefore ?? .max) <= now && now <= (notAfter ?? .min)
        }

        /// A host that the material names.
        struct Name {
            let host: HostName
            /// For a wildcard, the name below which it matches one label. `host` is then an example
            /// of a match.
            let parent: Substring?

            init?(_ text: String) {
                let isWildcard = text.startsWithBytes(of: "*.")
                guard
                    let host = try? HostName.canonical(isWildcard ? "x." + text.dropFirst(2) : text)
                else { return nil }
                self.host = host
                parent = isWildcard ? host.text.dropFirst(2) : nil
            }
        }

        /// The hosts that the material is for: those of its subject alternative name, and never a
        /// certificate's common name (RFC 9525, section 6.3). A request without alternative names
        /// is for its common name, because CAs add that to the certificate's alternative names.
        var names: [Name] {
            if !hosts.isEmpty || kind != .request { return hosts.compactMap(Name.init) }
            let parts = subject.split(separator: ",").map { $0.drop { $0 == " " } }
            guard let name = parts.first(where: { $0.startsWithBytes(of: "CN=") }) else {
                return []
            }
            return [Name(String(name.dropFirst(3)))].compactMap(\.self)
        }
    }

    /// The state of a pin.
    public enum State: String, Sendable, Hashable {
        /// A certificate of the key is valid now.
        case inUse = "in-use"
        /// The key exists, and no certificate of it is valid yet.
        case reserve
        /// The certificates of the key have expired, and no material shows that the key still
        /// exists.
        case ended
        /// No material has this key.
        case noKey = "no-key"
    }

    /// A rule's pin and its state.
    public struct PinState: Sendable, Hashable {
        /// The pin.
        public let pin: Pin
        /// The state.
        public let state: State
        /// The last second in which a certificate of the key is valid, in Unix seconds; nil without
        /// one.
        public let until: Int64?
        /// The materials with the pin's key.
        public let materials: [Material]
    }

    /// A rule with pins, and the states of its pins.
    public struct Host: Sendable, Hashable {
        /// The rule.
        public let rule: PinRule
        /// Its pins, in its order.
        public let pins: [PinState]
        /// The last second in which a known certificate with a pinned key is valid, in Unix
        /// seconds; nil if none is valid now.
        public let until: Int64?
    }

    /// A problem of a pin, a rule or a material.
    public struct Finding: Sendable, Hashable {
        /// The kind of finding, in kebab-case: `cut-off`, `no-reserve`, `no-key`, `ended`,
        /// `ends-soon`, `not-pinned`, `rule-expired`, `rule-expires-soon`, `unused`,
        /// `client-certificate-ended` or `client-certificate-ends-soon`; more may be added.
        public let code: String
        /// The severity.
        public let severity: PinLint.Severity
        /// The rule's pattern; nil if the finding isn't about a rule.
        public let host: String?
        /// The pin; nil if the finding isn't about one pin.
        public let pin: Pin?
        /// The time that the finding is about, in Unix seconds.
        public let at: Int64?
        /// The finding and how to correct it.
        public let message: String
    }

    /// The rules with pins, in the policy's order.
    public let hosts: [Host]
    /// The findings by host in the policy's order, followed by those about materials without a
    /// host.
    public let findings: [Finding]

    /// Compares a policy with the certificates and keys that exist.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - materials: Certificates, requests and keys, also those that aren't in use yet.
    ///   - clientCertificates: Those that the program shows to servers; only their ends matter.
    ///   - now: Unix time in seconds; nil means now.
    ///   - horizon: Seconds from now. Pins that end within them are reported as ending soon.
    public init(
        policy: PinPolicy, materials: [Material], clientCertificates: [Material] = [],
        now: Int64? = nil, horizon: Int64 = 30 * 86_400
    ) {
        let now = now ?? UnixTime.now()
        let byPin = Dictionary(grouping: materials, by: \.pin)
        let exact = policy.rules.filter {
            $0.pattern.scope == .exact && $0.pattern.host.kind == .name
        }
        let byParent = Dictionary(grouping: exact) {
            $0.pattern.host.text[...].droppingFirstLabel ?? ""
        }
        let owned = materials.map { material in
            (material: material, rules: Self.rules(for: material, in: policy, byParent: byParent))
        }
        var byRule: [PinRule.Pattern: [Material]] = [:]
        for (material, rules) in owned {
            for rule in rules { byRule[rule.pattern, default: []].append(material) }
        }
        var hosts: [Host] = []
        var findings = Findings(now: now, soon: now.addingReportingOverflow(horizon).partialValue)
        for rule in policy.rules where !rule.isExclusion {
            let pins = rule.pins.map { Self.state(of: $0, materials: byPin[$0] ?? [], now: now) }
            let until = pins.filter { $0.state == .inUse }.compactMap(\.until).max()
            let host = Host(rule: rule, pins: pins, until: until)
            hosts.append(host)
            let unpinned = (byRule[rule.pattern] ?? []).filter { !rule.pins.contains($0.pin) }
            findings.inspect(host, unpinned: unpinned)
        }
        let wanted = Set(policy.rules.flatMap(\.pins))
        for (material, rules) in owned where !wanted.contains(material.pin) {
            if rules.allSatisfy(\.isExclusion) { findings.addUnused(material) }
        }
        for material in clientCertificates { findings.inspectClient(material) }
        self.hosts = hosts
        self.findings = findings.all
    }

    /// Returns the rules that decide about the hosts of a material, each once. For a wildcard,
    /// those include the rules for single hosts that it matches.
    private static func rules(
        for material: Material, in policy: PinPolicy, byParent: [Substring: [PinRule]]
    ) -> [PinRule] {
        var seen: Set<PinRule.Pattern> = []
        return material.names.flatMap { name in
            [policy.rule(for: name.host)].compactMap(\.self)
                + (name.parent.flatMap { byParent[$0] } ?? [])
        }.filter { seen.insert($0.pattern).inserted }
    }

    private static func state(of pin: Pin, materials: [Material], now: Int64) -> PinState {
        let until = materials.compactMap(\.notAfter).max()
        let isValid = materials.contains { $0.isValid(at: now) }
        let exists = materials.contains { $0.kind != .certificate || ($0.notBefore ?? .min) > now }
        let state: State =
            isValid ? .inUse : exists ? .reserve : materials.isEmpty ? .noKey : .ended
        return PinState(pin: pin, state: state, until: until, materials: materials)
    }
}
