#if Tool
import SignetBase
import SignetClient
import SignetCrypto
import SignetCurl
import SignetPinning
import SignetSystem
import SignetTransport
import SignetVault

/// Checks that a program and the files of its project are fit to work: from the primitives up to
/// the pinned hosts. `NetworkSystem.selfCheck` does the same from inside a running system.
///
/// The check changes nothing, and its report contains nothing from inside dumps and key files. It
/// makes the test calls of the configuration.
struct ProjectCheck: Sendable {
    /// The project, which names the files.
    var project: ProjectFile
    /// Whether hosts and test calls are left out.
    var isOffline: Bool
    /// The time for one host.
    var hostTimeout: Duration
    /// Seconds from now. A certificate of a host, a pin rule or a key that ends within them is a
    /// warning.
    var horizon = SelfCheckRun.horizon
    /// The proxies that hosts are reached through; nil for the configuration's (`proxy.…`).
    var proxies: ProxyRules?
    /// The proxies if the configuration has none, or if there is no configuration; the tool gives
    /// those of the environment.
    var otherProxies = ProxyRules.none

    /// Prepares a check.
    init(
        of project: ProjectFile = ProjectFile(), isOffline: Bool = false,
        hostTimeout: Duration = .seconds(10)
    ) {
        self.project = project
        self.isOffline = isOffline
        self.hostTimeout = hostTimeout
    }

    /// Runs every check; one that fails does not stop the others.
    ///
    /// - Parameter now: Unix seconds, for dates of keys and pins; nil means now.
    func run(now: Int64? = nil) async -> SelfCheckReport {
        var run = SelfCheckRun(now: now ?? UnixTime.now(), horizon: horizon)
        run.checkPrimitives()
        let engine = checkLibcurl(&run)
        let keys = checkKeys(&run)
        let (schema, defaults) = checkSchema(&run)
        let sealing = sealing(&run, keys: keys)
        let dumped = checkDump(&run, schema: schema, sealing: sealing)
        // Without a dump, the program runs with what is built in.
        let configuration = project.dump == nil ? defaults : dumped
        let services = run.check(configuration)
        checkLastGood(&run, schema: schema, sealing: sealing)
        let policy = checkPolicy(&run)
        await checkHosts(&run, engine: engine, services: services, policy: policy)
        await engine?.shutdown()
        // An invalid one has a line already.
        if let configuration, !services.all.isEmpty {
            await run.makeTestCalls(
                of: configuration, services: services, keys: keys, policy: policy,
                options: options(services), isOffline: isOffline)
        }
        return run.report
    }

    // MARK: Files

    private func checkLibcurl(_ run: inout SelfCheckRun) -> CurlEngine? {
        do {
            var settings = EngineSettings()
            settings.caFile = project.caFile
            let engine = try CurlEngine(settings)
            run.report.add(
                area: "libcurl", subject: engine.capabilities.name, status: .good,
                detail: "uses the program's own OpenSSL")
            return engine
        } catch {
            run.report.add(
                area: "libcurl", subject: "engine", status: .bad, detail: error.message,
                remedy: "install libcurl4 (libcurl with OpenSSL), or fix the CA file")
            return nil
        }
    }

    private func checkKeys(_ run: inout SelfCheckRun) -> KeySet? {
        guard let source = project.keys else {
            run.report.add(
                area: "keys", subject: "key set", status: .skipped, detail: "the project names none"
            )
            return nil
        }
        do {
            let keys = try KeySource(source).load(identity: project.identity)
            run.report.add(
                area: "keys", subject: "key set", status: .good,
                detail: "\(keys.keys.count) keys; "
                    + (keys.isShared ? "a shared set" : "only the owner can read the file"))
            run.check(keys)
            return keys
        } catch {
            let isNoRecipient = [.missingIdentity, .notARecipient].contains(error.code)
            run.report.add(
                area: "keys", subject: "key set", status: .bad, detail: error.message,
                remedy: isNoRecipient
                    ? "until then the secrets stay closed; if a lost identity may be in other hands, "
                        + "rotate the root too"
                    : "fix the file, or restore it from a copy; a new key doesn't open the dump")
            return nil
        }
    }

