/// A host and port, as they stand in a URL between `//` and the path (RFC 3986, section 3.2).
public struct Authority: Sendable, Hashable, CustomStringConvertible {
    /// The host in its one form.
    public let host: HostName
    /// The port, when one was written.
    public let writtenPort: Int?

    /// Takes a host and, perhaps, a port in 1...65535.
    public init(host: HostName, port: Int? = nil) {
        self.host = host
        self.writtenPort = port
    }

    /// Reads `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`.
    ///
    /// - Throws: `PinError` with code `bad-host`, also for user info, which it does not print.
    public init(parsing text: String) throws(PinError) {
        let bytes = Array(text.utf8)
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw HostName.refusal("a URL with user info (\"@\") is refused")
        }
        var host = bytes[...]
        var port: ArraySlice<UInt8>?
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw HostName.refusal("a host in brackets ends with \"]\"")
            }
            host = bytes[...end]
            let rest = bytes[(end + 1)...]
            if !rest.isEmpty {
                guard rest.first == UInt8(ascii: ":") else {
                    throw HostName.refusal("behind \"]\" stands \":\" and a port, or nothing")
                }
                port = rest.dropFirst()
            }
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            host = bytes[..<colon]
            port = bytes[(colon + 1)...]
        }
        self.host = try HostName.canonical(String(decoding: host, as: UTF8.self))
        guard let port, !port.isEmpty else {
            self.writtenPort = nil
            return
        }
        guard port.count <= 5,
            port.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(String(decoding: port, as: UTF8.self)), (1...65535).contains(number)
        else { throw HostName.refusal("a port is a number from 1 to 65535") }
        self.writtenPort = number
    }

    /// The port that a URL of this scheme means; 443 for anything but `http`.
    public func port(scheme: String) -> Int {
        writtenPort ?? (scheme.lowercased() == "http" ? 80 : 443)
    }

    /// The canonical text; the port as written.
    public var description: String {
        writtenPort.map { "\(host.uriText):\($0)" } ?? host.uriText
    }
}
