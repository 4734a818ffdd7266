import SignetBase
import SignetJSON
public import SignetPinning

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
            case .okhttp: try OkHttpFormat.read(bytes, notes: &notes)
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
        case .okhttp: bytes = try OkHttpFormat.write(policy, notes: &notes)
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
            throw PinError(
                .notExpressible,
                "\(format) has the pins of one host, and the policy has \(pinned.count) rules with"
                    + " pins: choose one with --host")
        } else {
            rule = pinned.first
        }
        guard let rule, !rule.isExclusion else {
            throw PinError(
                .notExpressible, "the policy has no pins for \(host ?? "any host")")
        }
        return rule
    }
}