    private func checkSchema(
        _ run: inout SelfCheckRun
    ) -> (schema: Schema?, defaults: GlobalConfiguration?) {
        guard let file = project.schema else {
            run.report.add(
                area: "schema", subject: "schema", status: .skipped,
                detail: "the project names none")
            return (nil, nil)
        }
        let schema: Schema
        do {
            schema = try Schema(contentsOf: file)
        } catch {
            run.report.add(
                area: "schema", subject: "schema", status: .bad, detail: error.message,
                remedy: "fix the schema")
            return (nil, nil)
        }
        run.report.add(
            area: "schema", subject: "schema", status: .good, detail: "\(schema.keys.count) keys")
        guard let defaults = project.defaults else { return (schema, nil) }
        do {
            let configuration = try GlobalConfiguration(schema: schema, defaults: .file(defaults))
            if let clear = ClearSecrets(in: defaults, schema: schema) {
                run.report.add(
                    area: "schema", subject: "defaults",
                    status: project.dump == nil ? .warning : .bad, detail: "\(clear)",
                    remedy:
                        "signet vault seal moves them into the dump; replace values that others "
                        + "may have read")
            } else {
                run.report.add(
                    area: "schema", subject: "defaults", status: .good, detail: "fit the schema")
            }
            return (schema, configuration)
        } catch {
            run.report.add(
                area: "schema", subject: "defaults", status: .bad, detail: error.message,
                remedy: "fix the defaults")
            return (schema, nil)
        }
    }

    /// Returns the keys that open the project's dumps, for the running versions.
    private func sealing(_ run: inout SelfCheckRun, keys: KeySet?) -> SealingCredentials? {
        guard let appID = project.appID, let appVersion = project.appVersion else { return nil }
        let binding = VersionBinding(
            app: appID, version: appVersion,
            systemVersion: project.systemVersion ?? SignetVersion.current)
        if let source = project.passphrase {
            do {
                let passphrase = try Passphrase(KeySource(source))
                return SealingCredentials(keys: .passphrase(passphrase), binding: binding)
            } catch {
                run.report.add(
                    area: "keys", subject: "passphrase", status: .bad, detail: error.message,
                    remedy: "fix the source of the passphrase")
                return nil
            }
        }
        return keys.map { SealingCredentials(keys: .keys($0), binding: binding) }
    }

    private func checkDump(
        _ run: inout SelfCheckRun, schema: Schema?, sealing: SealingCredentials?
    ) -> GlobalConfiguration? {
        guard let path = project.dump else {
            run.report.add(
                area: "dump", subject: "dump", status: .skipped, detail: "the project names none")
            return nil
        }
        let dump: SealedDump
        do {
            dump = try SealedDump(contentsOf: path)
        } catch {
            run.report.add(
                area: "dump", subject: "form", status: .bad, detail: error.message,
                remedy: "seal it again: signet vault seal --replace")
            return nil
        }
        run.report.add(
            area: "dump", subject: "form", status: .good, detail: "well-formed, key \(dump.keyID)")
        guard let sealing else {
            run.report.add(
                area: "dump", subject: "opening", status: .skipped,
                detail: "the project needs keys that can be read, and app",
                remedy: "name keys and app in the project file")
            return nil
        }
        let opened: OpenedDump
        do {
            opened = try dump.open(with: sealing.keys, for: sealing.binding, now: run.now)
        } catch {
            run.report.add(
                area: "dump", subject: "opening", status: .bad, detail: error.message,
                remedy: "after an upgrade: signet vault rebind; else restore the key from a copy, "
                    + "because signet vault seal --replace keeps no secret of this dump")
            return nil
        }
        run.report.add(
            area: "dump", subject: "opening", status: .good,
            detail: "sealed \(opened.sealedAt), number \(opened.sequence), for the running versions"
        )
        checkState(&run, path: path, opened: opened, sealing: sealing)
        guard let schema else { return nil }
        do {
            let configuration = try GlobalConfiguration(restoring: opened, schema: schema)
            run.report.add(
                area: "dump", subject: "schema", status: .good,
                detail: "\(configuration.count) values fit the schema")
            checkValues(&run, contents: DumpContents(opened), schema: schema)
            return configuration
        } catch {
            run.report.add(
                area: "dump", subject: "schema", status: .bad, detail: error.message,
                remedy: "seal the configuration again with the current schema")
            return nil
        }
    }

