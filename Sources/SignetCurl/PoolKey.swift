internal import SignetTransport

/// Which calls share a loop, and so its connections and TLS sessions: two whose keys differ share nothing.
struct PoolKey: Sendable, Hashable {
    /// Whom the handshakes trust.
    let trust: TrustStore
    /// An HTTP proxy that is told who we are; nil for every other way.
    ///
    /// libcurl's pool compares user names and passwords of SOCKS proxies, and of HTTP ones only since
    /// CVE-2026-3784 was mended: through the tunnel that one login has opened, an older one sends the calls
    /// of another login, and of none.
    private let login: Proxy?
    /// Whether calls share a connection over HTTP/2; behind an HTTPS proxy each has one of its own.
    ///
    /// Where a proxy's TLS record holds more than one reply, libcurl takes out what one call waits for, and
    /// the others when the socket has something new, which may be never (seen with 7.88). A loop of its
    /// own also keeps the proxy's TLS sessions and CAs away from those of hosts without it.
    let multiplexes: Bool

    /// Takes what a call trusts, and its proxy.
    init(_ trust: TrustStore, proxy: Proxy?) {
        self.trust = trust
        multiplexes = proxy?.kind != .https
        login = proxy.flatMap { $0.kind.isHTTP && $0.hasCredentials ? $0 : nil }
    }

    static func == (left: PoolKey, right: PoolKey) -> Bool {
        guard left.trust == right.trust, left.multiplexes == right.multiplexes else { return false }
        guard let one = left.login, let other = right.login else {
            return left.login == nil && right.login == nil
        }
        return one.url == other.url && one.hasSameCredentials(as: other)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(trust)
        hasher.combine(multiplexes)
        hasher.combine(login?.url)
    }
}
