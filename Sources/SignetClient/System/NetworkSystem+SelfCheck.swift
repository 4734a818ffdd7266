import SignetBase
import SignetCrypto
import SignetPinning
import SignetTransport
import SignetVault

// MARK: - Self-check

extension NetworkSystem {
    /// Checks a running system from inside, where its keys and configuration are: primitives, keys,
    /// the sealed dump that monitoring gets, the last good values, mode, last fetch, pins and
    /// hosts, and makes the test calls of the configuration (``Probe``).
    ///
    /// With hosts there is only a TLS handshake, through their proxies. No other request is sent
    /// than the test calls, and nothing is changed.
    ///
    /// - Parameters:
    ///   - isOffline: Whether hosts and test calls are left out.
    ///   - hostTimeout: The time for one host.
    ///   - now: Unix seconds for the dates of keys and pins; nil is the clock's.
    /// - Returns: The findings, without values of the configuration or keys.
    public func selfCheck(
        isOffline: Bool = false, hostTimeout: Duration = .seconds(10), now: Int64? = nil
    ) async -> SelfCheckReport {
        var run = SelfCheckRun(now: now ?? UnixTime.now())
        let snapshot = snapshots.current
        run.report.add(
            area: "system", subject: "network system", status: calls.isRunning ? .good : .bad,
            detail: calls.isRunning
                ? "takes calls; \(snapshot.services.count) services" : "is shut down",
            remedy: calls.isRunning ? nil : "start another")
        run.checkPrimitives()
        run.report.add(
            area: "libcurl", subject: engines.standard.capabilities.name, status: .good,
            detail: "carries the calls")
        if let keys = snapshot.keys {
            run.check(keys)
        } else {
            run.report.add(
                area: "keys", subject: "key set", status: .skipped,
                detail: "the system was given none")
        }
        run.check(
            snapshot.services.map { ($0, $1.configuration) }.sorted { $0.0.name < $1.0.name })
        checkDump(&run, snapshot: snapshot)
        run.checkMode(snapshot.mode)
        if let fetch = lastFetch { run.check(fetch) }
        if let place = fetcher?.request.plan.lastGood, let schema = snapshot.configuration?.schema {
            run.check(place, schema: schema)
        }
        if let policy = snapshot.policy {
            run.check(policy)
        } else {
            run.report.add(
                area: "pins", subject: "policy", status: .skipped,
                detail: "the system was given none")
        }
        await checkHosts(&run, snapshot: snapshot, isOffline: isOffline, timeout: hostTimeout)
        let reason =
            snapshot.mode.reasonToSkipCalls(isOffline: isOffline)
            ?? (calls.isRunning ? nil : "the system is shut down")
        await run.check(snapshot.probes, skipping: reason, through: pipeline)
        return run.report
    }

    /// Seals the configuration as for monitoring, opens it again and checks it against the schema.
    private func checkDump(_ run: inout SelfCheckRun, snapshot: SystemSnapshot) {
        guard let configuration = snapshot.configuration else {
            run.report.add(
                area: "dump", subject: "dump", status: .skipped,
                detail: "the system has no configuration")
            return
        }
        guard let sealing = options.sealing else {
            run.report.add(
                area: "dump", subject: "dump", status: .skipped,
                detail: "the options have no keys for sealing")
            return
        }
        do throws(VaultError) {
            let dump = try configuration.seal(
                with: sealing.keys, keyID: sealing.keyID, for: sealing.binding, now: run.now)
            let opened = try dump.open(with: sealing.keys, for: sealing.binding, now: run.now)
            let restored = try GlobalConfiguration(
                restoring: opened, schema: configuration.schema)
            let isSame = restored.values == configuration.values
            run.report.add(
                area: "dump", subject: "sealing", status: isSame ? .good : .bad,
                detail: isSame
                    ? "\(restored.count) values are sealed, open and fit the schema"
                    : "the opened values differ from the sealed ones",
                remedy: isSame ? nil : "do not trust this machine's OpenSSL or memory")
        } catch {
            run.report.add(
                area: "dump", subject: "sealing", status: .bad,
                detail: "\(error.code.name): \(error.message)",
                remedy: "fix the keys or the versions in the sealing option")
        }
    }

    private func checkHosts(
        _ run: inout SelfCheckRun, snapshot: SystemSnapshot, isOffline: Bool, timeout: Duration
    ) async {
        let reason = snapshot.mode.reasonToSkipCalls(isOffline: isOffline)
        guard reason == nil, let policy = snapshot.policy else {
            run.report.add(
                area: "hosts", subject: "hosts", status: .skipped,
                detail: reason ?? "there is no policy")
            return
        }
        let services = snapshot.services.mapValues(\.configuration)
        await run.checkHosts(
            SelfCheckRun.hosts(of: services, policy: policy), engine: engines.standard,
            policy: policy, connectTo: options.connectTo, proxies: snapshot.proxies,
            timeout: timeout)
    }
}
