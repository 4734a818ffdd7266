import SignetBase
import SignetJSON

/// Finds all errors and weaknesses of a pin policy at once.
///
/// Run it before a policy is deployed, as `signet pins lint policy.json` does. It also reads
/// policies that ``PinPolicy/init(parsing:filesIn:)`` refuses, and reports every reason.
///
/// ```swift
/// let document = """
///     {"hosts": {"*.github.io": {
///       "pins": ["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="], "expires": "2027-06-30"
///     }}}
///     """
/// let findings = try PinLint.findings(of: Array(document.utf8), now: 1_795_228_551)
/// for finding in findings {  // public-suffix and no-backup
///     print("\(finding.severity) \(finding.code) \(finding.host ?? ""): \(finding.message)")
/// }
/// ```
public enum PinLint {
    /// The severity of a finding.
    public enum Severity: String, Sendable, Hashable {
        /// The policy can't be read, refuses calls to a host, or covers hosts of other owners.
        case error
        /// The policy works today but is likely to cause an outage.
        case warning
    }

    /// An error or a weakness of a policy.
    public struct Finding: Sendable, Hashable {
        /// The kind of finding, in kebab-case: `unknown-member`, `bad-value`, `bad-host`,
        /// `duplicate-host`, `public-suffix`, `contradicting-rules`, `bad-ca-file`, `expired`,
        /// `expires-soon`, `no-pins`, `bad-pin`, `bad-base64`, `wrong-length`, `empty-input-hash`,
        /// `placeholder-pin`, `duplicate-pin` or `no-backup`; more may be added.
        public let code: String
        /// The severity.
        public let severity: Severity
        /// The policy's key for the host; nil if the finding is about the whole policy, or if the
        /// key may contain user info.
        public let host: String?
        /// The finding and how to correct it.
        public let message: String
    }

    private static let month: Int64 = 30 * 86_400

    /// Inspects a policy document.
    ///
    /// - Parameters:
    ///   - bytes: The whole JSON text.
    ///   - now: Unix time in seconds.
    ///   - suffixes: The suffixes below which hosts have different owners.
    ///     `PublicSuffixes.system()` reads a longer list from a file.
    ///   - directory: The directory of the policy's file; nil doesn't read CA files.
    /// - Returns: The findings in the document's order.
    /// - Throws: `PinError` with code `malformed-policy` if the text isn't a JSON object with an
    ///   object `hosts`.
    public static func findings(
        of bytes: [UInt8], now: Int64? = nil, suffixes: PublicSuffixes = .builtIn,
        filesIn directory: String? = nil
    ) throws(PinError) -> [Finding] {
        let document = try PinPolicy.document(parsing: bytes)
        guard let top = document.object, let hosts = top["hosts"]?.object else {
            throw PinPolicy.malformed(
                "the pin policy: expected an object whose member \"hosts\" is an object")
        }
        var collector = Collector(
            now: now ?? UnixTime.now(), suffixes: suffixes, directory: directory)
        collector.lintNames(of: top, known: PinPolicy.policyMembers)
        collector.check(
            try PinPolicy.choice("unlisted", of: top, default: PinPolicy.Unlisted.refuse))
        for (name, value) in hosts { collector.lint(name, entry: value) }
        return collector.findings
    }

    private struct Collector {
        let now: Int64
        let suffixes: PublicSuffixes
        let directory: String?
        var findings: [Finding] = []
        var host: String?
        var seen: [String: String] = [:]
        var claims: [String: Claim] = [:]

        /// A rule that covers every name below a host.
        struct Claim {
            let key: String
            let scope: PinRule.Pattern.Scope
            let pins: Set<JSONValue>
            var settings: JSONObject

            init(key: String, scope: PinRule.Pattern.Scope, members: JSONObject) {
                self.key = key
                self.scope = scope
                pins = Set(members["pins"]?.array ?? [])
                settings = members
                settings["includeSubdomains"] = nil
                settings["pins"] = nil
            }

            /// Whether the other rule decides: `**.` precedes the host itself, which precedes `*.`.
            func yields(to other: Claim) -> Bool {
                switch (scope, other.scope) {
                case (_, .anyDepth), (.oneLabel, .exact): true
                default: false
                }
            }
        }

        private mutating func add(_ code: String, severity: Severity = .error, message: String) {
            findings.append(
                Finding(code: code, severity: severity, host: host, message: printable(message)))
        }

        mutating func lintNames(of members: JSONObject, known: [String]) {
            for name in members.memberNames where !known.contains(name) {
                add(
                    "unknown-member",
                    message: "unknown member \"\(name)\"; the known ones are"
                        + " \(known.joined(separator: ", "))")
            }
        }

        /// Returns a value, or adds a finding with the error of reading it.
        @discardableResult mutating func check<Value>(
            _ value: @autoclosure () throws(PinError) -> Value, code: String = "bad-value"
        ) -> Value? {
            do {
                return try value()
            } catch {
                add(code, message: error.message)
                return nil
            }
        }

