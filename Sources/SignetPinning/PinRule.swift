/// The pins of a host, or of all hosts below a domain.
public struct PinRule: Sendable, Hashable {
    /// The effect of a mismatch.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Refuses the call.
        case enforce
        /// Allows the call and reports the mismatch.
        case report
    }

    /// The effect of an expired rule.
    public enum AfterExpiry: String, Sendable, Hashable, CaseIterable {
        /// Refuses calls.
        case refuse
        /// Trusts the host by CA and host name alone.
        case allow
    }

    /// The hosts that a rule covers.
    public struct Pattern: Sendable, Hashable, CustomStringConvertible {
        /// The number of labels before `host`.
        public enum Scope: String, Sendable, Hashable {
            /// None: the host itself.
            case exact = ""
            /// Exactly one.
            case oneLabel = "*."
            /// Any number, including none.
            case anyDepth = "**."
        }

        /// The number of labels before the host.
        public let scope: Scope
        /// The host or suffix in canonical form.
        public let host: HostName

        /// Reads `HOST`, `*.SUFFIX` or `**.SUFFIX`.
        ///
        /// - Throws: `PinError` with code `bad-host` for a port, a scheme, a path, user info, a
        ///   star in another place, or a wildcard before an IP address.
        public init(parsing text: String) throws(PinError) {
            let wildcards = [Scope.anyDepth, .oneLabel]
            scope = wildcards.first { text.utf8.starts(with: $0.rawValue.utf8) } ?? .exact
            let rest = text.utf8.dropFirst(scope.rawValue.utf8.count)
            do throws(HostError) {
                guard !rest.contains(UInt8(ascii: "*")) else {
                    throw HostError(
                        "a star is allowed only at the start, as \"*.\" (one label) or \"**.\""
                            + " (any number of labels)")
                }
                host = try HostName.canonical(String(decoding: rest, as: UTF8.self))
                guard scope == .exact || host.kind == .name else {
                    throw HostError("a wildcard isn't allowed before an IP address")
                }
            } catch {
                throw PinError(error)
            }
        }

        /// The canonical text.
        public var description: String { scope.rawValue + host.text }
    }

    /// The pattern of the rule's hosts.
    public let pattern: Pattern
    /// The pins, one of which must match; empty for an exclusion.
    public let pins: [Pin]
    /// Whether the rule also covers every name below the host.
    public let includesSubdomains: Bool
    /// The last day on which the rule is valid; nil if it doesn't expire.
    public let expires: ExpiryDate?
    /// The effect of the rule after it has expired.
    public let afterExpiry: AfterExpiry
    /// The effect of a mismatch.
    public let mode: Mode
    /// CAs for the rule's hosts alone; nil uses only those that are trusted for all hosts.
    public let authorities: PinAuthorities?
    /// Whether the rule excludes its hosts from a wider rule. It has no pins then, and its hosts
    /// are trusted by CA and host name alone.
    public var isExclusion: Bool { pins.isEmpty }

    /// Creates a rule that pins a host, or all hosts below a domain.
    ///
    /// - Parameters:
    ///   - host: A host, `*.SUFFIX` (one label) or `**.SUFFIX` (any number of labels).
    ///   - pins: At least one. Give two or more, one of them of a backup key.
    ///   - includesSubdomains: Whether the rule also covers every name below the host.
    ///   - expires: The last day, `YYYY-MM-DD` in UTC; nil for none.
    ///   - afterExpiry: The effect of the rule after that day.
    ///   - mode: The effect of a mismatch.
    ///   - authorities: CAs for the rule's hosts alone.
    /// - Throws: `PinError` with code `bad-host` for an invalid host, or `malformed-policy` for no
    ///   pins or an invalid date.
    public init(
        host: String, pins: [Pin], includesSubdomains: Bool = false, expires: String? = nil,
        afterExpiry: AfterExpiry = .refuse, mode: Mode = .enforce,
        authorities: PinAuthorities? = nil
    ) throws(PinError) {
        guard !pins.isEmpty else {
            throw PinError(.malformedPolicy, "found no pins, expected at least one")
        }
        self.pattern = try Pattern(parsing: host)
        self.pins = pins
        self.includesSubdomains = includesSubdomains
        self.expires = try expires.map(ExpiryDate.init(parsing:))
        self.afterExpiry = afterExpiry
        self.mode = mode
        self.authorities = authorities
    }

    /// Creates a rule that excludes a host, or all hosts below a domain, from a wider rule.
    ///
    /// - Parameters:
    ///   - host: A host, `*.SUFFIX` (one label) or `**.SUFFIX` (any number of labels).
    ///   - includesSubdomains: Whether the rule also covers every name below the host.
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

    /// Whether the rule has expired at a Unix time in seconds.
    public func hasExpired(at now: Int64) -> Bool { expires?.isOver(at: now) ?? false }
}
