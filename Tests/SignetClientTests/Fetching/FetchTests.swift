import Foundation
import Logging
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetVault
import Synchronization
import TestSupport
import Testing

/// Fetching values from a real service at the start, and the last good values if that fails.
@Suite struct FetchTests {
    @Test func fetchedValuesJoinTheConfigurationAndAreKept() async throws {
        let fixture = try await FetchFixture()
        let system = try await fixture.start()
        #expect(system.value("shop.name") == "first")
        #expect(system.value("shop.limit") == 3)
        let fetch = try #require(system.startReport.fetch)
        #expect(fetch.source == .fetched)
        #expect(fetch.failure == nil)
        #expect(fetch.kept?.sequence == 1)
        #expect(system.lastFetch == fetch)
        await system.shutdown()
        let log = try await fixture.host.requests(count: 1)
        #expect(log[0].contains("/values?app.version=1.4.2"))
        let mode = try FileManager.default.attributesOfItem(
            atPath: fixture.folder.path("fetched.dump"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try await fixture.host.stop()
    }

    @Test func goodValuesAreSealedAgainOnlyIfChanged() async throws {
        let fixture = try await FetchFixture()
        try await fixture.startOnce()
        let first = try fixture.dump()
        try await fixture.startOnce()
        #expect(try fixture.dump() == first)
        try fixture.serve(["shop.name": "second"])
        let system = try await fixture.start()
        #expect(system.startReport.fetch?.kept?.sequence == 2)
        #expect(try fixture.dump() != first)
        #expect(system.value("shop.limit") == nil)
        await system.shutdown()
        #expect(try fixture.folder.contents() == ["fetched.dump"])
        try await fixture.host.stop()
    }

    @Test(.features("000-08", "000-34")) func theRequestIsSignedAndMadeOfPublicValues() async throws
    {
        // An order is a flat object too: created by a call that the host verifies on its own.
        let host = try await OrdersHost.start()
        let authority = try TestAuthority.trusted.get()
        let keys: JSONObject = [
            "services.orders.baseURL": ["type": "url"],
            "services.orders.protocol": ["type": "string"],
            "services.orders.pins": ["type": "array"],
            "services.orders.signing.scheme": ["type": "string"],
            "services.orders.signing.key": ["type": "string"],
            "item": ["type": "string", "visibility": "public"],
            "quantity": ["type": "integer", "visibility": "public"],
            "absent": ["type": "integer", "visibility": "public"],
            "id": ["type": "integer", "visibility": "public", "setBy": ["fetched"]],
            "status": ["type": "string", "visibility": "public", "setBy": ["fetched"]],
        ]
        let defaults: JSONObject = [
            "services.orders.baseURL": .string("\(host.url)/rpc"),
            "services.orders.protocol": "jsonrpc-2.0",
            "services.orders.pins": [.string(authority.root.pin), .string(authority.leaf.pin)],
            "services.orders.signing.scheme": "rfc9421",
            "services.orders.signing.key": "orders-2026",
            "item": "tea",
        ]
        let plan = FetchPlan(
            service: "orders", method: "orders.create", parameters: ["item", "quantity", "absent"])
        let system = try await NetworkSystem.start(
            schema: Schema(["keys": .object(keys)]), defaults: .values(defaults),
            launch: .values(["quantity": 7]), fetching: plan,
            requiring: ConfigurationKey<Int, PublicValue>("id"),
            ConfigurationKey<String, PublicValue>("status"), keys: KeySource(host.keyFile).load(),
            options: Shop.options())
        #expect(system.value("status") == "created")
        #expect(system.value("quantity") == 7)
        #expect(system.configuration?.origins["quantity"] == "fetched")
        #expect(system.startReport.fetch?.kept == nil)
        await system.shutdown()
        let log = try await host.requests(count: 1)
        #expect(log[0].contains(#""verdict":"verified""#))
        try await host.stop()
    }

    /// Faults of the host, each with its error code.
    static let failures: [(String, String)] = [
        ("{", "malformed-response"), ("", "malformed-input"), ("[]", "malformed-input"),
        ("null", "malformed-input"), (#"{"shop.name":"a","shop.name":"b"}"#, "malformed-response"),
        (#"{"shop.name":"a",}"#, "malformed-response"),
        (#"{"shop.unknown":1}"#, "unknown-config-key"),
        (#"{"shop.name":1}"#, "wrong-type"), (#"{"shop.name":null}"#, "wrong-type"),
        (#"{"shop.limit":11}"#, "out-of-range"), (#"{"app.version":"9"}"#, "source-not-allowed"),
        (#"{"app.runMode":"development"}"#, "source-not-allowed"),
        (#"{"simulation.offline":true}"#, "source-not-allowed"),
        (
            #"{"shop.name":"-----BEGIN PRIVATE\u0020KEY-----ZZZZZZcanary"}"#,
            "public-value-looks-secret"
        ),
        (#"{"urlRules.refused":["(("]}"#, "invalid-service"),
        (#"{"services.settings.pins":[]}"#, "invalid-service"),
        (#"{"services.settings.baseURL":"ftp://ZZZZZZcanary.example.com/"}"#, "invalid-service"),
        (#"{"shop.name":"\#(String(repeating: "a b ", count: 300))"}"#, "response-too-large"),
    ]

    @Test(.features("000-08"), arguments: failures)
    func wrongValuesAreReplacedByTheLastGoodOnes(_ text: String, _ code: String) async throws {
        var fixture = try await FetchFixture()
        fixture.plan.maximumResponseSize = 1000
        try await fixture.startOnce()
        let before = try fixture.dump()
        try fixture.serve(text: text)
        try await Self.expectLastGood(fixture, code)
        #expect(try fixture.dump() == before)
        try await fixture.host.stop()
    }

    static func expectLastGood(_ fixture: FetchFixture, _ code: String) async throws {
        let system = try await fixture.start()
        let fetch = try #require(system.startReport.fetch)
        #expect(fetch.source == .lastGood)
        #expect(fetch.failure?.code == code, "\(fetch.failure?.message ?? "")")
        #expect(fetch.kept?.sequence == 1)
        #expect((0..<600).contains(fetch.kept?.age ?? -1))
        #expect(system.value("shop.name") == "first")
        #expect(!system.startReport.description.contains("ZZZZZZ"))
        await system.shutdown()
    }

    @Test(arguments: [
        ("/error", "http-status"), ("/moved", "http-status"), ("/nothing", "http-status"),
        ("/empty", "malformed-input"),
    ])
    func anErrorStatusUsesTheLastGoodValues(_ path: String, _ code: String) async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        fixture.plan.path = path
        try await Self.expectLastGood(fixture, code)
        try await fixture.host.stop()
    }

    @Test func aHostThatIsDownUsesTheLastGoodValues() async throws {
        let fixture = try await FetchFixture()
        try await fixture.startOnce()
        try await fixture.host.stop()
        try await Self.expectLastGood(fixture, "connect")
    }

    @Test func aWrongPinLeadsToTheLastGoodValues() async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        let rogue = try TestAuthority.rogue.get()
        fixture.defaults["services.settings.pins"] = [.string(rogue.root.pin)]
        try await Self.expectLastGood(fixture, "pin-mismatch")
        _ = try await fixture.host.requests(count: 1)
        #expect(fixture.host.requests.count == 1)
        try await fixture.host.stop()
    }

    @Test func aSilentHostTimesOut() async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        try await fixture.host.stop()
        let silent = try await OpenSSLServer(TestAuthority.trusted.get().identity, responds: false)
        fixture.defaults["services.settings.baseURL"] = .string(silent.url)
        fixture.plan.timeout = .milliseconds(300)
        try await Self.expectLastGood(fixture, "timeout")
        try await silent.stop()
    }

    @Test func aCancelledStartUsesNoStoredValues() async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        try await fixture.host.stop()
        let silent = try await OpenSSLServer(TestAuthority.trusted.get().identity, responds: false)
        fixture.defaults["services.settings.baseURL"] = .string(silent.url)
        fixture.plan.timeout = .seconds(60)
        fixture.plan.ifUnavailable = .proceed
        let program = fixture
        let start = Task { try await program.start() }
        #expect(try await eventually { silent.received.contains("GET /values") })
        start.cancel()
        let error = await #expect(throws: ClientError.self) { try await start.value }
        #expect(error?.code.name == "cancelled")
        try await silent.stop()
    }

    @Test func withoutAnyValuesThePlanDecides() async throws {
        var fixture = try await FetchFixture()
        try fixture.serve(text: "{")
        let program = fixture
        let error = await #expect(throws: ClientError.self) { try await program.start() }
        #expect(error?.code.name == "malformed-response")
        #expect(error?.message.contains("unreadable-file") == true)
        fixture.plan.ifUnavailable = .proceed
        let system = try await fixture.start()
        let fetch = try #require(system.startReport.fetch)
        #expect(fetch.source == .none)
        #expect(fetch.failure?.code == "malformed-response")
        #expect(fetch.keepingFailure?.code == "unreadable-file")
        #expect(system.value("shop.name") == "default")
        await system.shutdown()
        #expect(try fixture.folder.contents() == [])
        try await fixture.host.stop()
    }

    @Test func aMissingRequiredKeyLeadsToTheLastGoodValues() async throws {
        let fixture = try await FetchFixture()
        try await fixture.startOnce()
        try fixture.serve(["shop.name": "second"])
        let limit = ConfigurationKey<Int, PublicValue>("shop.limit")
        let system = try await NetworkSystem.start(
            schema: Schema(fixture.schema), defaults: .values(fixture.defaults),
            launch: .values(fixture.launch), fetching: fixture.plan, requiring: limit,
            options: fixture.options)
        #expect(system.configuration?[limit] == 3)
        #expect(system.startReport.fetch?.failure?.code == "missing-value")
        await system.shutdown()
        try await fixture.host.stop()
    }

    // MARK: No way to be locked out

    @Test func fetchedValuesDoNotChangeTheirSource() async throws {
        let fixture = try await FetchFixture()
        let rogue = try TestAuthority.rogue.get()
        try fixture.serve([
            "services.settings.baseURL": "https://localhost:1/", "shop.name": "lost",
            "services.settings.pins": [.string(rogue.root.pin)],
            "urlRules.refused": ["/values"],
        ])
        let system = try await fixture.start()
        #expect(system.value("shop.name") == "lost")
        await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("GET"), on: "settings", path: "/values")
        }
        try fixture.serve(FetchFixture.good)
        try await system.refetch()
        #expect(system.value("shop.name") == "first")
        _ = try await system.call(RPCCall("GET"), on: "settings", path: "/values")
        await system.shutdown()
        try await fixture.startOnce()
        try await fixture.host.stop()
    }

    @Test func aFailedRefreshChangesNothing() async throws {
        let fixture = try await FetchFixture()
        let system = try await fixture.start()
        try fixture.serve(text: "{")
        let error = await #expect(throws: ClientError.self) { try await system.refetch(now: 7) }
        #expect(error?.code.name == "malformed-response")
        #expect(system.value("shop.name") == "first")
        #expect(system.lastFetch?.failure?.code == "malformed-response")
        #expect(system.lastFetch?.askedAt == 7)
        #expect(system.startReport.fetch?.failure == nil)
        try fixture.serve(["shop.name": "second"])
        #expect(try await system.refetch().kept?.sequence == 2)
        #expect(system.value("shop.name") == "second")
        await system.shutdown()
        await #expect(throws: ClientError.self) { try await system.refetch() }
        try await fixture.host.stop()
    }

    @Test(arguments: ["service", "unknown", "secret", "time", "size"])
    func aPlanThatCannotWorkIsRefusedBeforeAnything(_ what: String) async throws {
        var fixture = try await FetchFixture()
        switch what {
        case "service": fixture.plan.service = "orders"
        case "unknown": fixture.plan.parameters = ["shop.nothing"]
        case "secret": fixture.plan.parameters = ["shop.token"]
        case "time": fixture.plan.timeout = .zero
        default: fixture.plan.maximumResponseSize = 0
        }
        fixture.plan.ifUnavailable = .proceed
        let program = fixture
        let error = await #expect(throws: ClientError.self) { try await program.start() }
        #expect(error?.code == .invalidPlan)
        #expect(fixture.host.requests.isEmpty)
        try await fixture.host.stop()
    }

    @Test func noReportOrLogContainsASecret() async throws {
        var fixture = try await FetchFixture()
        let log = RecordingLog()
        fixture.options.logger = Logger(label: "test") { _ in log }
        try await fixture.startOnce()
        try fixture.serve(
            ["shop.limit": 11, "shop.token": .string(FetchFixture.canary)])
        let system = try await fixture.start()
        await #expect(throws: ClientError.self) { try await system.refetch() }
        var text = "\(system) \(system.startReport) \(String(describing: system.lastFetch))"
        dump(system, to: &text)
        dump(fixture.plan, to: &text)
        text += JSONValue.object(system.startReport.json).text
        await system.shutdown()
        let logged = log.text
        #expect(logged.contains("out-of-range"))
        #expect(!(text + logged).contains("ZZZZZZ"))
        #expect(!(text + logged).contains("WlpaWlpa"))
        #expect(!String(decoding: try fixture.dump(), as: UTF8.self).contains("ZZZZZZ"))
        try await fixture.host.stop()
    }
}
