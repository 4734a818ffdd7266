public import SignetBase

/// The hosts that requests reach without a proxy.
public struct ProxyExceptions: Sendable, Hashable {
    private enum Entry: Sendable, Hashable {
        case all
        case host(HostName, port: Int?)
        case network([UInt8], bits: Int)
    }

    private var entries: [Entry] = []

    /// Creates an empty list.
    public init() {}

    /// Parses a list in the form of `no_proxy`, separated by commas, spaces or line breaks.
    ///
    /// An entry is one of:
    /// - `*`: every host.
    /// - A host, with all names below it. A leading `.` or `*.` changes nothing.
    /// - An address, with or without brackets. It and a host may end with `:PORT`.
    /// - A network of addresses (RFC 4632; RFC 4291, section 2.3), such as `10.0.0.0/8` or
    ///   `fd00::/8`. An IPv4 network contains no IPv6 addresses and vice versa; `::ffff:0:0/96` and
    ///   its parts are IPv4.
    ///
    /// Other entries match nothing. A network matches only hosts that the URL writes as addresses;
    /// names aren't resolved for it.
    public init(parsing text: String) {
        for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            if word == "*" {
                entries.append(.all)
            } else if let network = Self.network(word) {
                entries.append(network)
            } else {
                var name = word[...]
                if name.startsWithBytes(of: "*.") { name = name.dropFirst() }
                if name.startsWithBytes(of: ".") { name = name.dropFirst() }
                let isBareIPv6 =
                    name.count(where: { $0 == ":" }) > 1 && !name.startsWithBytes(of: "[")
                let parsed = try? Authority(parsing: isBareIPv6 ? "[\(name)]" : String(name))
                guard let parsed else { continue }
                entries.append(.host(parsed.host, port: parsed.writtenPort))
            }
        }
    }

    /// Whether requests to a host use no proxy.
    public func contains(_ host: HostName, port: Int) -> Bool {
        entries.contains { entry in
            switch entry {
            case .all: true
            case .host(let name, let wanted):
                (wanted == nil || wanted == port)
                    && (host == name
                        || host.kind == .name && name.kind == .name
                            && host.text.endsWithBytes(of: ".\(name.text)"))
            case .network(let network, let bits):
                host.addressBytes.map { Self.masked($0, bits: bits) == network } ?? false
            }
        }
    }

    private static func network(_ word: Substring) -> Entry? {
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...3).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy(\.isDigit),
            let written = Int(parts[1]),
            let address = (try? HostName.canonical(String(parts[0])))?.addressBytes
        else { return nil }
        let isMapped = address.count == 4 && parts[0].contains(":")
        let bits = isMapped ? written - 96 : written
        guard (0...address.count * 8).contains(bits) else { return nil }
        return .network(masked(address, bits: bits), bits: bits)
    }

    /// Returns an address with all but its first `bits` bits set to zero.
    private static func masked(_ address: [UInt8], bits: Int) -> [UInt8] {
        address.enumerated().map { index, byte in
            let left = min(max(bits - index * 8, 0), 8)
            return left == 0 ? 0 : byte & (UInt8.max << UInt8(8 - left))
        }
    }
}
