internal import SignetCrypto

/// A way of writing pins: this package's, or another program's.
public struct PinFormat: Sendable, Hashable, CustomStringConvertible {
    enum Value: String, CaseIterable {
        case signet, trustkit
        case trustKitJSON = "trustkit-json"
        case android, okhttp, curl, hpkp
    }
    let value: Value

    /// This package's policy document.
    public static let signet = PinFormat(value: .signet)
    /// TrustKit's `TSKConfiguration` in a property list, XML or binary.
    public static let trustKit = PinFormat(value: .trustkit)
    /// The same dictionary as JSON, as programs hand it to TrustKit's initialiser.
    public static let trustKitJSON = PinFormat(value: .trustKitJSON)
    /// Android's network security configuration.
    public static let android = PinFormat(value: .android)
    /// Code that builds OkHttp's `CertificatePinner`, Kotlin or Java.
    public static let okHTTP = PinFormat(value: .okhttp)
    /// The value of curl's `--pinnedpubkey`.
    public static let curl = PinFormat(value: .curl)
    /// The field `Public-Key-Pins` (RFC 7469).
    public static let hpkp = PinFormat(value: .hpkp)

    /// All of them, in the order in which help names them.
    public static let all = Value.allCases.map { PinFormat(value: $0) }

    /// The name, as `signet pins convert` takes it.
    public var name: String { value.rawValue }
    /// The same as `name`.
    public var description: String { name }
    /// Whether a text of the format says which host its pins are for.
    public var namesHosts: Bool { value != .curl && value != .hpkp }

    /// The format of a name, or nil.
    public init?(name: String) {
        guard let value = Value.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) })
        else { return nil }
        self.value = value
    }

    init(value: Value) { self.value = value }
}

/// Reads and writes policies in other programs' formats.
///
/// What a format cannot say is told in notes where the result is no weaker for it, and refused where
/// hosts would be pinned less than they were.
public enum PinConversion {
    /// A policy that was read, and what got lost on the way.
    public struct Reading: Sendable, Hashable {
        /// The policy.
        public let policy: PinPolicy
        /// One line each: what the text says and a policy does not, or the other way round.
        public let notes: [String]
    }

    /// A text that was written, and what got lost on the way.
    public struct Writing: Sendable, Hashable {
        /// The whole text.
        public let bytes: [UInt8]
        /// One line each: what the policy says and the format cannot.
        public let notes: [String]
    }

    /// Reads a policy.
    ///
    /// - Parameters:
    ///   - bytes: The whole text.
    ///   - format: What it is.
    ///   - host: A host or pattern; wanted where the format names none, and refused where it does.
    ///   - directory: The folder of a policy's file, from which its CA files count.
    /// - Throws: `PinError`: `malformed-input`, `malformed-policy`, `bad-host`, `bad-pin`.
    public static func read(
        _ bytes: [UInt8], as format: PinFormat, host: String? = nil,
        filesIn directory: String? = nil
    ) throws(PinError) -> Reading {
        var notes = ConversionNotes()
        let policy: PinPolicy
        switch format.value {
        case .signet: policy = try PinPolicy(parsing: bytes, filesIn: directory)
        case .trustkit:
            policy = try TrustKitFormat.policy(PropertyList.read(bytes), &notes)
        case .trustKitJSON:
            policy = try TrustKitFormat.policy(TrustKitFormat.json(bytes), &notes)
        case .android: policy = try AndroidFormat.read(bytes, &notes)
        case .okhttp: policy = try OkHTTPFormat.read(bytes, &notes)
        case .curl, .hpkp:
            guard let host else {
                throw PinError(
                    code: .malformedInput,
                    message: "\(format) names no host: say which with --host")
            }
            policy =
                try format.value == .curl
                ? CurlFormat.read(bytes, host, &notes) : HPKPFormat.read(bytes, host, &notes)
        }
        return Reading(policy: policy, notes: notes.lines)
    }

    /// Writes a policy.
    ///
    /// - Parameters:
    ///   - policy: What to write.
    ///   - format: How.
    ///   - host: For a format that names no host: whose rule; needless where there is one rule.
    ///   - binary: Whether a property list is binary instead of XML.
    /// - Throws: `PinError` with `not-expressible` where the format would pin less.
    public static func write(
        _ policy: PinPolicy, as format: PinFormat, host: String? = nil, binary: Bool = false
    ) throws(PinError) -> Writing {
        var notes = ConversionNotes()
        if policy.unlisted == .refuse, format != .signet, format.namesHosts {
            notes.add("\(format) leaves hosts that are not listed open; the policy refuses them")
        }
        for rule in policy.rules where format != .signet {
            guard let authorities = rule.authorities else { continue }
            notes.add(
                "\(rule.pattern): the CA file \(printable(authorities.file)) is left out: tell"
                    + " \(format)'s program in its own way whom to trust")
        }
        let bytes: [UInt8]
        switch format.value {
        case .signet: bytes = policy.serialized()
        case .trustkit:
            let list = try TrustKitFormat.propertyList(policy, &notes)
            bytes = binary ? BinaryPropertyList.write(list) : XMLPropertyList.write(list)
        case .trustKitJSON: bytes = try TrustKitFormat.jsonText(policy, &notes)
        case .android: bytes = try AndroidFormat.write(policy, &notes)
        case .okhttp: bytes = try OkHTTPFormat.write(policy, &notes)
        case .curl: bytes = try CurlFormat.write(rule(of: policy, for: host, format), &notes)
        case .hpkp: bytes = try HPKPFormat.write(rule(of: policy, for: host, format), &notes)
        }
        return Writing(bytes: bytes, notes: notes.lines)
    }

