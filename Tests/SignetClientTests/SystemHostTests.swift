import HTTPTypes
import SignetClient
import SignetCrypto
import SignetPinning
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// Hosts that the system calls for itself: that of pin policies, and collectors of pin reports.
@Suite struct SystemHostTests {
    private struct Token: CredentialSource {
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer("ZZZZZZ") }
    }

    private static func plan(_ folder: TemporaryDirectory) throws -> PinUpdatePlan {
        let path = folder.path("keys")
        try KeyFile.add(.ed25519, id: "pins", to: path, append: false)
        let keys = try KeySource(path).load()
        return PinUpdatePlan(
            url: "https://pins.example.com/newest",
            verifier: try PinUpdateVerifier(
                keys: KeySet(parsing: keys.publicHalves.serialized(), source: "app")),
            file: folder.path("newest.json"))
    }

    @Test func urlRulesHoldForPinPoliciesAndReports() async throws {
        let folder = try TemporaryDirectory()
        // The engine can't pin, so that the call to the service is refused and reported.
        let engine = RecordingEngine(pins: false, answers: [.init(status: 204, body: "")])
        var options = NetworkSystem.Options()
        options.engine = engine
        options.pinUpdates = try Self.plan(folder)
        options.pinReports.collectors = [PinReportCollector(url: "https://reports.example.com/")]
        options.pinReports.logs = false
        let system = try await NetworkSystem.start(
            Settings.configuration([
                "urlRules.refused": ["pins\\.example", "reports\\.example"]
            ]), options: options)
        #expect(system.startReport.pinUpdate?.failure?.code == "refused-url")
        try system.update(policy: PinPolicy(rules: []))
        #expect(
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RPCCall("m"), on: "a")
            } == .unlistedHost)
        await system.shutdown()
        #expect(system.pinReportCounts.failed == 1 && system.pinReportCounts.delivered == 0)
        #expect(engine.count == 0)
    }

    @Test func fieldsAndCredentialsOfServicesDoNotLeaveForThem() async throws {
        let folder = try TemporaryDirectory()
        let engine = RecordingEngine(answers: [.init(status: 204, body: "")])
        var options = NetworkSystem.Options()
        options.engine = engine
        options.pinUpdates = try Self.plan(folder)
        options.callOptions.fields = [.authorization: "ZZZZZZ", .cookie: "ZZZZZZ"]
        options.callOptions.credentials = Token()
        let system = try await NetworkSystem.start(
            services: [:], policy: .allowingAll(), options: options)
        #expect(system.startReport.pinUpdate?.failure?.code == "malformed-reply")
        await system.shutdown()
        #expect(engine.requests.map(\.request.path) == ["/newest"])
        #expect(engine.requests.map(\.request.headerFields) == [[:]])
    }

    @Test func aReportIsSentWhileTheSystemStopsAndMakesNoReport() async throws {
        let engine = RecordingEngine(pins: false, answers: [.init(status: 500, body: "")])
        var options = NetworkSystem.Options()
        options.engine = engine
        options.pinReports.collectors = [PinReportCollector(url: "https://reports.example.com/r")]
        options.pinReports.logs = false
        let policy = try PolicyUpdateTests.policy(PolicyUpdateTests.wrong)
        let system = try await NetworkSystem.start(
            services: ["a": .init(baseURL: "http://localhost:9", payloadProtocol: .rest)],
            policy: policy, options: options)
        let events = system.events
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a")
        }
        #expect(code == .cleartextToPinnedHost)
        await system.shutdown()
        #expect(engine.requests.map(\.request.path) == ["/r"])
        #expect(system.pinReportCounts.made == 1 && system.pinReportCounts.failed == 1)
        var services: Set<Service> = []
        for await event in events { services.insert(event.identity.service) }
        #expect(services == ["a", "pin-reports"])
    }
}