    /// Reports the keys of the schema that have no value, since none of them is required.
    private func checkValues(_ run: inout SelfCheckRun, contents: DumpContents, schema: Schema) {
        let unset = contents.namesWithoutValue(of: schema.keys)
        guard !unset.isEmpty else { return }
        run.report.add(
            area: "dump", subject: "values", status: .good,
            detail: "no value: \(unset.joined(separator: ", "))")
    }

    private func checkState(
        _ run: inout SelfCheckRun, path: String, opened: OpenedDump, sealing: SealingCredentials
    ) {
        guard let state = project.state else { return }
        do {
            let checked = try DumpFile(path, state: state)
                .checked(opened, with: sealing.keys, recording: false)
            if checked.rollback?.isFirstUse == true {
                run.report.add(
                    area: "dump", subject: "state", status: .warning,
                    detail: "has no entry for this app, or was removed",
                    remedy: "open the dump once with signet vault open --state, when it is trusted")
            } else {
                run.report.add(
                    area: "dump", subject: "state", status: .good,
                    detail: "no newer dump of this app was seen")
            }
        } catch {
            run.report.add(
                area: "dump", subject: "state", status: .bad,
                detail: "\(error.code.name): \(error.message)",
                remedy: "find out who put an older dump back, or changed the state file")
        }
    }

    private func checkLastGood(
        _ run: inout SelfCheckRun, schema: Schema?, sealing: SealingCredentials?
    ) {
        guard let path = project.lastGood else { return }
        guard let schema, let sealing else {
            run.report.add(
                area: "fetch", subject: "last good", status: .skipped,
                detail: "the project needs schema, keys and app")
            return
        }
        run.check(FetchPlan.StoredValues(file: DumpFile(path), sealing: sealing), schema: schema)
    }

    private func checkPolicy(_ run: inout SelfCheckRun) -> PinPolicy? {
        guard let file = project.policy else {
            run.report.add(
                area: "pins", subject: "policy", status: .skipped, detail: "the project names none")
            return nil
        }
        let message: String
        do {
            let policy = try PinPolicy(
                parsing: InputFile.read(file, limit: 16 << 20),
                filesIn: project.namesAnyFile ? InputFile.folder(of: file) : nil)
            run.check(policy)
            return policy
        } catch let error as PinError {
            message = error.message
        } catch let error as FileFailure {
            message = error.message
        } catch {
            message = "it cannot be read"
        }
        run.report.add(
            area: "pins", subject: "policy", status: .bad, detail: message,
            remedy: "fix the policy")
        return nil
    }

    private func checkHosts(
        _ run: inout SelfCheckRun, engine: CurlEngine?, services: SelfCheckRun.Services,
        policy: PinPolicy?
    ) async {
        if isOffline || services.isOffline {
            run.report.add(
                area: "hosts", subject: "hosts", status: .skipped,
                detail: isOffline ? "offline" : "offline, as simulation.offline says")
            return
        }
        guard let engine, let policy else {
            run.report.add(
                area: "hosts", subject: "hosts", status: .skipped,
                detail: "there is no policy, or no libcurl")
            return
        }
        let addresses: [EngineRequest.ConnectTo]
        do throws(TransportError) {
            addresses = try self.addresses()
        } catch {
            run.report.add(
                area: "hosts", subject: "connectTo", status: .bad, detail: error.message,
                remedy: "fix the project file")
            return
        }
        await run.checkHosts(
            SelfCheckRun.hosts(of: services.all, policy: policy), engine: engine,
            policy: policy, connectTo: addresses,
            proxies: proxies ?? services.proxies ?? otherProxies, timeout: hostTimeout)
    }

    private func addresses() throws(TransportError) -> [EngineRequest.ConnectTo] {
        try project.connectTo.map { text throws(TransportError) in try .init(parsing: text) }
    }

    /// The options of the program's system, as far as the project has them.
    private func options(_ services: SelfCheckRun.Services) -> NetworkSystem.Options {
        var options = NetworkSystem.Options()
        options.caFile = project.caFile
        options.connectTo = (try? addresses()) ?? []
        options.proxies = proxies ?? services.proxies ?? otherProxies
        return options
    }
}
#endif
