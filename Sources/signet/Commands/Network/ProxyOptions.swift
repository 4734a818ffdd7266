#if Tool
import ArgumentParser
import SignetCrypto
import SignetSystem
import SignetTransport

/// The proxies: those of the options, or else of the environment.
struct ProxyOptions: ParsableArguments {
    @Option(
        name: .customLong("proxy"),
        help: ArgumentHelp(
            """
            Use this proxy: http, https, socks4a, socks5 or socks5h; empty for none. Without it, \
            https_proxy (or HTTPS_PROXY), http_proxy and no_proxy of the environment are used.
            """,
            valueName: "url"))
    var proxyURL: String?

    @Option(
        name: .customLong("no-proxy"),
        help: "Hosts without a proxy: names, addresses, 10.0.0.0/8, fd00::/8 or *, with commas."
    )
    var noProxy: String?

    @Option(
        name: .customLong("proxy-credentials"),
        help:
            "USER:PASSWORD of the proxy: FILE, env:NAME, fd:N, credential:NAME or command:LINE.",
        completion: .file())
    var proxyCredentials: String?

    @Option(
        name: .customLong("proxy-ca-file"),
        help:
            "Trust the CAs of this PEM file, and no others, for an HTTPS proxy's own certificate.",
        completion: .file())
    var proxyCAFile: String?

    /// Whether an option names the proxy.
    var namesProxy: Bool { proxyURL != nil }

    /// The proxies.
    ///
    /// - Throws: `TransportError` for an invalid proxy, `ToolError` for credentials without one.
    func rules() throws -> ProxyRules {
        var rules: ProxyRules
        if let proxyURL {
            rules = ProxyRules(proxyURL.isEmpty ? nil : try Proxy(parsing: proxyURL))
        } else {
            var environment: [String: String] = [:]
            for name in ["https_proxy", "HTTPS_PROXY", "http_proxy", "no_proxy", "NO_PROXY"] {
                environment[name] = try Environment[name]
            }
            rules = try ProxyRules(environment: environment)
        }
        if let noProxy { rules.exceptions = ProxyExceptions(parsing: noProxy) }
        if let proxyCredentials {
            guard rules.https != nil || rules.http != nil else {
                throw ToolError.usage("--proxy-credentials needs a proxy")
            }
            let secret = try KeySource(proxyCredentials).loadSecret(
                "USER:PASSWORD", limit: 1024)
            let span = secret.bytes
            let text = span.indices.map { span[$0] }
            try rules.https?.setCredentials(text)
            try rules.http?.setCredentials(text)
        }
        if let proxyCAFile {
            rules.https?.caFile = proxyCAFile
            rules.http?.caFile = proxyCAFile
        }
        return rules
    }
}
#endif
