/// What a policy says about a host or a family of hosts.
public struct PinRule: Sendable, Hashable {
    /// What a mismatch does.
    public enum Mode: String, Sendable, Hashable {
        /// The call is refused.
        case enforce
        /// The call passes, and the mismatch is reported.
        case report
    }

    /// What holds when the rule's day is over.
    public enum AfterExpiry: String, Sendable, Hashable {
        /// Calls are refused.
        case refuse
        /// CA and host name alone decide.
        case allow
    }

    /// Which hosts a rule is for.
    public struct Pattern: Sendable, Hashable, CustomStringConvertible {
        /// How much of a host stands before `host`.
        public enum Scope: String, Sendable, Hashable {
            /// Nothing: the host itself.
            case exact = ""
            /// One label.
            case oneLabel = "*."
            /// Any number of labels, none too.
            case anyDepth = "**."
        }

        /// How much may stand before the host.
        public let scope: Scope
        /// The host or suffix in its one form.
        public let host: HostName

        /// Reads `HOST`, `*.SUFFIX` or `**.SUFFIX`.
        ///
        /// - Throws: `PinError` with code `bad-host`: a port, scheme, path, user info, a star
        ///   elsewhere, or a wildcard before an address.
        public init(parsing text: String) throws(PinError) {
            let bytes = Array(text.utf8)
            var scope = Scope.exact
            if bytes.starts(with: "**.".utf8) {
                scope = .anyDepth
            } else if bytes.starts(with: "*.".utf8) {
                scope = .oneLabel
            }
            let rest = bytes.dropFirst(scope.rawValue.utf8.count)
            guard !rest.contains(UInt8(ascii: "*")) else {
                throw HostName.refusal(
                    "a star stands only at the beginning, as \"*.\" (one label) or \"**.\" (none or"
                        + " more), before a name")
            }
            let host = try HostName.canonical(String(decoding: rest, as: UTF8.self))
            guard scope == .exact || host.kind == .name else {
                throw HostName.refusal("a wildcard stands before a name, not before an IP address")
            }
            self.scope = scope
            self.host = host
        }

        /// The canonical text.
        public var description: String { scope.rawValue + host.text }
    }

    /// Which hosts the rule is for.
    public let pattern: Pattern
    /// The pins, any of which may match; empty for an exclusion.
    public let pins: [Pin]
    /// Whether the rule reaches every name below the host too.
    public let includesSubdomains: Bool
    /// The last day on which the rule holds.
    public let expires: ExpiryDate?
    /// What holds from then on.
    public let afterExpiry: AfterExpiry
    /// What a mismatch does.
    public let mode: Mode
    /// CAs for the rule's hosts alone; nil leaves them to those that are trusted otherwise.
    public let authorities: PinAuthorities?
    /// Whether the rule takes its hosts out of a wider one: no pins, CA and host name alone decide.
    public var isExclusion: Bool { pins.isEmpty }

    /// Pins a host or a family of hosts.
    ///
    /// - Parameters:
    ///   - host: A host, `*.SUFFIX` (one label) or `**.SUFFIX` (none or more).
    ///   - pins: At least one; two are wise, of which one belongs to a key kept in reserve.
    ///   - includesSubdomains: Whether the rule reaches every name below the host too.
    ///   - expires: `YYYY-MM-DD`, the last day in UTC.
    ///   - afterExpiry: What holds from then on.
    ///   - mode: What a mismatch does.
    ///   - authorities: CAs for the rule's hosts alone.
    /// - Throws: `PinError`: `bad-host`, or `malformed-policy` for no pins or a bad date.
    public init(
        host: String, pins: [Pin], includesSubdomains: Bool = false, expires: String? = nil,
        afterExpiry: AfterExpiry = .refuse, mode: Mode = .enforce,
        authorities: PinAuthorities? = nil
    ) throws(PinError) {
        guard !pins.isEmpty else {
            throw PinError(code: .malformedPolicy, message: "a rule without pins pins nothing")
        }
        self.pattern = try Pattern(parsing: host)
        self.pins = pins
        self.includesSubdomains = includesSubdomains
        if let expires {
            self.expires = try ExpiryDate(parsing: expires)
        } else {
            self.expires = nil
        }
        self.afterExpiry = afterExpiry
        self.mode = mode
        self.authorities = authorities
    }

    /// Takes a host or a family of hosts out of a wider rule.
    ///
    /// - Parameters:
    ///   - host: A host, `*.SUFFIX` (one label) or `**.SUFFIX` (none or more).
    ///   - includesSubdomains: Whether the rule reaches every name below the host too.
    ///   - authorities: CAs for the rule's hosts alone.
    /// - Throws: `PinError` with code `bad-host`.
    public init(
        excluding host: String, includesSubdomains: Bool = false,
        authorities: PinAuthorities? = nil
    ) throws(PinError) {
        self.pattern = try Pattern(parsing: host)
        self.pins = []
        self.includesSubdomains = includesSubdomains
        self.expires = nil
        self.afterExpiry = .refuse
        self.mode = .enforce
        self.authorities = authorities
    }

    /// Whether the rule's day is over at a Unix time in seconds.
    public func hasExpired(at now: Int64) -> Bool { expires?.isOver(at: now) ?? false }
}
