/// Rules that choose the proxy of each request.
public struct ProxyRules: Sendable {
    /// The proxy for https URLs; `nil` connects directly.
    public var https: Proxy?
    /// The proxy for http URLs; `nil` connects directly.
    public var http: Proxy?
    /// The hosts that need no proxy.
    public var exceptions: ProxyExceptions

    /// Rules without any proxy, whatever the environment says.
    public static var none: ProxyRules { ProxyRules(nil) }

    /// Creates rules with one proxy for https and http URLs.
    public init(_ proxy: Proxy?, except exceptions: ProxyExceptions = ProxyExceptions()) {
        https = proxy
        http = proxy
        self.exceptions = exceptions
    }

    /// Creates rules from environment variables.
    ///
    /// `https_proxy` (or `HTTPS_PROXY`) is for https URLs, `http_proxy` for http URLs, and
    /// `no_proxy` (or `NO_PROXY`) lists the exceptions. A lower-case name takes precedence, even if
    /// it is empty. `HTTP_PROXY` isn't read, because a CGI server sets it from a client's `Proxy`
    /// field; `ALL_PROXY` isn't read either.
    ///
    /// - Throws: `TransportError` with code `invalid-request`. The message names the variable, not
    ///   its value.
    public init(environment: [String: String]) throws(TransportError) {
        func proxy(_ names: String...) throws(TransportError) -> Proxy? {
            for name in names {
                guard let text = environment[name] else { continue }
                if text.isEmpty { return nil }
                do throws(TransportError) {
                    return try Proxy(parsing: text, allowsCredentials: true)
                } catch {
                    throw TransportError(error.code, "\(name): \(error.message)")
                }
            }
            return nil
        }
        https = try proxy("https_proxy", "HTTPS_PROXY")
        http = try proxy("http_proxy")
        exceptions = ProxyExceptions(
            parsing: environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
    }

    /// Returns the proxy for an origin; `nil` if its requests connect directly.
    public func proxy(for origin: WebOrigin) -> Proxy? {
        guard let proxy = origin.isSecure ? https : http else { return nil }
        return exceptions.contains(origin.host, port: origin.port) ? nil : proxy
    }
}
