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
        let scope = "user"
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer("ZZZZZZ") }
    }

    static func plan(_ folder: TemporaryDirectory) throws -> PinUpdatePlan {
        let path = folder.path("keys")
        try KeyFile.add(.ed25519, id: "pins", to: path, append: false)
        let keys = try KeySource(path).load()
        return PinUpdatePlan(
            url: "https://pins.example.com/newest",
            verifier: try PinUpdateVerifier(
                keys: KeySet(parsing: keys.publicHalves.serialized(), source: "app")),
            file: folder.path("newest.json"))
    }

    /// A host's keys that its pins refuse, as an engine reports it.
    static func refused() throws -> RecordingEngine.Response {
        let rule = try PinRule(
            host: "api.example.com", pins: [Pin(bytes: [UInt8](repeating: 1, count: 32))])
        let seen = SeenCertificate(
            subject: "CN=other", pin: try Pin(bytes: [UInt8](repeating: 2, count: 32)))
        let refusal = PinRefusal(
            .pinMismatch, "other", host: try HostName.canonical("api.example.com"), rule: rule,
            seen: [seen], remedy: PinRemedy(kind: .noChain, advice: "none"))
        return .init(failure: TransportError(refusal))
    }

    @Test(.features("000-33")) func urlRulesHoldForPinPoliciesAndReports() async throws {
        let folder = try TemporaryDirectory()
        let engine = RecordingEngine(responses: [try Self.refused(), .init(status: 204, body: "")])
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
        #expect(
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RPCCall("m"), on: "a")
            } == .pinMismatch)
        await system.shutdown()
        #expect(system.pinReportCounts.failed == 1 && system.pinReportCounts.delivered == 0)
        #expect(engine.requests.map(\.request.path) == ["/rpc"])
    }

    @Test func optionsOfServicesAreNotForThem() async throws {
        let folder = try TemporaryDirectory()
        let engine = RecordingEngine(responses: [.init(status: 204, body: "")])
        var options = NetworkSystem.Options()
        options.engine = engine
        options.pinUpdates = try Self.plan(folder)
        options.callOptions.fields = [.authorization: "ZZZZZZ", .cookie: "ZZZZZZ"]
        options.callOptions.credentials = Token()
        options.callOptions.sets = ["php"]
        options.callOptions.scenario = "of a service"
        options.callOptions.baseURL = "https://other.example.com"
        options.callOptions.owner = CallOwner()  // has ended
        let system = try await NetworkSystem.start(
            services: [:], policy: .allowingAll(), options: options)
        #expect(system.startReport.pinUpdate?.failure?.code == "malformed-response")
        await system.shutdown()
        #expect(engine.requests.map(\.request.path) == ["/newest"])
        #expect(engine.requests.map(\.request.authority) == ["pins.example.com"])
        #expect(engine.requests.map(\.request.headerFields) == [[:]])
    }

    /// The options of all calls don't change that. Each call has the user agent and a record.
    @Test func eachOfTheirCallsHasOneAttempt() async throws {
        let folder = try TemporaryDirectory()
        let down = RecordingEngine.Response(status: 503, body: "")
        let engine = RecordingEngine(responses: [down, down, try Self.refused(), down])
        var options = NetworkSystem.Options()
        options.engine = engine
        options.pinUpdates = try Self.plan(folder)
        options.pinReports.collectors = [PinReportCollector(url: "https://reports.example.com/r")]
        options.pinReports.logs = false
        options.callOptions.attempts = 5
        options.callOptions.idempotency = .always
        options.clock.sleep = { _ in }
        let system = try await NetworkSystem.start(
            Settings.configuration(["app.userAgent": "shop/1"]), options: options)
        let events = system.events
        let failure = await Pipeline.code { () async throws(ClientError) in
            try await system.updatePins()
        }
        #expect(failure == .malformedResponse)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RPCCall("m"), on: "a")
        }
        #expect(code == .pinMismatch)
        await system.shutdown()
        #expect(engine.requests.map(\.request.path) == ["/newest", "/newest", "/rpc", "/r"])
        for request in engine.requests {
            #expect(request.request.headerFields[.userAgent] == "shop/1")
        }
        var hops: [ServiceName: [Int?]] = [:]
        for await case .finished(let record) in events {
            hops[record.identity.service] = record.work.attempts.flatMap(\.hops).map(\.status)
        }
        #expect(hops["pin-updates"] == [503] && hops["pin-reports"] == [503])
    }

    @Test func aReportIsSentDuringShutdownAndMakesNone() async throws {
        let engine = RecordingEngine(responses: [try Self.refused(), try Self.refused()])
        var options = NetworkSystem.Options()
        options.engine = engine
        options.pinReports.collectors = [PinReportCollector(url: "https://reports.example.com/r")]
        options.pinReports.logs = false
        let system = try await NetworkSystem.start(
            services: ["a": .init(baseURL: "https://api.example.com", payloadProtocol: .rest)],
            policy: .allowingAll(), options: options)
        let events = system.events
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a")
        }
        #expect(code == .pinMismatch)
        await system.shutdown()
        #expect(engine.requests.map(\.request.path) == ["/x", "/r"])
        #expect(system.pinReportCounts.made == 1 && system.pinReportCounts.failed == 1)
        var services: Set<ServiceName> = []
        for await event in events { services.insert(event.identity.service) }
        #expect(services == ["a", "pin-reports"])
    }
}
