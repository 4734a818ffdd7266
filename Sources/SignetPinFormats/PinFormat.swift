internal import SignetBase
internal import SignetJSON
public import SignetPinning

/// A file format for pins, of this package or of another program.
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
    /// The dictionary of TrustKit's initialiser as JSON.
    public static let trustKitJSON = PinFormat(value: .trustKitJSON)
    /// Android's network security configuration.
    public static let android = PinFormat(value: .android)
    /// Kotlin or Java code that builds OkHttp's `CertificatePinner`.
    public static let okHTTP = PinFormat(value: .okhttp)
    /// The value of curl's `--pinnedpubkey`.
    public static let curl = PinFormat(value: .curl)
    /// The field `Public-Key-Pins` (RFC 7469).
    public static let hpkp = PinFormat(value: .hpkp)

    /// All formats, in the order of the help text.
    public static let all = Value.allCases.map { PinFormat(value: $0) }

    /// The name, as in the options of `signet pins convert`.
    public var name: String { value.rawValue }
    /// The same as `name`.
    public var description: String { name }
    /// Whether files of the format name the hosts of the pins.
    public var namesHosts: Bool { value != .curl && value != .hpkp }

    /// Returns the format with a name, or nil.
    public init?(name: String) {
        guard let format = Self.all.first(where: { sameBytes($0.name, name) }) else { return nil }
        self = format
    }

    init(value: Value) { self.value = value }
}

/// Reads and writes policies in the formats of other programs.
///
/// If a format can't express a setting, the conversion adds a note. It throws if the result would
/// pin a host less than before.
public enum PinConversion {
    /// A policy that was read, with notes about the differences.
    public struct Reading: Sendable, Hashable {
        /// The policy.
        public let policy: PinPolicy
        /// One line for each setting that only the text or only the policy has.
        public let notes: [String]
    }

    /// A text that was written, with notes about the differences.
    public struct Writing: Sendable, Hashable {
        /// The whole text.
        public let bytes: [UInt8]
        /// One line for each setting that the format can't express.
        public let notes: [String]
    }

    /// Reads a policy.
    ///
    /// - Parameters:
    ///   - bytes: The whole text.
    ///   - format: The format of the text.
    ///   - host: The host or pattern of the pins. Required if the format names no hosts, otherwise
    ///     not used.
    ///   - directory: The directory of a policy's file, from which the paths of its CA files start.
    /// - Throws: `PinError` with code `malformed-input`, `malformed-policy`, `bad-host` or
    ///   `bad-pin`.
    public static func read(
        _ bytes: [UInt8], as format: PinFormat, host: String? = nil,
        filesIn directory: String? = nil
    ) throws(PinError) -> Reading {
        // The other formats don't use the host.
        guard let host = format.namesHosts ? "" : host else {
            throw PinError(.malformedInput, "\(format) doesn't name a host: set it with --host")
        }
        var notes = ConversionNotes()
        let policy =
            switch format.value {
            case .signet: try PinPolicy(parsing: bytes, filesIn: directory)
            case .trustkit:
                try TrustKitFormat.policy(from: PropertyList.read(bytes), notes: &notes)
            case .trustKitJSON:
                try TrustKitFormat.policy(from: TrustKitFormat.json(bytes), notes: &notes)
            case .android: try AndroidFormat.read(bytes, notes: &notes)
            case .okhttp: try OkHTTPFormat.read(bytes, notes: &notes)
            case .curl: try CurlFormat.read(bytes, host: host, notes: &notes)
            case .hpkp: try HPKPFormat.read(bytes, host: host, notes: &notes)
            }
        return Reading(policy: policy, notes: notes.lines)
    }

