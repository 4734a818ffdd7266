public import SignetBase
import SignetTransport

/// An IP address of a service's host, with a port if it isn't that of the service's URL.
public struct ServiceAddress: Sendable, Hashable, CustomStringConvertible {
    /// The IP address.
    public let host: HostName
    /// The port; nil for the URL's.
    public let port: Int?

    /// Reads `192.0.2.1`, `192.0.2.1:8443`, `2001:db8::1` or `[2001:db8::1]:8443`.
    ///
    /// - Throws: `ClientError` with code `invalid-options` for anything else, such as a name.
    public init(parsing text: String) throws(ClientError) {
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        let isBareIPv6 = colons > 1 && text.utf8.first != UInt8(ascii: "[")
        let authority: Authority
        do throws(HostError) {
            authority = try Authority(parsing: isBareIPv6 ? "[\(text)]" : text)
        } catch {
            throw ClientError(
                .invalidOptions, "expected an IP address, and a port or none: \(error.message)")
        }
        guard authority.host.kind != .name else {
            throw ClientError(
                .invalidOptions, "found a name, expected an IP address, and a port or none")
        }
        (host, port) = (authority.host, authority.writtenPort)
    }

    /// The address as text, with its port if it has one.
    public var description: String { port.map { "\(host.uriText):\($0)" } ?? host.text }

    /// The connection to the address in place of an origin's host.
    func connection(for origin: WebOrigin) -> EngineRequest.ConnectTo {
        EngineRequest.ConnectTo(
            host: origin.host, port: origin.port, address: host, addressPort: port ?? origin.port)
    }

    /// The largest number of addresses of a service.
    static let maximumCount = 64

    /// Reads several addresses. Those that come again are left out.
    ///
    /// - Throws: `invalid-options` for one that can't be read, and for too many.
    static func list(_ texts: [String]) throws(ClientError) -> [ServiceAddress] {
        guard texts.count <= maximumCount else {
            throw ClientError(
                .invalidOptions, "found \(texts.count) addresses, expected at most \(maximumCount)")
        }
        var addresses: [ServiceAddress] = []
        for text in texts {
            let address = try ServiceAddress(parsing: text)
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}