        mutating func lint(_ name: String, entry: JSONValue) {
            // The key may contain user info, which findings never repeat.
            host = name.utf8.contains(UInt8(ascii: "@")) ? nil : name
            defer { host = nil }
            lintPattern(name, entry: entry)
            guard let members = entry.object else {
                add("bad-value", message: "the entry: found \(entry.shown), expected an object")
                return
            }
            check(
                try PinPolicy.choice(
                    "afterExpiry", of: members, default: PinRule.AfterExpiry.refuse))
            check(try PinPolicy.choice("mode", of: members, default: PinRule.Mode.enforce))
            check(try PinPolicy.choice("caMode", of: members, default: PinAuthorities.Mode.replace))
            check(try PinPolicy.flag("includeSubdomains", of: members))
            let isExclusion = check(try PinPolicy.flag("exclude", of: members))
            if let file = check(try PinPolicy.authorityFile(of: members)) ?? nil, let directory {
                check(
                    try PinAuthorities(file: file, mode: .add, in: directory), code: "bad-ca-file")
            }
            lintNames(of: members, known: PinPolicy.ruleMembers)
            if isExclusion == true {
                for name in PinPolicy.pinMembers where members[name] != nil {
                    add(
                        "bad-value",
                        message: "\"\(name)\" isn't allowed together with \"exclude\":true")
                }
                return
            }
            lintExpiry(members["expires"])
            lintPins(members["pins"])
        }

        private mutating func lintPattern(_ name: String, entry: JSONValue) {
            guard let pattern = check(try PinRule.Pattern(parsing: name), code: "bad-host") else {
                return
            }
            if let other = seen.updateValue(name, forKey: pattern.description) {
                add("duplicate-host", message: "the same host as \"\(other)\" in another spelling")
            }
            let includesSubdomains = entry["includeSubdomains"]?.bool == true
            if pattern.host.kind == .name, let members = entry.object,
                pattern.scope == .anyDepth || includesSubdomains
            {
                lintScope(
                    of: Claim(key: name, scope: pattern.scope, members: members),
                    below: pattern.host)
            }
            if pattern.scope != .exact || includesSubdomains, suffixes.contains(pattern.host) {
                add(
                    "public-suffix",
                    message: "\(pattern.host.text) is a public suffix (according to"
                        + " \(suffixes.source)), below which anyone can register a name: list"
                        + " the hosts themselves")
            }
        }

        private mutating func lintScope(of claim: Claim, below host: HostName) {
            guard let other = claims[host.text] else {
                claims[host.text] = claim
                return
            }
            let (lost, decides) = claim.yields(to: other) ? (claim, other) : (other, claim)
            claims[host.text] = decides
            let isSame = lost.pins == decides.pins && lost.settings == decides.settings
            guard lost.scope != decides.scope, !isSame else { return }
            let current = self.host
            defer { self.host = current }
            self.host = lost.key
            add(
                "contradicting-rules", severity: .warning,
                message: "\"includeSubdomains\" has no effect: the rule \"\(decides.key)\" decides"
                    + " about the names below \(host.text), and it differs")
        }

        private mutating func lintExpiry(_ value: JSONValue?) {
            guard let value else { return }
            guard let text = value.string, let date = try? ExpiryDate(parsing: text) else {
                add(
                    "bad-value",
                    message: "\"expires\": found \(value.shown), expected an existing date as"
                        + " YYYY-MM-DD")
                return
            }
            if date.isOver(at: now) {
                add("expired", message: "the pins expired on \(date.text): renew them")
            } else if date.end - now <= month {
                add(
                    "expires-soon", severity: .warning,
                    message: "the pins expire on \(date.text): renew them")
            }
        }

        private mutating func lintPins(_ value: JSONValue?) {
            guard let items = value?.array, !items.isEmpty else {
                add("no-pins", message: "\"pins\": expected an array of at least one pin")
                return
            }
            var pins: Set<Pin> = []
            for (index, item) in items.enumerated() {
                let place = "pin \(index + 1)"
                guard let text = item.string else {
                    add("bad-pin", message: "\(place): found \(item.shown), expected a string")
                    continue
                }
                guard let pin = try? Pin(parsing: text) else {
                    let (code, message) = PinLint.problem(ofPin: text)
                    add(code, message: "\(place) \(message)")
                    continue
                }
                if pin.isHashOfEmptyInput {
                    add(
                        "empty-input-hash",
                        message: "\(place) is the hash of empty input: the command that made it"
                            + " read no key")
                } else if pin.isPlaceholder {
                    add(
                        "placeholder-pin",
                        message: "\(place) is a placeholder, not the hash of a key")
                }
                if !pins.insert(pin).inserted {
                    add("duplicate-pin", severity: .warning, message: "\(place) is a duplicate")
                }
            }
            if pins.count == 1 {
                add(
                    "no-backup", severity: .warning,
                    message:
                        "the only pin: add the pin of a backup key, or the loss of the key cuts"
                        + " the host off")
            }
        }
    }

    /// Returns the code and the message for a text that `Pin` refuses.
    private static func problem(ofPin text: String) -> (code: String, message: String) {
        let characters = Array(text.utf8)
        guard characters.starts(with: Pin.prefix.utf8) else {
            return ("bad-pin", "doesn't start with \"sha256/\"")
        }
        let encoded = characters[Pin.prefix.utf8.count...]
        let padding = encoded.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let digits = encoded.dropLast(padding)
        guard digits.allSatisfy(Pin.base64Alphabet.contains), padding <= 2, encoded.count % 4 == 0
        else {
            return ("bad-base64", "isn't base64 (RFC 4648, section 4)")
        }
        let count = digits.count * 3 / 4
        return count == 32
            ? ("bad-base64", "isn't canonical base64: its last character sets unused bits")
            : ("wrong-length", "has \(count) bytes; SHA-256 has 32")
    }
}
