import SignetTransport

/// The key of a loop. Calls with equal keys share a loop; of these, calls with the same trust share
/// its connections and TLS sessions.
struct PoolKey: Sendable, Hashable {
    /// An HTTP proxy with credentials; otherwise `nil`.
    ///
    /// libcurl's pool compares the credentials of SOCKS proxies, but those of HTTP proxies only
    /// since the fix for CVE-2026-3784. Before, it sent calls with other credentials, or with none,
    /// through a tunnel that one login had opened.
    private let login: Proxy?
    /// Whether calls share connections over HTTP/2. Through an HTTPS proxy, each has its own
    /// connection.
    ///
    /// If a TLS record of such a proxy contains several responses, libcurl 7.88 reads the one that
    /// a call waits for, and the others only after the socket's next event, which may never happen.
    /// A separate loop also separates the proxy's TLS sessions and CAs from those of hosts.
    let multiplexes: Bool
    /// The CAs that handshakes with an HTTPS proxy trust; `nil` without an HTTPS proxy.
    private let proxyTrust: TrustStore?

    /// Creates the key of a call.
    init(proxy: Proxy?) {
        multiplexes = proxy?.kind != .https
        login = proxy.flatMap { $0.kind.isHTTP && $0.hasCredentials ? $0 : nil }
        proxyTrust = proxy.flatMap {
            $0.kind == .https ? TrustStore(caFile: $0.caFile, authorities: nil) : nil
        }
    }

    static func == (left: PoolKey, right: PoolKey) -> Bool {
        left.proxyTrust == right.proxyTrust
            && left.multiplexes == right.multiplexes && left.hasSameLogin(as: right)
    }

    /// Whether two keys differ at most in the versions of their CA files.
    func isVersion(of other: PoolKey) -> Bool {
        guard multiplexes == other.multiplexes, hasSameLogin(as: other) else { return false }
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
        hasher.combine(multiplexes)
        hasher.combine(login?.url)
    }
}
