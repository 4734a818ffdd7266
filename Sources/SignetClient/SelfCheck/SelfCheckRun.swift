import SignetBase
package import SignetCrypto
import SignetCurl
package import SignetPinning
package import SignetTransport
package import SignetVault

/// The parts of a self-check that a running system and a folder of files have in common.
package struct SelfCheckRun {
    package var report = SelfCheckReport()
    /// Unix seconds, for dates of keys, pins and certificates.
    package let now: Int64
    /// Unix seconds. A certificate, a rule or a key that ends before is a warning.
    let soon: Int64

    /// 30 days in seconds.
    package static let horizon: Int64 = 30 * 86_400

    package init(now: Int64, horizon: Int64 = Self.horizon) {
        self.now = now
        let (soon, isBeyond) = now.addingReportingOverflow(horizon)
        self.soon = isBeyond ? .max : soon
    }

    // MARK: The program itself

    package mutating func checkPrimitives() {
        for test in SelfTest.run() {
            report.add(
                area: "crypto", subject: test.name, status: test.passed ? .good : .bad,
                detail: test.passed ? "gives the known answer" : "gives a wrong answer",
                remedy: test.passed
                    ? nil
                    : "do not use this machine's OpenSSL; reinstall libssl3, then repeat the check")
        }
    }

    mutating func checkMode(_ mode: ModeSettings) {
        report.add(
            area: "mode", subject: "run mode", status: .good,
            detail: mode.mode.rawValue
                + (mode.isSwitchable
                    ? "; a debug build, which may switch"
                    : "; a release build, which cannot switch"))
        for key in mode.ignored {
            // The host of an environment that isn't in use isn't a problem.
            report.add(
                area: "mode", subject: key,
                status: key.startsWithBytes(of: "services.") ? .good : .warning,
                detail: "is set and ignored"
                    + (mode.isSwitchable ? " in production" : ", because the build cannot switch"))
        }
        for key in mode.simulation.keys {
            report.add(
                area: "mode", subject: key, status: .warning,
                detail: "takes effect: calls fail by simulation")
        }
    }

    // MARK: Configuration

    /// The services that a system of a configuration would have, and how it would reach them.
    package struct Services {
        package fileprivate(set) var all: [ServiceName: ServiceConfiguration] = [:]
        /// Whether `simulation.offline` makes every call fail.
        package fileprivate(set) var isOffline = false
        /// Nil if the configuration has none.
        package fileprivate(set) var proxies: ProxyRules?
    }

    /// Reads a configuration as a system would at its start.
    package mutating func check(_ configuration: GlobalConfiguration?) -> Services {
        guard let configuration else {
            checkMode(ModeSettings())
            return Services()
        }
        do throws(ClientError) {
            let mode = try ModeSettings(configuration)
            let services = try ServiceConfiguration.all(
                in: configuration, mode: mode.mode, adapters: nil, checks: nil)
            for var service in services.values { try service.applyDefaultSets() }
            _ = try URLRules(configuration)
            _ = try CallSettings(configuration)
            _ = try EngineSettings(configuration)
            let proxies = try ProxyRules(configuration)
            report.add(
                area: "configuration", subject: "services", status: .good,
                detail: "services are valid: \(services.count)")
            check(services.map { ($0, $1) }.sorted { $0.0.name < $1.0.name })
            checkMode(mode)
            return Services(
                all: services, isOffline: mode.simulation.isOffline,
                proxies: proxies.https == nil ? nil : proxies)
        } catch {
            report.add(
                area: "configuration", subject: "services", status: .bad,
                detail: "\(error.code.name): \(error.message)",
                remedy: "fix the value, and seal the configuration again")
            checkMode(ModeSettings())
            return Services()
        }
    }

    // MARK: Keys and pins

    package mutating func check(_ keys: KeySet) {
        for key in keys.keys {
            do {
                try key.requireUsable(at: now)
            } catch {
                report.add(
                    area: "keys", subject: key.id, status: .warning, detail: error.message,
                    remedy: "make a new key, and remove this one once nothing uses it")
                continue
            }
            if let count = key.shortHMACByteCount {
                report.add(
                    area: "keys", subject: key.id, status: .warning,
                    detail:
                        "has \(count) bytes: rfc9421 and salted-hmac-v1 refuse HMAC keys of fewer than"
                        + " \(CryptoKey.minimumHMACByteCount)",
                    remedy: "make a new key with signet keys new, unless a partner chose this one")
            } else if let expires = key.expires, expires < soon {
                report.add(
                    area: "keys", subject: key.id, status: .warning,
                    detail: "ends \(UnixTime.rfc3339(expires))",
                    remedy: "make the next key now, so that both overlap")
            } else {
                report.add(area: "keys", subject: key.id, status: .good, detail: "may be used")
            }
        }
    }

    /// Checks the dates of client certificates.
    mutating func check(_ services: some Sequence<(ServiceName, ServiceConfiguration)>) {
        for (name, service) in services {
            guard let certificate = service.clientCertificate else { continue }
            let end = UnixTime.rfc3339(certificate.notAfter)
            let (status, detail): (SelfCheckReport.Status, String) =
                if certificate.notAfter < now {
                    (.bad, "expired \(end)")
                } else if certificate.notBefore > now {
                    (.bad, "is valid from \(UnixTime.rfc3339(certificate.notBefore))")
                } else {
                    (certificate.notAfter < soon ? .warning : .good, "ends \(end)")
                }
            report.add(
                area: "client certificates", subject: name.name, status: status,
                detail: "\(certificate.subject) \(detail)",
                remedy: status == .good
                    ? nil : "renew the certificate; a running program takes a changed file")
        }
    }

    package mutating func check(_ policy: PinPolicy) {
        for rule in policy.rules {
            let subject = rule.pattern.description
            if rule.isExclusion {
                report.add(
                    area: "pins", subject: subject, status: .good,
                    detail: "excluded; checked by CA and host name only")
            } else if rule.hasExpired(at: now) {
                report.add(
                    area: "pins", subject: subject, status: .bad,
                    detail: "expired \(rule.expires?.text ?? "")",
                    remedy: "review the pins (signet pins show) and set a later date")
            } else if rule.hasExpired(at: soon) {
                report.add(
                    area: "pins", subject: subject, status: .warning,
                    detail: "ends \(rule.expires?.text ?? "")",
                    remedy: "review the pins (signet pins show) and set a later date")
            } else if rule.pins.count < 2 {
                report.add(
                    area: "pins", subject: subject, status: .warning,
                    detail: "one pin and no backup",
                    remedy: "add the pin of a key kept in reserve, before the host's key is lost")
            } else {
                report.add(
                    area: "pins", subject: subject, status: .good, detail: "\(rule.pins.count) pins"
                )
            }
        }
        if policy.unlisted == .allow {
            report.add(
                area: "pins", subject: "unlisted hosts", status: .warning,
                detail: "are called without pins",
                remedy: "set \"unlisted\":\"refuse\"")
        }
    }

    // MARK: Fetched values

    /// Opens the last good values as a start would.
    package mutating func check(_ place: FetchPlan.StoredValues, schema: Schema) {
        do {
            let found = try LastGoodValues(place: place, schema: schema, now: now).read()
            report.add(
                area: "fetch", subject: "last good", status: .good,
                detail: "\(found.values.count) values, sealed \(found.kept.sealedAt), "
                    + "number \(found.kept.sequence)")
        } catch {
            report.add(
                area: "fetch", subject: "last good", status: .warning,
                detail: "\(error.code.name): \(error.message)",
                remedy: "the next good fetch seals new ones, unless another program uses the file")
        }
    }

    mutating func check(_ fetch: FetchReport) {
        let source =
            switch fetch.source {
            case .fetched: "runs with fetched values"
            case .lastGood: "runs with the last good values"
            case .none: "runs with defaults and launch values"
            }
        if let failure = fetch.failure {
            report.add(
                area: "fetch", subject: "last fetch", status: .warning,
                detail: "\(source); \(failure.code): \(failure.message)",
                remedy: "fix the service that is asked, or its responses")
        } else {
            report.add(area: "fetch", subject: "last fetch", status: .good, detail: source)
        }
        if let failure = fetch.keepingFailure {
            report.add(
                area: "fetch", subject: "keeping", status: .warning,
                detail: "\(failure.code): \(failure.message)",
                remedy: "fix the file of last good values, or move it away")
        }
    }

    // MARK: Hosts

    /// A host to check.
    package struct Host {
        let authority: Authority
        /// The client certificate of the first service there that has one.
        fileprivate(set) var clientCertificate: ClientCertificate?
    }

    /// Makes a TLS handshake with each host and checks its certificates against the pins; no
    /// request is sent.
    package mutating func checkHosts(
        _ hosts: [Host], engine: any HTTPEngine, policy: PinPolicy,
        connectTo: [EngineRequest.ConnectTo], proxies: ProxyRules, timeout: Duration
    ) async {
        for host in hosts {
            await checkHost(
                host, engine: engine, policy: policy, connectTo: connectTo, proxies: proxies,
                timeout: timeout)
        }
    }

    private mutating func checkHost(
        _ host: Host, engine: any HTTPEngine, policy: PinPolicy,
        connectTo: [EngineRequest.ConnectTo], proxies: ProxyRules, timeout: Duration
    ) async {
        let authority = host.authority
        let subject = authority.description
        let proxy = proxies.proxy(for: WebOrigin(https: authority))
        let way = proxy.map { "; through the proxy \($0)" } ?? ""
        do throws(TransportError) {
            let seen = try await engine.probe(
                authority, connectTo: connectTo, proxy: proxy, timeout: timeout, policy: policy,
                clientCertificate: host.clientCertificate)
            guard seen.isTrusted else {
                report.add(
                    area: "hosts", subject: subject, status: .bad,
                    detail: seen.reason ?? "the certificate is not trusted",
                    remedy: "fix the host's certificate, or the CA file")
                return
            }
            let verdict = policy.verdict(for: authority.host, chain: seen.chain, now: now)
            if let refusal = verdict.refusal {
                report.add(
                    area: "hosts", subject: subject, status: .bad, detail: refusal.message,
                    remedy: "if the host's owner changed its keys, update the policy",
                    pinRefusal: refusal)
                return
            }
            if let finding = verdict.finding {
                report.add(
                    area: "hosts", subject: subject, status: .warning, detail: finding.message,
                    remedy: "fix the policy", pinRefusal: finding)
            }
            let ends = ends(of: seen.chain)
            if !ends.isEmpty {
                report.add(
                    area: "hosts", subject: subject, status: .warning,
                    detail: ends.joined(separator: ", "),
                    remedy: "renew it; signet pins plan says whether its next key is pinned")
            } else if verdict.finding == nil {
                report.add(
                    area: "hosts", subject: subject, status: .good,
                    detail: (verdict.isMatch
                        ? "shows a pinned key" : "is trusted, without pins") + way
                )
            }
        } catch  where error.code == .unsupportedProbe {
            report.add(area: "hosts", subject: subject, status: .skipped, detail: error.message)
        } catch {
            report.add(
                area: "hosts", subject: subject, status: .bad, detail: error.message,
                remedy: error.isOfProxy
                    ? "fix the proxy, or its settings"
                    : error.code == .clientCertificate
                        ? "renew the client certificate"
                        : "look at the host with: signet pins show https://\(subject)")
        }
    }

    /// Returns the certificates of a chain that end soon, with their ends.
    private func ends(of chain: [SeenCertificate]) -> [String] {
        chain.compactMap { certificate in
            let parsed = try? X509Parser.certificates(certificate.der).first
            guard let end = parsed?.notAfter, end < soon else { return nil }
            return "the certificate \(printable(certificate.subject)) ends \(UnixTime.rfc3339(end))"
        }
    }

    /// Returns the hosts of services with their ports, and the policy's other exact hosts.
    package static func hosts(
        of services: [ServiceName: ServiceConfiguration], policy: PinPolicy
    ) -> [Host] {
        let services = services.sorted { $0.key.name < $1.key.name }.map(\.value)
        var hosts: [Host] = []
        func authority(_ service: ServiceConfiguration) -> Authority? {
            guard let url = try? WebURL(service.baseURL), url.scheme == "https" else {
                return nil
            }
            return try? Authority(parsing: url.authority)
        }
        for service in services where !service.mayShareItsHostsPins {
            guard let authority = authority(service) else { continue }
            let certificate = service.clientCertificate
            if let index = hosts.firstIndex(where: { $0.authority == authority }) {
                hosts[index].clientCertificate = hosts[index].clientCertificate ?? certificate
            } else {
                hosts.append(Host(authority: authority, clientCertificate: certificate))
            }
        }
        func addUnlessHostIsThere(_ authority: Authority) {
            if !hosts.contains(where: { $0.authority.host == authority.host }) {
                hosts.append(Host(authority: authority))
            }
        }
        // Content delivery shows the same keys as a service of its host.
        for service in services where service.mayShareItsHostsPins {
            if let authority = authority(service) { addUnlessHostIsThere(authority) }
        }
        for rule in policy.rules where !rule.isExclusion && rule.pattern.scope == .exact {
            addUnlessHostIsThere(Authority(host: rule.pattern.host))
        }
        return hosts.sorted { $0.authority.description < $1.authority.description }
    }
}

extension TransportError {
    /// Whether the way to the host ended at a proxy.
    fileprivate var isOfProxy: Bool {
        [.proxy, .proxyRefused, .proxyAuthentication].contains(code)
    }
}