    /// Writes a policy.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - format: The format of the result.
    ///   - host: The host or pattern whose rule is written, if the format names no hosts. Not
    ///     needed if the policy has only one rule with pins.
    ///   - binary: Whether a property list is binary instead of XML.
    /// - Throws: `PinError` with code `not-expressible` if the result would pin less than the
    ///   policy.
    public static func write(
        _ policy: PinPolicy, as format: PinFormat, host: String? = nil, binary: Bool = false
    ) throws(PinError) -> Writing {
        var notes = ConversionNotes()
        if policy.unlisted == .refuse, format != .signet, format.namesHosts {
            notes.add("\(format) allows hosts that aren't listed; the policy refuses them")
        }
        for rule in policy.rules where format != .signet {
            guard let authorities = rule.authorities else { continue }
            notes.add(
                "\(rule.pattern): the CA file \(printable(authorities.file)) is left out: set the"
                    + " trusted CAs in \(format)'s program")
        }
        let bytes: [UInt8]
        switch format.value {
        case .signet: bytes = policy.serialized()
        case .trustkit:
            let list: JSONValue = [
                "TSKConfiguration": try TrustKitFormat.configuration(of: policy, notes: &notes)
            ]
            bytes = binary ? BinaryPropertyList.write(list) : XMLPropertyList.write(list)
        case .trustKitJSON:
            let configuration = try TrustKitFormat.configuration(of: policy, notes: &notes)
            bytes = configuration.serialized(.pretty) + [UInt8(ascii: "\n")]
        case .android: bytes = try AndroidFormat.write(policy, notes: &notes)
        case .okhttp: bytes = try OkHTTPFormat.write(policy, notes: &notes)
        case .curl:
            bytes = try CurlFormat.write(rule(of: policy, for: host, as: format), notes: &notes)
        case .hpkp:
            bytes = try HPKPFormat.write(rule(of: policy, for: host, as: format), notes: &notes)
        }
        return Writing(bytes: bytes, notes: notes.lines)
    }

    private static func rule(of policy: PinPolicy, for host: String?, as format: PinFormat)
        throws(PinError) -> PinRule
    {
        let pinned = policy.rules.filter { !$0.isExclusion }
        let rule: PinRule?
        if let host {
            let pattern = try PinRule.Pattern(parsing: host)
            rule =
                pinned.first { $0.pattern == pattern }
                ?? (pattern.scope == .exact ? policy.rule(for: pattern.host) : nil)
        } else if pinned.count > 1 {
            throw notExpressible(
                "\(format) has the pins of one host, and the policy has \(pinned.count) rules with"
                    + " pins: choose one with --host")
        } else {
            rule = pinned.first
        }
        guard let rule, !rule.isExclusion else {
            throw notExpressible("the policy has no pins for \(host ?? "any host")")
        }
        return rule
    }

    static func notExpressible(_ message: String) -> PinError {
        PinError(.notExpressible, message)
    }
}

/// The notes of a conversion, without duplicates.
struct ConversionNotes {
    private(set) var lines: [String] = []
    private var known: Set<String> = []

    mutating func add(_ text: String) {
        let line = printable(text)
        if known.insert(line).inserted { lines.append(line) }
    }

    /// Adds a note about a date that a format can't enforce.
    mutating func addExpiry(of rule: PinRule, in format: String) {
        guard let date = rule.expires else { return }
        add(
            "\(rule.pattern): the date \(date.text) is left out: "
                + (rule.afterExpiry == .refuse
                    ? "\(format) can't refuse a host after a date" : "\(format) has no dates")
                + "; the pins apply until they are changed")
    }

    /// Adds a note about a date that a format counts otherwise.
    mutating func addDay(_ day: String, of host: String, in format: String) {
        add("\(host): \(format)'s pins expire at the start of \(day), the policy's at its end")
    }

    mutating func addUnlisted(in format: String) {
        add(
            "\(format) allows hosts that aren't listed; this policy refuses them, unless you set"
                + " \"unlisted\":\"allow\"")
    }
}

extension [Pin] {
    /// The pins in the same order, each once.
    var withoutDuplicates: [Pin] {
        var known: Set<Pin> = []
        return filter { known.insert($0).inserted }
    }
}

extension PinRule {
    /// Whether the rule covers all names below its host, for a format that knows only this and the
    /// host alone.
    ///
    /// - Throws: `PinError` with code `not-expressible` for a `*.` pattern.
    func includesBelow(in format: String) throws(PinError) -> Bool {
        switch pattern.scope {
        case .exact: return includesSubdomains
        case .anyDepth: return true
        case .oneLabel:
            throw PinConversion.notExpressible(
                "\(format) can't express \(pattern) (one label): list the hosts, or use **.")
        }
    }
}

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
        (covering(rule) + [apex(rule)].compactMap(\.self)).sorted().map { rules[$0] }
    }

    /// Returns the other rules with pins that cover every host that `rule` decides about.
    func rules(coveringAllOf rule: PinRule) -> [PinRule] {
        let apex = rule.pattern.scope == .exact ? apex(rule) : nil
        return (covering(rule) + [apex].compactMap(\.self)).sorted().map { rules[$0] }
    }

    /// Returns the `*.` rule with pins that covers the name of a `**.` rule itself, if that name
    /// has no rule of its own.
    func rule(coveringTopOf rule: PinRule) -> PinRule? {
        rule.pattern.scope == .anyDepth ? apex(rule).map { rules[$0] } : nil
    }

    /// Returns the rules that cover all names at and below the rule's host.
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
    private func apex(_ rule: PinRule) -> Int? {
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
