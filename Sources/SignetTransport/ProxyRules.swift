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
