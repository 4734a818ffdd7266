import SignetBase

/// An absolute URL in a configuration: ASCII text with scheme, `//` and a host (RFC 3986).
public struct ConfigurationURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL exactly as in the configuration.
    public let text: String

    /// Creates a URL, or returns nil if the text isn't an absolute URL.
    public init?(_ text: String) {
        guard let parts = try? URLParts(parsing: text), parts.scheme.utf8.first?.isLetter == true,
            parts.scheme.utf8.allSatisfy(Self.schemeBytes.contains),
            Self.isURLText(Array(text.utf8))
        else { return nil }
        let authority = Array(parts.authority.utf8)
        let userInfo = authority.lastIndex(of: UInt8(ascii: "@"))
        guard Self.isHostAndPort(authority[(userInfo.map { $0 + 1 } ?? 0)...]) else { return nil }
        self.text = text
    }

    /// The URL's text.
    public var description: String { text }

    private static func isHostAndPort(_ text: ArraySlice<UInt8>) -> Bool {
        var host = text
        var port = text[text.endIndex...]
        let bracket = text.lastIndex(of: UInt8(ascii: "]"))
        let search = text[(bracket ?? text.startIndex)...]
        if let colon = search.lastIndex(of: UInt8(ascii: ":")) {
            host = text[..<colon]
            port = text[(colon + 1)...]
            guard port.count <= 5, port.allSatisfy(\.isDigit),
                port.reduce(0, { $0 * 10 + Int($1 & 0x0F) }) <= 65535
            else { return false }
        }
        if host.first == UInt8(ascii: "[") {
            return host.last == UInt8(ascii: "]") && host.count > 3
                && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || ":.".has($0) }
        }
        return !host.isEmpty && !host.contains { ":[]@".has($0) }
    }

    /// Returns whether all characters are from RFC 3986, and two hexadecimal digits follow each
    /// percent sign.
    private static func isURLText(_ text: [UInt8]) -> Bool {
        text.indices.allSatisfy { index in
            text[index] == UInt8(ascii: "%")
                ? text.hasPercentEscape(at: index) : urlBytes.contains(text[index])
        }
    }

    private static let schemeBytes = ASCIISet(lettersDigitsAnd: "+-.")
    private static let urlBytes = ASCIISet(lettersDigitsAnd: "-._~:/?#[]@!$&'()*+,;=")
}

extension String {
    fileprivate func has(_ byte: UInt8) -> Bool { utf8.contains(byte) }
}

extension ConfigurationURL: Codable {
    /// Decodes a string that must be an absolute URL.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let url = ConfigurationURL(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected \(ValueType.url.expectation)")
        }
        self = url
    }

    /// Encodes the URL's text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
