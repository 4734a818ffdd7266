/// A host in canonical form: the form for looking hosts up, comparing them and connecting to them.
///
/// A name is in lower case, in A-labels (RFC 5890) and without a trailing dot. An IPv4 address is
/// in dotted decimal, an IPv6 address in the form of RFC 5952 without brackets. All spellings of
/// one host are equal.
public struct HostName: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a host.
    public enum Kind: Sendable, Hashable {
        /// A DNS name.
        case name
        /// An IPv4 address.
        case ipv4
        /// An IPv6 address.
        case ipv6
    }

    /// The canonical text: ASCII, without brackets.
    public let text: String
    /// The kind of the host.
    public let kind: Kind

    init(text: String, kind: Kind) {
        self.text = text
        self.kind = kind
    }

    /// The text for a URL, with brackets around an IPv6 address.
    public var uriText: String { kind == .ipv6 ? "[\(text)]" : text }

    /// The canonical text.
    public var description: String { text }

    /// Returns the canonical form of a host that comes from a URL or a policy.
    ///
    /// Decodes percent escapes, maps full-width letters and ideographic dots, drops one trailing
    /// dot, changes letters to lower case, and encodes labels of well-known scripts as A-labels
    /// (RFC 3492). Rewrites all spellings of IPv4 addresses that resolvers accept (`127.1`,
    /// `2130706433`, `0x7f.1`, `0177.1`, `[::ffff:127.0.0.1]`) in dotted decimal. Refuses every
    /// host whose mapping is ambiguous.
    ///
    /// - Parameter text: A host without scheme, user info, port and path.
    /// - Throws: `HostError` with code `bad-host`.
    public static func canonical(_ text: String) throws(HostError) -> HostName {
        let bytes = Array(text.utf8)
        if isPlainName(bytes) { return HostName(text: text, kind: .name) }
        if bytes.contains(UInt8(ascii: "@")) {
            throw HostError("user info (\"@\") isn't allowed in a host")
        }
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        {
            throw HostError("expected a host without a scheme (found \"://\")")
        }
        if bytes.first == UInt8(ascii: "[") || bytes.contains(UInt8(ascii: ":")) {
            return try canonicalIPv6(bytes)
        }
        let decoded = try percentDecoded(bytes)
        // A name's 253 characters have at most 4 bytes each in UTF-8. Longer hosts are refused
        // before any work that isn't linear.
        guard decoded.utf8.count <= maximumNameLength * 4 else {
            throw tooLong("\(decoded.utf8.count) bytes")
        }
        let mapped = try mappedScalars(decoded)
        var labels = mapped.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.allSatisfy({ !$0.isEmpty }) else {
            throw HostError(
                labels.count == 1 ? "the host is empty" : "the host has an empty label (two dots)")
        }
        var names: [String] = []
        for label in labels { names.append(try canonicalLabel(label)) }
        if let last = names.last, looksNumeric(last) {
            return HostName(text: try canonicalIPv4(names), kind: .ipv4)
        }
        let name = names.joined(separator: ".")
        guard name.utf8.count <= maximumNameLength else {
            throw tooLong("\(name.utf8.count) characters")
        }
        return HostName(text: name, kind: .name)
    }

    /// Returns whether a text is a canonical name already, as most are.
    private static func isPlainName(_ bytes: [UInt8]) -> Bool {
        var label = 0
        for (index, byte) in bytes.enumerated() {
            if byte == ASCII.dot {
                guard (1...maximumLabelLength).contains(index - label) else { return false }
                label = index + 1
            } else if !(byte.isLowercaseLetter || byte.isDigit || byte == ASCII.minus
                || byte == ASCII.underscore)
            {
                return false
            }
        }
        // If the last label starts with a letter, the host isn't an IPv4 address.
        return bytes.count <= maximumNameLength
            && (1...maximumLabelLength).contains(bytes.count - label)
            && bytes[label].isLowercaseLetter
    }

    /// The maximum number of characters of a DNS name in text form (RFC 1035, section 2.3.4).
    private static let maximumNameLength = 253
    /// The maximum number of characters of one label.
    private static let maximumLabelLength = 63

    private static func tooLong(_ length: String) -> HostError {
        HostError("the host has \(length); a DNS name has at most 253 characters")
    }

    private static func percentDecoded(_ bytes: [UInt8]) throws(HostError) -> String {
        guard let decoded = PercentCoding.decoded(bytes[...]) else {
            throw HostError("the host has a \"%\" without two hexadecimal digits")
        }
        guard let text = String(validating: decoded, as: UTF8.self) else {
            throw HostError("the host's percent escapes aren't UTF-8")
        }
        return text
    }

    /// Maps full-width forms and ideographic dots, and refuses ASCII characters that names can't
    /// have.
    private static func mappedScalars(_ text: String) throws(HostError) -> String.UnicodeScalarView
    {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let mapped =
                switch scalar.value {
                case 0x3002, 0xFF0E, 0xFF61: Unicode.Scalar(UInt8(ascii: "."))
                case 0xFF01...0xFF5E:
                    Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value - 0xFF01 + 0x21))
                default: scalar
                }
            switch mapped {
            case "a"..."z", "0"..."9", "-", "_", ".": result.append(mapped)
            case "A"..."Z":
                result.append(Unicode.Scalar(UInt8(truncatingIfNeeded: mapped.value) | 0x20))
            case "@": throw HostError("user info (\"@\") isn't allowed in a host")
            case _ where mapped.isASCII:
                let found =
                    mapped.value > 0x20 && mapped.value < 0x7F
                    ? "\"\(mapped)\"" : "a space or a control character"
                throw HostError("\(found) isn't allowed in a host")
            default: result.append(mapped)
            }
        }
        return result
    }

    private static func canonicalLabel(_ label: String.UnicodeScalarView.SubSequence)
        throws(HostError) -> String
    {
        // An A-label is longer than the label that it encodes, and the time for encoding grows with
        // the square of the length.
        try checkLength(ofLabel: label.count)
        let text = label.allSatisfy(\.isASCII) ? String(label) : try Punycode.aLabel(of: label)
        try checkLength(ofLabel: text.utf8.count)
        return text
    }

    private static func checkLength(ofLabel count: Int) throws(HostError) {
        guard count <= maximumLabelLength else {
            throw HostError("the host has a label of \(count) characters, at most 63 are allowed")
        }
    }
}
