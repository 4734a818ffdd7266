public import SignetBase
import SignetCrypto
import SignetSystem

/// A proxy: its protocol, host, port and credentials.
///
/// The credentials appear in no description, dump or error.
public struct Proxy: Sendable, CustomStringConvertible, CustomReflectable {
    /// The protocol of a proxy.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP: CONNECT for https URLs (RFC 9110, section 9.3.6), an absolute URL for http URLs.
        case http
        /// HTTP inside TLS. The proxy's own certificate is checked.
        case https
        /// SOCKS 4a: the proxy resolves host names.
        case socks4a
        /// SOCKS 5 (RFC 1928): host names are resolved locally.
        case socks5
        /// SOCKS 5: the proxy resolves host names.
        case socks5h

        /// Whether the proxy speaks HTTP and so supports CONNECT.
        public var isHTTP: Bool { self == .http || self == .https }
    }

    private final class Credentials: Sendable {
        let user: SecretBytes
        let password: SecretBytes

        init(user: ArraySlice<UInt8>, password: ArraySlice<UInt8>) {
            self.user = SecretBytes(copying: user.span)
            self.password = SecretBytes(copying: password.span)
        }
    }

    /// The protocol.
    public let kind: Kind
    /// The host in canonical form.
    public let host: HostName
    /// The port. If the URL names none, 443 for an HTTPS proxy and 1080 for any other, like curl.
    public let port: Int
    /// The path of a PEM file of the CAs to check an HTTPS proxy's certificate with; `nil` uses the
    /// system's.
    public var caFile: String?
    private var credentials: Credentials?

    /// Parses `SCHEME://HOST:PORT`. The scheme is one of `Kind` and defaults to `http`.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - allowsCredentials: Whether `USER:PASSWORD@`, percent-encoded, may precede the host. Use
    ///     `false` if others may read the text.
    /// - Throws: `TransportError` with code `invalid-request`. The message repeats no part of the
    ///   text.
    public init(parsing text: String, allowsCredentials: Bool = false) throws(TransportError) {
        var rest = Array(text.utf8)[...]
        defer { Self.wipe(&rest) }
        if let problem = URLParts.problem(in: rest) { throw Self.invalid("contains \(problem)") }
        kind = try Self.removeKind(from: &rest)
        // Only the text before the first slash is the authority, so "@" is searched only there.
        let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        guard rest[end...].elementsEqual("/".utf8) || end == rest.endIndex else {
            throw Self.invalid(
                "has a path, query or fragment, expected SCHEME://HOST:PORT (in a user name or "
                    + "password, escape \"/\", \"?\" and \"#\" with \"%\")")
        }
        rest = rest[..<end]
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            guard allowsCredentials else {
                throw Self.invalid(
                    "contains a user name or a password, which others could read: set the"
                        + " credentials separately")
            }
            credentials = try Self.credentials(rest[..<at])
            rest = rest[(at + 1)...]
        }
        do throws(HostError) {
            let authority = try Authority(parsing: String(decoding: rest, as: UTF8.self))
            host = authority.host
            port = authority.writtenPort ?? (kind == .https ? 443 : 1080)
        } catch {
            throw Self.invalid("has an invalid host: \(error.message)")
        }
        try check(credentials)
    }

    /// Sets the user name and the password.
    ///
    /// - Parameter text: `USER:PASSWORD`, not percent-encoded; the first colon separates the two.
    /// - Throws: `TransportError` with code `invalid-request` for more than 255 bytes or a control
    ///   character in either part, and for a SOCKS 4a proxy.
    public mutating func setCredentials(_ text: [UInt8]) throws(TransportError) {
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let new = Credentials(user: text[..<colon], password: text[colon...].dropFirst())
        try check(new)
        credentials = new
    }

    /// Whether the proxy has credentials.
    public var hasCredentials: Bool { credentials != nil }

    /// Whether another proxy has the same credentials; compared in constant time.
    package func hasSameCredentials(as other: Proxy) -> Bool {
        guard let own = credentials, let others = other.credentials else {
            return credentials == nil && other.credentials == nil
        }
        if own === others { return true }
        let isSameUser = Self.areSame(own.user, others.user)
        return Self.areSame(own.password, others.password) && isSameUser
    }

    private static func areSame(
        _ left: borrowing SecretBytes, _ right: borrowing SecretBytes
    ) -> Bool {
        let one = left.bytes
        let other = right.bytes
        return constantTimeEqual(one, other)
    }

    /// The URL without credentials.
    public var url: String { "\(kind.rawValue)://\(host.uriText):\(port)" }

    /// The URL without credentials.
    public var description: String { url }

    /// A mirror that shows the URL without credentials.
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }

    /// Returns the user name and the password, each ended by a zero byte. The caller wipes them.
    package func credentialBytes() -> [UInt8]? {
        guard let credentials else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(credentials.user.count + credentials.password.count + 2)
        Self.append(credentials.user, to: &bytes)
        bytes.append(0)
        Self.append(credentials.password, to: &bytes)
        bytes.append(0)
        return bytes
    }

    private func check(_ credentials: Credentials?) throws(TransportError) {
        guard let credentials else { return }
        guard credentials.user.count <= 255, credentials.password.count <= 255 else {
            throw Self.invalid("has a user name or password of more than 255 bytes")
        }
        let hasControls =
            Self.containsControls(credentials.user)
            || Self.containsControls(credentials.password)
        guard !hasControls else {
            throw Self.invalid("has a control character in its user name or password")
        }
        guard kind != .socks4a else {
            throw Self.invalid("has the scheme socks4a, which doesn't support a password")
        }
    }

    private static func append(_ secret: borrowing SecretBytes, to bytes: inout [UInt8]) {
        let span = secret.bytes
        for index in span.indices { bytes.append(span[index]) }
    }

    private static func containsControls(_ secret: borrowing SecretBytes) -> Bool {
        let span = secret.bytes
        for index in span.indices where span[index] < 0x20 || span[index] == 0x7F { return true }
        return false
    }

    private static func removeKind(
        from rest: inout ArraySlice<UInt8>
    ) throws(TransportError) -> Kind {
        let colon = rest.firstIndex(of: UInt8(ascii: ":"))
        guard let colon, rest[colon...].starts(with: "://".utf8) else { return .http }
        let name = String(decoding: rest[..<colon], as: UTF8.self).lowercased()
        guard let kind = Kind(rawValue: name) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid("has an unknown scheme, expected one of \(known)")
        }
        rest = rest[(colon + 3)...]
        return kind
    }

    private static func credentials(
        _ text: ArraySlice<UInt8>
    ) throws(TransportError) -> Credentials {
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        var user = try unescaped(text[..<colon])[...]
        var password = try unescaped(text[colon...].dropFirst())[...]
        defer {
            wipe(&user)
            wipe(&password)
        }
        return Credentials(user: user, password: password)
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) throws(TransportError) -> [UInt8] {
        guard let bytes = PercentCoding.decoded(text) else {
            throw invalid("has an invalid \"%\" escape before its host")
        }
        return bytes
    }

    private static func wipe(_ slice: inout ArraySlice<UInt8>) {
        for index in slice.indices { slice[index] = 0 }
    }

    private static func invalid(_ problem: String) -> TransportError {
        TransportError(.invalidRequest, "the proxy's URL \(problem)")
    }
}
