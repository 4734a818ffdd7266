internal import SignetCrypto
internal import SignetCurl
internal import SignetJSON
internal import SignetPinning
internal import SignetTransport
internal import SignetVault

/// Checks that a program and its files are fit to work: from the primitives up to the pinned hosts.
///
/// Nothing is changed, and nothing of what is found in dumps and key files is told.
public struct SelfCheck: Sendable {
    /// Where the files are.
    public var project: SelfCheckProject
    /// Whether hosts are left out.
    public var isOffline: Bool
    /// How long one host may take.
    public var hostTimeout: Duration

    private static let soon: Int64 = 30 * 86400

    /// Prepares a check.
    public init(
        of project: SelfCheckProject = SelfCheckProject(), isOffline: Bool = false,
        hostTimeout: Duration = .seconds(10)
    ) {
        self.project = project
        self.isOffline = isOffline
        self.hostTimeout = hostTimeout
    }

    /// Runs every check; one that fails does not stop the others.
    ///
    /// - Parameter now: Unix seconds, for dates of keys and pins.
    public func run(now: Int64) async -> SelfCheckReport {
        var report = SelfCheckReport()
        checkPrimitives(&report)
        let engine = checkLibcurl(&report)
        let keys = checkKeys(&report, now: now)
        let schema = checkSchema(&report)
        let configuration = checkDump(&report, schema: schema, keys: keys, now: now)
        let policy = checkPolicy(&report, now: now)
        await checkHosts(
            &report, engine: engine, configuration: configuration, policy: policy, now: now)
        await engine?.shutdown()
        return report
    }

    // MARK: The program itself

    private func checkPrimitives(_ report: inout SelfCheckReport) {
        for answer in SelfTest.run() {
            report.add(
                "crypto", answer.name, answer.passed ? .good : .bad,
                answer.passed ? "gives the known answer" : "gives a wrong answer",
                remedy: answer.passed
                    ? nil : "do not use this machine's OpenSSL; reinstall libssl3 and try again")
        }
    }

    private func checkLibcurl(_ report: inout SelfCheckReport) -> CurlEngine? {
        do {
            var settings = CurlEngine.Configuration()
            settings.caFile = project.caFile
            let engine = try CurlEngine(settings)
            report.add("libcurl", engine.capabilities.name, .good, "uses the program's own OpenSSL")
            return engine
        } catch {
            report.add(
                "libcurl", "engine", .bad, error.message,
                remedy: "install libcurl4 (libcurl with OpenSSL), or mend the CA file")
            return nil
        }
    }

    // MARK: Files

    private func checkKeys(_ report: inout SelfCheckReport, now: Int64) -> KeySet? {
        guard let source = project.keys else {
            report.add("keys", "key set", .skipped, "the project names none")
            return nil
        }
        let keys: KeySet
        do {
            keys = try KeySource(source).load()
        } catch {
            report.add(
                "keys", "key set", .bad, error.message,
                remedy: "mend the file; signet keys new makes a fresh one")
            return nil
        }
        report.add("keys", "key set", .good, "\(keys.keys.count) keys, readable by the owner alone")
        for key in keys.keys {
            do {
                try key.requireUsable(at: now)
            } catch {
                report.add(
                    "keys", key.id, .warning, error.message,
                    remedy: "make a new key, and take this one out when nothing uses it")
                continue
            }
            if let expires = key.expires, expires - now < Self.soon {
                report.add(
                    "keys", key.id, .warning, "ends \(UnixTime.rfc3339(expires))",
                    remedy: "make the next key now, so that both overlap")
            } else {
                report.add("keys", key.id, .good, "may be used")
            }
        }
        return keys
    }

    private func checkSchema(_ report: inout SelfCheckReport) -> Schema? {
        guard let file = project.schema else {
            report.add("schema", "schema", .skipped, "the project names none")
            return nil
        }
        let schema: Schema
        do {
            schema = try Schema(parsing: InputFile.read(file, limit: 16 << 20))
        } catch {
            report.add("schema", "schema", .bad, message(of: error), remedy: "mend the schema")
            return nil
        }
        report.add("schema", "schema", .good, "\(schema.keys.count) keys")
        guard let defaults = project.defaults else { return schema }
        do {
            _ = try GlobalConfiguration(schema: schema, defaults: .file(defaults))
            report.add("schema", "defaults", .good, "fit the schema")
        } catch {
            report.add("schema", "defaults", .bad, error.message, remedy: "mend the defaults")
        }
        return schema
    }

    private func checkDump(
        _ report: inout SelfCheckReport, schema: Schema?, keys: KeySet?, now: Int64
    ) -> GlobalConfiguration? {
        guard let file = project.dump else {
            report.add("dump", "dump", .skipped, "the project names none")
            return nil
        }
        let dump: SealedDump
        do {
            dump = try SealedDump(contentsOf: file)
        } catch {
            report.add(
                "dump", "form", .bad, error.message, remedy: "seal it anew: signet vault seal")
            return nil
        }
        report.add("dump", "form", .good, "well-formed, key \(dump.keyID)")
        guard let keys, let appID = project.appID, let appVersion = project.appVersion else {
            report.add(
                "dump", "opening", .skipped, "the project needs keys that can be read, and app",
                remedy: "name keys and app in the project file")
            return nil
        }
        let running = VersionBinding(
            app: .init(appID, appVersion),
            system: .init(SignetVersion.systemID, project.systemVersion ?? SignetVersion.current))
        let opened: OpenedDump
        do {
            opened = try dump.open(with: keys, for: running, now: now)
        } catch {
            report.add(
                "dump", "opening", .bad, error.message,
                remedy: "after an upgrade: signet vault rebind; else seal it anew")
            return nil
        }
        report.add(
            "dump", "opening", .good,
            "sealed \(opened.sealedAt), number \(opened.sequence), for the running versions")
        guard let schema else { return nil }
        do {
            let configuration = try GlobalConfiguration(restoring: opened, schema: schema)
            report.add("dump", "schema", .good, "\(configuration.count) values fit the schema")
            return configuration
        } catch {
            report.add(
                "dump", "schema", .bad, error.message,
                remedy: "seal the configuration anew under today's schema")
            return nil
        }
    }

