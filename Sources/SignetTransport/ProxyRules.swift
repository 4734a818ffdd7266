public import SignetPinning

/// Which requests go through a proxy, and through which.
public struct ProxyRules: Sendable {
    /// For https URLs; nil is none.
    public var https: Proxy?
    /// For http URLs; nil is none.
    public var http: Proxy?
    /// Hosts that are spoken to without one.
    public var exceptions: ProxyExceptions

    /// No proxy, whatever the environment says.
    public static var none: ProxyRules { ProxyRules(nil) }

    /// One proxy for all.
    public init(_ proxy: Proxy?, except exceptions: ProxyExceptions = ProxyExceptions()) {
        https = proxy
        http = proxy
        self.exceptions = exceptions
    }

    /// The proxies of an environment: `https_proxy` (else `HTTPS_PROXY`) for https URLs, `http_proxy`
    /// for http ones, `no_proxy` (else `NO_PROXY`) for hosts without. A lower-case name wins, also when it
    /// is empty. `HTTP_PROXY` is not read, since a web server makes it of a client's field `Proxy`; nor
    /// is `ALL_PROXY`.
    ///
    /// - Throws: `TransportError` with code `invalid-request`, naming the variable and not its value.
    public init(environment: [String: String]) throws(TransportError) {
        func proxy(_ names: String...) throws(TransportError) -> Proxy? {
            for name in names {
                guard let text = environment[name] else { continue }
                if text.isEmpty { return nil }
                do throws(TransportError) {
                    return try Proxy(parsing: text, takesCredentials: true)
                } catch {
                    throw TransportError(code: error.code, message: "\(name): \(error.message)")
                }
            }
            return nil
        }
        https = try proxy("https_proxy", "HTTPS_PROXY")
        http = try proxy("http_proxy")
        exceptions = ProxyExceptions(
            parsing: environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
    }

    /// The proxy for a request; nil where it goes straight to its host.
    public func proxy(for origin: WebOrigin) -> Proxy? {
        guard let proxy = origin.isSecure ? https : http else { return nil }
        return exceptions.contains(origin.host, port: origin.port) ? nil : proxy
    }
}

/// Hosts that are spoken to without a proxy.
public struct ProxyExceptions: Sendable, Hashable {
    private enum Entry: Sendable, Hashable {
        case all
        case host(HostName, port: Int?)
        case network(UInt32, bits: Int)
    }

    private var entries: [Entry] = []

    /// None.
    public init() {}

    /// Reads a list as `no_proxy` holds it, separated by commas or spaces.
    ///
    /// An entry is `*`, a host (which stands for all names below it too; a point or `*.` before it
    /// changes nothing), an address, either with `:PORT`, or a network of IPv4 addresses, as
    /// `10.0.0.0/8`. What is none of these matches nothing.
    public init(parsing text: String) {
        for word in text.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            if word == "*" {
                entries.append(.all)
            } else if let network = Self.network(word) {
                entries.append(network)
            } else {
                var name = word[...]
                if name.hasPrefix("*.") { name = name.dropFirst() }
                if name.hasPrefix(".") { name = name.dropFirst() }
                let isBareIPv6 = name.count(where: { $0 == ":" }) > 1 && !name.hasPrefix("[")
                let parsed = try? Authority(parsing: isBareIPv6 ? "[\(name)]" : String(name))
                guard let parsed else { continue }
                entries.append(.host(parsed.host, port: parsed.writtenPort))
            }
        }
    }

    /// Whether a host is spoken to without a proxy.
    public func contains(_ host: HostName, port: Int) -> Bool {
        entries.contains { entry in
            switch entry {
            case .all: true
            case .host(let name, let wanted):
                (wanted == nil || wanted == port)
                    && (host == name
                        || host.kind == .name && name.kind == .name
                            && host.text.hasSuffix(".\(name.text)"))
            case .network(let network, let bits):
                Self.address(host).map { Self.masked($0, bits) == network } ?? false
            }
        }
    }

    private static func network(_ word: Substring) -> Entry? {
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = Int(parts[1]), (0...32).contains(bits),
            let host = try? HostName.canonical(String(parts[0])), let number = address(host)
        else { return nil }
        return .network(masked(number, bits), bits: bits)
    }

    private static func address(_ host: HostName) -> UInt32? {
        guard host.kind == .ipv4 else { return nil }
        return host.text.split(separator: ".").reduce(UInt32(0)) { number, part in
            number << 8 | (UInt32(part) ?? 0)
        }
    }

    private static func masked(_ number: UInt32, _ bits: Int) -> UInt32 {
        bits == 0 ? 0 : number & (UInt32.max << UInt32(32 - bits))
    }
}