    private static func rule(of policy: PinPolicy, for host: String?, _ format: PinFormat)
        throws(PinError) -> PinRule
    {
        let pinned = policy.rules.filter { !$0.isExclusion }
        let rule: PinRule?
        if let host {
            let pattern = try PinRule.Pattern(parsing: host)
            rule =
                pinned.first { $0.pattern == pattern }
                ?? (pattern.scope == .exact ? policy.rule(for: pattern.host) : nil)
        } else {
            guard pinned.count <= 1 else {
                throw notExpressible(
                    "\(format) is of one host and the policy has \(pinned.count):"
                        + " say which with --host")
            }
            rule = pinned.first
        }
        guard let rule, !rule.isExclusion else {
            throw notExpressible("the policy has no pins for \(host ?? "any host")")
        }
        return rule
    }

    static func notExpressible(_ message: String) -> PinError {
        PinError(code: .notExpressible, message: message)
    }
}

/// What gets lost on the way, each said once.
struct ConversionNotes {
    private(set) var lines: [String] = []
    private var known: Set<String> = []

    mutating func add(_ text: String) {
        let line = printable(text)
        if known.insert(line).inserted { lines.append(line) }
    }

    /// What every format without a refusing expiry loses.
    mutating func addExpiry(of rule: PinRule, _ format: String) {
        guard let date = rule.expires else { return }
        add(
            "\(rule.pattern): the date \(date.text) is left out: "
                + (rule.afterExpiry == .refuse
                    ? "\(format) cannot refuse a host from a date on" : "\(format) has no dates")
                + "; the pins hold until somebody changes them")
    }

    mutating func addUnlisted(_ format: String) {
        add(
            "\(format) leaves hosts that are not listed open; this policy refuses them, unless you"
                + " say \"unlisted\":\"allow\"")
    }
}

extension PinRule {
    /// Which names the rule reaches, where a host and all below it, or a host alone, can be said.
    ///
    /// - Throws: `not-expressible` for one label.
    func reachesBelow(_ format: String) throws(PinError) -> Bool {
        switch pattern.scope {
        case .exact: return includesSubdomains
        case .anyDepth: return true
        case .oneLabel:
            throw PinConversion.notExpressible(
                "\(format) cannot say \(pattern) (one label): name the hosts, or use **.")
        }
    }
}

/// Which rules of a policy reach the hosts of another: found by suffix, so that a policy of many rules
/// is not gone through once for each of them.
struct RuleScopeIndex {
    private let rules: [PinRule]
    private let byHost: [String: [Int]]

    init(_ policy: PinPolicy) {
        rules = policy.rules
        byHost = Dictionary(grouping: rules.indices) { policy.rules[$0].pattern.host.text }
    }

    /// The rules with pins, of others than `rule`, that reach a host for which that rule decides, in
    /// the policy's order.
    func pinnedRules(around rule: PinRule) -> [PinRule] {
        var found = below(rule)
        if let apex = apex(rule) { found.append(apex) }
        return found.sorted().map { rules[$0] }
    }

    /// The rules with pins, of others than `rule`, that reach every host for which that rule decides.
    func rules(reachingAllOf rule: PinRule) -> [PinRule] {
        var found = below(rule)
        if rule.pattern.scope == .exact, let apex = apex(rule) { found.append(apex) }
        return found.sorted().map { rules[$0] }
    }

    /// The `*.` rule with pins that reaches of the hosts of a `**.` rule the name itself alone, for
    /// which no rule of its own decides.
    func rule(reachingTopOf rule: PinRule) -> PinRule? {
        rule.pattern.scope == .anyDepth ? apex(rule).map { rules[$0] } : nil
    }

    /// What reaches all names at and below the rule's.
    private func below(_ rule: PinRule) -> [Int] {
        var found = byHost[rule.pattern.host.text, default: []].filter { index in
            let other = rules[index]
            return !other.isExclusion && other.pattern != rule.pattern && Self.reachesBelow(other)
        }
        guard rule.pattern.host.kind == .name else { return found }
        var suffix = rule.pattern.host.text[...]
        while let dot = suffix.firstIndex(of: ".") {
            suffix = suffix[suffix.index(after: dot)...]
            found += byHost[String(suffix), default: []].filter {
                !rules[$0].isExclusion && Self.reachesBelow(rules[$0])
            }
        }
        return found
    }

    /// The `*.` rule of the name above, where `rule` decides for its own name.
    private func apex(_ rule: PinRule) -> Int? {
        let name = rule.pattern.host.text
        guard rule.pattern.host.kind == .name, rule.pattern.scope != .oneLabel,
            let dot = name.firstIndex(of: ".")
        else { return nil }
        if rule.pattern.scope == .anyDepth,
            byHost[name, default: []].contains(where: { rules[$0].pattern.scope == .exact })
        {
            return nil
        }
        return byHost[String(name[name.index(after: dot)...]), default: []].first {
            let other = rules[$0]
            return other.pattern.scope == .oneLabel && !other.isExclusion
                && !Self.reachesBelow(other)
        }
    }

    private static func reachesBelow(_ rule: PinRule) -> Bool {
        rule.includesSubdomains || rule.pattern.scope == .anyDepth
    }
}
