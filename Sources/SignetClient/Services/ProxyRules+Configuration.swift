import SignetJSON
import SignetTransport
import SignetVault

extension ProxyRules {
    /// Reads `proxy.url`, `proxy.credentials` and `proxy.noProxy`; none if `proxy.url` has no
    /// value.
    ///
    /// - Throws: `invalid-configuration`, naming the key: also for credentials in the URL, and for
    ///   `proxy.credentials` that the schema makes public.
    init(_ configuration: GlobalConfiguration) throws(ClientError) {
        let reader = SettingsReader(configuration)
        guard let url = try reader.read("proxy.url", as: String.self) else {
            self = .none
            return
        }
        var proxy: Proxy
        do throws(TransportError) {
            proxy = try Proxy(parsing: url)
        } catch {
            throw reader.invalid("proxy.url", reason: "cannot be used: \(error.message)")
        }
        if let credentials = try reader.read("proxy.credentials", as: String.self) {
            guard configuration.schema.rule(named: "proxy.credentials")?.isPublic == false else {
                throw reader.invalid(
                    "proxy.credentials", reason: "is public, expected a secret key")
            }
            do throws(TransportError) {
                try proxy.setCredentials(Array(credentials.utf8))
            } catch {
                throw reader.invalid(
                    "proxy.credentials", reason: "cannot be used: \(error.message)")
            }
        }
        let list = try reader.read("proxy.noProxy", as: [String].self) ?? []
        self.init(proxy, except: ProxyExceptions(parsing: list.joined(separator: ",")))
    }
}