    // MARK: Pins

    private func checkPolicy(_ report: inout SelfCheckReport, now: Int64) -> PinPolicy? {
        guard let file = project.policy else {
            report.add("pins", "policy", .skipped, "the project names none")
            return nil
        }
        let policy: PinPolicy
        do {
            policy = try PinPolicy(parsing: InputFile.read(file, limit: 16 << 20))
        } catch {
            report.add("pins", "policy", .bad, message(of: error), remedy: "mend the policy")
            return nil
        }
        for rule in policy.rules {
            let subject = rule.pattern.description
            if rule.isExclusion {
                report.add("pins", subject, .good, "excluded; CA and host name decide")
            } else if rule.hasExpired(at: now) {
                report.add(
                    "pins", subject, .bad, "expired \(rule.expires?.text ?? "")",
                    remedy: "review the pins (signet pins show) and set a later date")
            } else if rule.hasExpired(at: now + Self.soon) {
                report.add(
                    "pins", subject, .warning, "ends \(rule.expires?.text ?? "")",
                    remedy: "review the pins (signet pins show) and set a later date")
            } else if rule.pins.count < 2 {
                report.add(
                    "pins", subject, .warning, "one pin and no backup",
                    remedy: "add the pin of a key kept in reserve, before the host's key is lost")
            } else {
                report.add("pins", subject, .good, "\(rule.pins.count) pins")
            }
        }
        if policy.unlisted == .allow {
            report.add(
                "pins", "unlisted hosts", .warning, "are spoken to without pins",
                remedy: "set \"unlisted\":\"refuse\"")
        }
        return policy
    }

    // MARK: Hosts

    private func checkHosts(
        _ report: inout SelfCheckReport, engine: CurlEngine?, configuration: GlobalConfiguration?,
        policy: PinPolicy?, now: Int64
    ) async {
        guard !isOffline else {
            report.add("hosts", "hosts", .skipped, "offline")
            return
        }
        guard let engine, let policy else {
            report.add("hosts", "hosts", .skipped, "there is no policy, or no libcurl")
            return
        }
        for authority in authorities(configuration, policy) {
            await checkHost(authority, &report, engine, policy, now)
        }
    }

    private func checkHost(
        _ authority: Authority, _ report: inout SelfCheckReport, _ engine: CurlEngine,
        _ policy: PinPolicy, _ now: Int64
    ) async {
        let subject = authority.description
        do {
            let addresses = try project.connectTo.map { text throws(TransportError) in
                try EngineRequest.ConnectTo(parsing: text)
            }
            let seen = try await engine.probe(
                authority, connectTo: addresses, timeout: hostTimeout)
            guard seen.isTrusted else {
                report.add(
                    "hosts", subject, .bad, seen.reason ?? "the certificate is not trusted",
                    remedy: "mend the host's certificate, or the project's caFile")
                return
            }
            let verdict = policy.verdict(for: authority.host, chain: seen.chain, now: now)
            if let refusal = verdict.refusal {
                report.add(
                    "hosts", subject, .bad, refusal.message,
                    remedy: "if the host's keys were changed by its owner, mend the policy")
            } else if let finding = verdict.finding {
                report.add(
                    "hosts", subject, .warning, finding.message, remedy: "mend the policy")
            } else {
                report.add(
                    "hosts", subject, .good,
                    verdict.isMatch ? "shows a pinned key" : "is trusted; nothing is pinned")
            }
        } catch {
            report.add(
                "hosts", subject, .bad, message(of: error),
                remedy: "look at the host with: signet pins show https://\(subject)")
        }
    }

    /// The hosts of the services, with their ports, and the policy's exact hosts that are none of
    /// them.
    private func authorities(
        _ configuration: GlobalConfiguration?, _ policy: PinPolicy
    ) -> [Authority] {
        var authorities: [Authority] = []
        let services =
            configuration.flatMap {
                try? ServiceConfiguration.all(in: $0, usesTestServers: false)
            } ?? [:]
        func authority(_ service: ServiceConfiguration) -> Authority? {
            guard let url = try? RequestURL(service.baseURL), url.scheme == "https" else {
                return nil
            }
            return try? Authority(parsing: url.authority)
        }
        for service in services.values where !service.mayShareItsHostsPins {
            guard let authority = authority(service), !authorities.contains(authority) else {
                continue
            }
            authorities.append(authority)
        }
        // Content delivery shows the same keys as a service of its host.
        for service in services.values where service.mayShareItsHostsPins {
            guard let authority = authority(service),
                !authorities.contains(where: { $0.host == authority.host })
            else { continue }
            authorities.append(authority)
        }
        for rule in policy.rules where !rule.isExclusion && rule.pattern.reach == .exact {
            if !authorities.contains(where: { $0.host == rule.pattern.host }) {
                authorities.append(Authority(host: rule.pattern.host))
            }
        }
        return authorities.sorted { $0.description < $1.description }
    }

    private func message(of error: any Error) -> String {
        switch error {
        case let error as VaultError: error.message
        case let error as PinError: error.message
        case let error as TransportError: error.message
        case let error as FileFailure: error.message
        default: "failed"
        }
    }
}
