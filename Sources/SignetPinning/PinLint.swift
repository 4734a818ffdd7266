internal import SignetCrypto
internal import SignetJSON

/// What is wrong or unwise in a pin policy, all of it at once.
public enum PinLint {
    /// How much a finding matters.
    public enum Severity: String, Sendable, Hashable {
        /// The policy is refused, cuts its hosts off, or speaks for strangers' hosts.
        case error
        /// The policy works, and will hurt some day.
        case warning
    }

    /// One thing that was found.
    public struct Finding: Sendable, Hashable {
        /// What it is, in kebab-case (CONTRACT, section 6).
        public let code: String
        /// How much it matters.
        public let severity: Severity
        /// The policy's key for the host; nil where the finding is of the whole.
        public let host: String?
        /// What was found and what to do.
        public let message: String
    }

    private static let month: Int64 = 30 * 86_400

    /// Looks at a policy document.
    ///
    /// - Parameters:
    ///   - bytes: The whole JSON text.
    ///   - now: Unix time in seconds.
    ///   - suffixes: Under which names strangers are neighbours; `system()` knows more of them, and
    ///     reads a file.
    ///   - directory: The folder of the policy's file; nil looks into no CA file.
    /// - Returns: What was found, in the document's order.
    /// - Throws: `PinError` with code `malformed-policy` where it is no JSON object with `hosts`.
    public static func findings(
        of bytes: [UInt8], now: Int64, suffixes: PublicSuffixes = .builtIn,
        filesIn directory: String? = nil
    ) throws(PinError) -> [Finding] {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, maximumDepth: 16)
        } catch {
            throw PinError(
                code: .malformedPolicy,
                message: "the pin policy is no strict JSON: \(error.message)")
        }
        guard let top = document.object, let hosts = top["hosts"]?.object else {
            throw PinError(
                code: .malformedPolicy,
                message: "a pin policy is a JSON object whose member \"hosts\" is an object")
        }
        var collector = Collector(now: now, suffixes: suffixes, directory: directory)
        for name in top.memberNames where name != "hosts" && name != "unlisted" {
            collector.add(
                "unknown-member", .error,
                "the member \"\(name)\" is not known; known are hosts, unlisted")
        }
        if let unlisted = top["unlisted"], !["refuse", "allow"].contains(unlisted.string ?? "") {
            collector.add(
                "bad-value", .error,
                "\"unlisted\" is refuse or allow, not \(Collector.shown(unlisted))")
        }
        for (name, value) in hosts { collector.lint(name, value) }
        return collector.findings
    }

    private struct Collector {
        let now: Int64
        let suffixes: PublicSuffixes
        let directory: String?
        var findings: [Finding] = []
        private var host: String?
        private var seen: [String: String] = [:]
        private var reaching: [String: Claim] = [:]

        /// A rule that reaches every name below a host.
        private struct Claim {
            let key: String
            let scope: PinRule.Pattern.Scope
            let pins: Set<JSONValue>
            let says: [String: JSONValue]

            init(_ key: String, _ scope: PinRule.Pattern.Scope, _ members: JSONObject) {
                self.key = key
                self.scope = scope
                var says: [String: JSONValue] = [:]
                for (name, value) in members where name != "includeSubdomains" && name != "pins" {
                    says[name] = value
                }
                self.says = says
                pins = Set(members["pins"]?.array ?? [])
            }

            /// `**.` decides before the host itself, and that before `*.`.
            func yields(to other: Claim) -> Bool {
                switch (scope, other.scope) {
                case (_, .anyDepth), (.oneLabel, .exact): true
                default: false
                }
            }
        }

        init(now: Int64, suffixes: PublicSuffixes, directory: String?) {
            self.now = now
            self.suffixes = suffixes
            self.directory = directory
        }

        mutating func add(_ code: String, _ severity: Severity, _ message: String) {
            findings.append(
                Finding(
                    code: code, severity: severity, host: host, message: printable(message)))
        }

        mutating func lint(_ name: String, _ value: JSONValue) {
            // A key that may hold user info is never repeated.
            host = name.utf8.contains(UInt8(ascii: "@")) ? nil : name
            defer { host = nil }
            lintPattern(name, value)
            guard let members = value.object else {
                add("bad-value", .error, "the entry is an object, not of type \(value.typeName)")
                return
            }
            for (name, choices) in [
                ("afterExpiry", ["refuse", "allow"]), ("mode", ["enforce", "report"]),
                ("caMode", ["add", "replace"]),
            ] {
                guard let value = members[name] else { continue }
                if !choices.contains(value.string ?? "") {
                    add(
                        "bad-value", .error,
                        "\"\(name)\" is \(choices.joined(separator: " or ")), not"
                            + " \(Self.shown(value))")
                }
            }
            for name in ["includeSubdomains", "exclude"] {
                guard let value = members[name], value.bool == nil else { continue }
                add(
                    "bad-value", .error, "\"\(name)\" is true or false, not \(Self.shown(value))")
            }
            lintAuthorities(members)
            for name in members.memberNames where !PinPolicy.ruleMembers.contains(name) {
                add(
                    "unknown-member", .error,
                    "the member \"\(name)\" is not known; known are"
                        + " \(PinPolicy.ruleMembers.joined(separator: ", "))")
            }
            if members["exclude"]?.bool == true {
                for name in ["pins", "expires", "afterExpiry", "mode"] where members[name] != nil {
                    add("bad-value", .error, "\"\(name)\" has no place beside \"exclude\":true")
                }
                return
            }
            lintExpiry(members["expires"])
            lintPins(members["pins"])
        }

        static func shown(_ value: JSONValue) -> String {
            value.string.map { ExpiryDate.shown($0) } ?? "of type \(value.typeName)"
        }

        private mutating func lintPattern(_ name: String, _ value: JSONValue) {
            do throws(PinError) {
                let pattern = try PinRule.Pattern(parsing: name)
                if let twin = seen.updateValue(name, forKey: pattern.description) {
                    add("duplicate-host", .error, "the same as \"\(twin)\" in another spelling")
                }
                let isWide =
                    pattern.scope != .exact || value["includeSubdomains"]?.bool == true
                if pattern.host.kind == .name, let members = value.object,
                    pattern.scope == .anyDepth || value["includeSubdomains"]?.bool == true
                {
                    lintScope(Claim(name, pattern.scope, members), below: pattern.host)
                }
                if isWide, suffixes.contains(pattern.host) {
                    add(
                        "public-suffix", .error,
                        "\(pattern.host.text) is a suffix under which anybody can have a name (by"
                            + " \(suffixes.source)): name the hosts themselves")
                }
            } catch {
                add("bad-host", .error, error.message)
            }
        }

        private mutating func lintScope(_ claim: Claim, below host: HostName) {
            guard let other = reaching[host.text] else {
                reaching[host.text] = claim
                return
            }
            let (lost, decides) = claim.yields(to: other) ? (claim, other) : (other, claim)
            reaching[host.text] = decides
            let isSame = lost.pins == decides.pins && lost.says == decides.says
            guard lost.scope != decides.scope, !isSame else { return }
            let current = self.host
            defer { self.host = current }
            self.host = lost.key
            add(
                "contradicting-rules", .warning,
                "\"includeSubdomains\" has no effect: for the names below \(host.text) the rule"
                    + " \"\(decides.key)\" decides, and it says otherwise")
        }

        private mutating func lintAuthorities(_ members: JSONObject) {
            guard let value = members["caFile"] else {
                if members["caMode"] != nil {
                    add("bad-value", .error, "\"caMode\" has no place without \"caFile\"")
                }
                return
            }
            guard let file = value.string, !file.isEmpty, !file.utf8.contains(0) else {
                add("bad-value", .error, "\"caFile\" is the path of a file")
                return
            }
            guard let directory else { return }
            do throws(PinError) {
                _ = try PinAuthorities(file: file, mode: .add, in: directory)
            } catch {
                add("bad-ca-file", .error, error.message)
            }
        }

        private mutating func lintExpiry(_ value: JSONValue?) {
            guard let value else { return }
            guard let text = value.string, let date = try? ExpiryDate(parsing: text) else {
                add(
                    "bad-value", .error,
                    "\"expires\" is a date that exists, YYYY-MM-DD, not \(Self.shown(value))")
                return
            }
            if date.isOver(at: now) {
                add("expired", .error, "the pins expired on \(date.text): renew them")
            } else if date.end - now <= month {
                add("expires-soon", .warning, "the pins expire on \(date.text): renew them")
            }
        }

        private mutating func lintPins(_ value: JSONValue?) {
            guard let items = value?.array, !items.isEmpty else {
                add("no-pins", .error, "\"pins\" is an array of one pin or more")
                return
            }
            var pins: Set<Pin> = []
            for (index, item) in items.enumerated() {
                let place = "pin \(index + 1)"
                guard let text = item.string else {
                    add("bad-pin", .error, "\(place) is a string, not of type \(item.typeName)")
                    continue
                }
                guard let pin = try? Pin(parsing: text) else {
                    let (code, message) = PinLint.complaint(text)
                    add(code, .error, "\(place) \(message)")
                    continue
                }
                if pin.isHashOfEmptyInput {
                    add(
                        "empty-input-hash", .error,
                        "\(place) is the hash of nothing: the command that made it read no key")
                } else if pin.isPlaceholder {
                    add("placeholder-pin", .error, "\(place) is a placeholder, no hash of a key")
                }
                if !pins.insert(pin).inserted {
                    add("duplicate-pin", .warning, "\(place) stands in the list already")
                }
            }
            if pins.count == 1 {
                add(
                    "no-backup", .warning,
                    "one pin only: add the pin of a key in reserve, or a lost key cuts the host off"
                )
            }
        }
    }

    /// What is wrong with a text that is no pin.
    private static func complaint(_ text: String) -> (code: String, message: String) {
        let characters = Array(text.utf8)
        guard characters.starts(with: Pin.prefix.utf8) else {
            return ("bad-pin", "does not begin with \"sha256/\"")
        }
        let encoded = characters[Pin.prefix.utf8.count...]
        let padding = encoded.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let digits = encoded.dropLast(padding)
        let isAlphabet = digits.allSatisfy {
            ($0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z"))
                || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || $0 == UInt8(ascii: "+")
                || $0 == UInt8(ascii: "/")
        }
        guard isAlphabet, padding <= 2, encoded.count % 4 == 0 else {
            return ("bad-base64", "is no base64 (RFC 4648, section 4)")
        }
        let count = digits.count * 3 / 4
        return count == 32
            ? (
                "bad-base64",
                "is no canonical base64: its last character sets bits that mean nothing"
            )
            : ("wrong-length", "has \(count) bytes; SHA-256 has 32")
    }
}
