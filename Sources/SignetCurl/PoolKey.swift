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
    /// The trust store of handshakes with an HTTPS proxy; nil without an HTTPS proxy.
    private let proxyTrust: TrustStore?

    /// Takes what a call trusts, and its proxy.
    init(_ trust: TrustStore, proxy: Proxy?) {
        self.trust = trust
        multiplexes = proxy?.kind != .https
        login = proxy.flatMap { $0.kind.isHTTP && $0.hasCredentials ? $0 : nil }
        proxyTrust = proxy.flatMap {
            $0.kind == .https ? TrustStore(caFile: $0.caFile, authorities: nil) : nil
        }
    }

    static func == (left: PoolKey, right: PoolKey) -> Bool {
        left.trust == right.trust && left.proxyTrust == right.proxyTrust
            && left.multiplexes == right.multiplexes && left.hasSameLogin(as: right)
    }

    /// Whether the two are equal but for what their CA files held at the time.
    func isVersion(of other: PoolKey) -> Bool {
        guard trust.isVersion(of: other.trust), multiplexes == other.multiplexes,
            hasSameLogin(as: other)
        else { return false }
        guard let proxyTrust, let others = other.proxyTrust else {
            return proxyTrust == nil && other.proxyTrust == nil
        }
        return proxyTrust.isVersion(of: others)
    }

    private func hasSameLogin(as other: PoolKey) -> Bool {
        guard let own = login, let others = other.login else {
            return login == nil && other.login == nil
        }
        return own.url == others.url && own.hasSameCredentials(as: others)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(trust)
        hasher.combine(multiplexes)
        hasher.combine(login?.url)
    }
}
