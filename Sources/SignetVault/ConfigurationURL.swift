internal import SignetBase

/// An absolute URL in a configuration: ASCII text with scheme, `//` and a host (RFC 3986).
public struct ConfigurationURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL exactly as in the configuration.
    public let text: String

    /// Creates a URL, or returns nil if the text isn't an absolute URL.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            bytes[0].isLetter,
            bytes[..<colon].allSatisfy(Self.schemeBytes.contains),
            bytes[(colon + 1)...].starts(with: "//".utf8)
        else { return nil }
        let rest = bytes[(colon + 3)...]
        let authority = rest.prefix { !"/?#".has($0) }
        var hostAndPort = authority
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            hostAndPort = authority[(at + 1)...]
        }
        guard Self.isURLText(rest), Self.isHostAndPort(hostAndPort) else { return nil }
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
                port.isEmpty || Int(String(decoding: port, as: UTF8.self))! <= 65535
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
    private static func isURLText(_ text: ArraySlice<UInt8>) -> Bool {
        for (index, byte) in zip(text.indices, text) {
            if byte == UInt8(ascii: "%") {
                guard index + 2 < text.endIndex, text[index + 1].isHexDigit,
                    text[index + 2].isHexDigit
                else { return false }
            } else if !urlBytes.contains(byte) {
                return false
            }
        }
        return true
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
