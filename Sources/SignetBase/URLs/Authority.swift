/// The host and port of a URL (RFC 3986, section 3.2).
public struct Authority: Sendable, Hashable, CustomStringConvertible {
    /// The host in canonical form.
    public let host: HostName
    /// The port, if the text has one.
    public let writtenPort: Int?

    /// Creates an authority from a host and an optional port in 1...65535.
    public init(host: HostName, port: Int? = nil) {
        self.host = host
        self.writtenPort = port
    }

    /// Reads `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`.
    ///
    /// - Throws: `HostError` with code `bad-host`, for example if the text has user info. The
    ///   message doesn't contain the user info.
    public init(parsing text: String) throws(HostError) {
        let bytes = Array(text.utf8)
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw HostError("user info (\"@\") isn't allowed in a URL")
        }
        var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw HostError("missing \"]\" after a host in brackets")
            }
            end = bracket + 1
            guard end == bytes.endIndex || bytes[end] == UInt8(ascii: ":") else {
                throw HostError("expected \":\" and a port, or nothing, after \"]\"")
            }
        }
        self.host = try HostName.canonical(String(decoding: bytes[..<end], as: UTF8.self))
        let port = bytes[end...].dropFirst()
        self.writtenPort = port.isEmpty ? nil : try Self.port(port)
    }

    /// Reads a port from decimal digits.
    ///
    /// - Throws: `HostError` with code `bad-host` if it isn't in 1...65535.
    package static func port(_ digits: some Collection<UInt8>) throws(HostError) -> Int {
        guard digits.count <= 5,
            digits.allSatisfy(\.isDigit),
            let number = Int(String(decoding: digits, as: UTF8.self)), (1...65535).contains(number)
        else { throw HostError("invalid port, expected a number from 1 to 65535") }
        return number
    }

    /// Returns the written port, or the default of the scheme: 80 for `http`, 443 for any other.
    public func port(scheme: String) -> Int {
        writtenPort ?? (scheme.lowercased() == "http" ? 80 : 443)
    }

    /// The canonical text, with the port if one was written.
    public var description: String {
        writtenPort.map { "\(host.uriText):\($0)" } ?? host.uriText
    }
}
