import SignetClient
import SignetCrypto
import SignetJSON
import SignetVault
import TestSupport
import Testing

/// The state that a running system gives to a monitoring program.
@Suite struct MonitorTests {
    private static func sealing(_ root: String = "Wlpa") throws -> SealingCredentials {
        SealingCredentials(
            keys: try FetchFixture.keys(root),
            binding: VersionBinding(app: FetchFixture.app, version: "1.4.2"))
    }

    private static func system(_ sealing: SealingCredentials?) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine()
        options.sealing = sealing
        return try await NetworkSystem.start(
            Settings.configuration(["app.runMode": "production"]), options: options)
    }

    @Test(.features("000-13")) func monitoringGetsTheCurrentSealedConfiguration() async throws {
        let sealing = try Self.sealing()
        let system = try await Self.system(sealing)
        let monitor = try #require(system.monitor)
        let first = try monitor.dump()
            .open(with: sealing.keys, for: sealing.binding)
        #expect(first.sequence == 1)
        try system.update(Settings.configuration(["timeouts.interactive": "2s"]))
        let second = try monitor.dump().open(with: sealing.keys, for: sealing.binding)
        #expect(second.sequence == 2)
        #expect(second.origins["timeouts.interactive"] == "defaults")
        #expect(first.origins["timeouts.interactive"] == nil)
        await system.shutdown()
    }

    @Test(.features("000-13")) func theMonitorsDumpOpensOnlyWithItsKey() async throws {
        let sealing = try Self.sealing()
        let system = try await Self.system(sealing)
        let monitor = try #require(system.monitor)
        var text = "\(monitor) \(monitor as Any)"
        dump(monitor, to: &text)
        dump(try monitor.dump(), to: &text)
        #expect(Mirror(reflecting: monitor).children.isEmpty)
        #expect(!text.contains("api.example.com"))
        #expect(!text.contains("WlpaWlpa"))
        let sealed = try monitor.dump()
        #expect(throws: VaultError.self) {
            try sealed.open(with: FetchFixture.keys("Wlpb"), for: sealing.binding)
        }
        #expect(throws: VaultError.self) {
            try sealed.open(
                with: sealing.keys,
                for: VersionBinding(app: FetchFixture.app, version: "1.5.0"))
        }
        await system.shutdown()
    }

    @Test func monitoringNeedsAKeyForSealing() async throws {
        let system = try await Self.system(nil)
        #expect(system.monitor == nil)
        await system.shutdown()
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine()
        options.sealing = try Self.sealing()
        let values = try await NetworkSystem.start(services: [:], policy: nil, options: options)
        let monitor = try #require(values.monitor)
        #expect(throws: ClientError.self) { try monitor.dump() }
        #expect(values.configuration == nil)
        await values.shutdown()
    }
}

/// The self-check of a running system.
@Suite struct RunningSelfCheckTests {
    private static func lines(
        _ report: SelfCheckReport, _ status: SelfCheckReport.Status
    ) -> [String] {
        report.lines.filter { $0.status == status }.map { "\($0.area) \($0.subject)" }
    }

    @Test(.features("000-14")) func aWholeSystemIsGood() async throws {
        var fixture = try await FetchFixture()
        fixture.options.sealing = fixture.plan.lastGood?.sealing
        let system = try await fixture.start()
        let report = await system.selfCheck()
        #expect(report.isGood, "\(report.lines.filter { $0.status == .bad })")
        let good = Self.lines(report, .good)
        for line in [
            "system network system", "dump sealing", "mode run mode", "fetch last fetch",
            "fetch last good", "pins localhost", "hosts localhost:\(fixture.host.port)",
        ] {
            #expect(good.contains(line), "\(line)")
        }
        #expect(Self.lines(report, .skipped) == ["keys key set"])
        #expect(!JSONValue.object(report.json).text.contains("ZZZZZZ"))
        await system.shutdown()
        #expect(await !system.selfCheck(isOffline: true).isGood)
        try await fixture.host.stop()
    }

    @Test func errorsNameTheProblemWithoutSecrets() async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        try fixture.serve(["shop.limit": 11, "shop.token": .string(FetchFixture.canary)])
        fixture.options.sealing = SealingCredentials(
            keys: try FetchFixture.keys(), keyID: "nobody",
            binding: VersionBinding(app: FetchFixture.app, version: "1.4.2"))
        let system = try await fixture.start()
        try await fixture.host.stop()
        try fixture.folder.write("a letter", to: "fetched.dump")
        let report = await system.selfCheck(hostTimeout: .seconds(5))
        #expect(
            Self.lines(report, .bad) == ["dump sealing", "hosts localhost:\(fixture.host.port)"])
        #expect(
            Self.lines(report, .warning) == ["fetch last fetch", "fetch last good"])
        let text = JSONValue.object(report.json).text
        #expect(text.contains("out-of-range") && text.contains("nobody"))
        #expect(!text.contains("ZZZZZZ"))
        await system.shutdown()
    }

    @Test(.enabled(if: RunMode.isSwitchable))
    func simulationsAreWarnedOfAndHostsLeftOut() async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        fixture.launch["app.runMode"] = "development"
        fixture.launch["simulation.offline"] = true
        let system = try await fixture.start()
        #expect(system.startReport.fetch?.source == .lastGood)
        let report = await system.selfCheck()
        #expect(Self.lines(report, .warning).contains("mode simulation.offline"))
        #expect(Self.lines(report, .skipped).contains("hosts hosts"))
        await system.shutdown()
        fixture.options.mayBeSwitched = false
        let release = try await fixture.start()
        #expect(release.startReport.fetch?.source == .fetched)
        let checked = await release.selfCheck()
        #expect(
            Self.lines(checked, .warning) == ["mode app.runMode", "mode simulation.offline"])
        #expect(Self.lines(checked, .good).contains("hosts localhost:\(fixture.host.port)"))
        await release.shutdown()
        try await fixture.host.stop()
    }

    @Test func anEngineWithoutAProbeIsReported() async throws {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine()
        let system = try await NetworkSystem.start(
            Settings.configuration([:]), options: options)
        let report = await system.selfCheck()
        #expect(
            Self.lines(report, .skipped) == ["keys key set", "dump dump", "hosts api.example.com"])
        await system.shutdown()
    }
}
