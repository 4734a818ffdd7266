import Foundation
import Logging
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Signed policies that a running system fetches from an untrusted web server.
@Suite struct PinUpdateSystemTests {
    static let now: Int64 = 1_795_228_551
    static let day: Int64 = 86_400

    let authority: TestAuthority
    let host: OrdersHost
    let folder: TemporaryDirectory
    let keys: KeySet
    private let clock = Clock()

    private final class Clock: Sendable {
        let now = Mutex<Int64>(PinUpdateSystemTests.now)
    }

    init() async throws {
        authority = try TestAuthority.trusted.get()
        host = try await OrdersHost.start(
            directives: """
                location = /pins { alias pins.json; }
                location = /moved { return 302 /pins; }
                location /plain { return 200 '{}'; }
                """)
        folder = try TemporaryDirectory()
        keys = try Self.keys("pins-2026", in: folder)
    }

    private static func keys(_ id: String, in folder: TemporaryDirectory) throws -> KeySet {
        let path = folder.path(UUID().uuidString)
        try KeyFile.add(.ed25519, id: id, to: path, append: false)
        return try KeySource(path).load()
    }

    var right: String { authority.leaf.pin }

    /// Puts a signed policy on the web server.
    func serve(
        _ serial: Int64, _ policy: PinPolicy, from: Int64 = 0, days: Int64 = 90,
        keys: KeySet? = nil
    ) throws {
        let bytes = try SignedPinPolicy(
            serial: serial, notBefore: Self.now + from, expires: Self.now + from + days * Self.day,
            policy: policy
        ).signed(by: (keys ?? self.keys).keys[0], now: Self.now)
        try host.folder.write(bytes, to: "pins.json", mode: 0o644)
    }

    func policy(_ pin: String, for name: String = "localhost") throws -> PinPolicy {
        try PinPolicy(rules: [PinRule(host: name, pins: [Pin(parsing: pin)])])
    }

    func plan(_ path: String = "/pins") throws -> PinUpdatePlan {
        var plan = PinUpdatePlan(
            url: host.url + path,
            verifier: try PinUpdateVerifier(
                keys: KeySet(parsing: keys.publicHalves.serialized(), source: "app")),
            file: folder.path("newest.json"))
        plan.timeout = .seconds(300)
        return plan
    }

    func start(
        _ plan: PinUpdatePlan? = nil, builtIn: PinPolicy? = nil, sinks: [any PinReportSink] = [],
        proxies: ProxyRules? = nil
    ) async throws -> NetworkSystem {
        var options = try Shop.options()
        options.proxies = proxies
        options.pinUpdates = try plan ?? self.plan()
        options.pinReports.sinks = sinks
        let clock = self.clock.now.withLock { $0 }
        options.clock.now = { clock }
        return try await PolicyUpdateTests.start(host, builtIn ?? policy(right), options)
    }

    private func call(_ system: NetworkSystem) async -> String? {
        do throws(ClientError) {
            _ = try await system.exchange(
                "plain", method: .get, target: "/plain", fields: [:], body: [])
            return nil
        } catch {
            return error.code.name
        }
    }

    func refusal(_ system: NetworkSystem) async -> String? {
        do throws(ClientError) {
            try await system.updatePins()
            return nil
        } catch {
            return error.code.name
        }
    }

    // MARK: Taking and keeping

    @Test func aNewerPolicyIsTakenAtTheStartAndWhenAsked() async throws {
        let intermediate = try policy(authority.intermediate.pin)
        try serve(7, intermediate)
        let system = try await start()
        #expect(system.policy == intermediate)
        let report = try #require(system.startReport.pinUpdate)
        #expect(report.source == .fetched && report.serial == 7 && report.failure == nil)
        #expect(report.findings.isEmpty && report.askedAt == Self.now)
        #expect(await call(system) == nil)
        let root = try policy(authority.root.pin)
        try serve(8, root)
        let next = try await system.updatePins()
        #expect(next.serial == 8 && system.policy == root)
        // Fetching the same document again changes nothing and doesn't fail.
        let same = try await system.updatePins()
        #expect(same.serial == 8 && same.failures == 0 && system.policy == root)
        #expect(await call(system) == nil)
        await system.shutdown()
    }

    @Test func isFetchedThroughTheProxy() async throws {
        try serve(7, policy(authority.root.pin))
        let proxy = try await ProxyServer(login: "u:p")
        var way = try Proxy(parsing: "http://127.0.0.1:\(proxy.port)")
        // The plan's host alone decides; the built-in policy lets it pass without pins.
        let open = try PinPolicy(rules: [PinRule(excluding: "localhost")])
        let refused = try await start(builtIn: open, proxies: ProxyRules(way))
        #expect(refused.lastPinUpdate?.failure?.code == "proxy-authentication")
        await refused.shutdown()
        try way.setCredentials(Array("u:p".utf8))
        let system = try await start(builtIn: open, proxies: ProxyRules(way))
        #expect(system.startReport.pinUpdate?.serial == 7)
        #expect(system.startReport.pinUpdate?.findings.isEmpty == true)
        await system.shutdown()
        // The document, and a look at the chain that the new policy will judge.
        let asked = proxy.asked
        #expect(asked == Array(repeating: "CONNECT localhost:\(host.port)", count: 3))
    }

    @Test func theNewestIsKeptAcrossRestarts() async throws {
        let root = try policy(authority.root.pin)
        try serve(7, root)
        await (try start()).shutdown()
        // The web server is gone, and then offers an older one.
        let away = try await start(plan("/absent"))
        #expect(away.policy == root)
        let report = try #require(away.startReport.pinUpdate)
        #expect(report.source == .kept && report.serial == 7 && report.failures == 1)
        #expect(report.failure?.code == "malformed-response")
        await away.shutdown()
        try serve(6, policy(PolicyUpdateTests.wrong))
        let older = try await start()
        #expect(older.policy == root)
        #expect(older.startReport.pinUpdate?.failure?.code == "rolled-back")
        #expect(await call(older) == nil)
        await older.shutdown()
    }

    @Test func aPooledConnectionIsJudgedToo() async throws {
        try serve(7, policy(authority.root.pin))
        let system = try await start()
        #expect(await call(system) == nil)
        try serve(8, policy(PolicyUpdateTests.wrong))
        try await system.updatePins()
        #expect(await call(system) == "pin-mismatch")
        await system.shutdown()
    }

    // MARK: Refusing

    @Test func badDocumentsAreRefusedAndThePolicyStays() async throws {
        let root = try policy(authority.root.pin)
        try serve(7, root)
        let system = try await start()
        let other = try policy(PolicyUpdateTests.wrong)
        func expect(_ code: String, _ failures: Int) async throws {
            #expect(await refusal(system) == code)
            let report = try #require(system.lastPinUpdate)
            #expect(report.failure?.code == code && report.failures == failures)
            #expect(report.serial == 7 && report.source == .fetched && system.policy == root)
        }
        try serve(6, other)
        try await expect("rolled-back", 1)
        try serve(7, other)
        try await expect("rolled-back", 2)
        await system.shutdown()
    }

    @Test func noForgeryIsTaken() async throws {
        let root = try policy(authority.root.pin)
        try serve(7, root)
        let system = try await start()
        let other = try policy(PolicyUpdateTests.wrong)
        var failures = 0
        func expect(_ code: String) async {
            failures += 1
            #expect(await refusal(system) == code)
            #expect(system.lastPinUpdate?.failures == failures && system.policy == root)
        }
        try serve(8, other, keys: Self.keys("stranger", in: folder))
        await expect("unknown-key")
        try serve(8, other, keys: Self.keys("pins-2026", in: folder))
        await expect("tampered")
        try serve(8, other, from: -10 * Self.day, days: 9)
        await expect("update-expired")
        try serve(8, other, from: 10)
        await expect("update-not-yet-valid")
        try host.folder.write("{}", to: "pins.json", mode: 0o644)
        await expect("malformed-update")
        try host.folder.write("", to: "pins.json", mode: 0o644)
        await expect("malformed-update")
        let large = [UInt8](repeating: 0x20, count: SignedPinPolicy.maximumByteCount + 1)
        try host.folder.write(large, to: "pins.json", mode: 0o644)
        await expect("response-too-large")
        #expect(await call(system) == nil)
        try serve(8, policy(authority.intermediate.pin))
        #expect(await refusal(system) == nil)
        #expect(system.lastPinUpdate?.failures == 0 && system.lastPinUpdate?.serial == 8)
        await system.shutdown()
    }

    @Test func aRedirectIsNotFollowed() async throws {
        try serve(7, policy(authority.root.pin))
        let system = try await start(plan("/moved"))
        #expect(system.startReport.pinUpdate?.failure?.code == "malformed-response")
        #expect(try system.policy == policy(right))
        await system.shutdown()
    }

    @Test func aHostWithAWrongKeyIsOnlyReported() async throws {
        try serve(7, policy(authority.root.pin))
        final class Sink: PinReportSink {
            let name = "test"
            let kept = Mutex<[PinReport]>([])
            func receive(_ report: PinReport) async throws(PinError) {
                kept.withLock { $0.append(report) }
            }
        }
        let sink = Sink()
        let system = try await start(builtIn: policy(PolicyUpdateTests.wrong), sinks: [sink])
        #expect(system.startReport.pinUpdate?.failure?.code == "pin-mismatch")
        #expect(system.startReport.pinUpdate?.source == .builtIn)
        await system.shutdown()
        #expect(sink.kept.withLock { $0.map(\.kind) } == [.pinMismatch])
        // A policy of its own for the host lets it be asked.
        var plan = try plan()
        plan.hostPolicy = try policy(right)
        let own = try await start(plan, builtIn: policy(PolicyUpdateTests.wrong))
        #expect(own.startReport.pinUpdate?.serial == 7)
        await own.shutdown()
        #expect(try await host.requests(count: 1).count == 1)
    }

    @Test func aChangedFileIsReportedAndNotUsed() async throws {
        try serve(7, policy(authority.root.pin))
        await (try start()).shutdown()
        var bytes = try folder.read("newest.json")
        bytes[bytes.count - 20] ^= 1
        try folder.write(bytes, to: "newest.json")
        let system = try await start()
        let report = try #require(system.startReport.pinUpdate)
        #expect(report.source == .builtIn && report.keepingFailure?.code == "state-tampered")
        #expect(report.failure?.code == "state-tampered")
        #expect(try system.policy == policy(right))
        await system.shutdown()
    }

    /// An attacker who withholds newer documents until the last one expires doesn't bring back the
    /// removed pins.
    @Test func aKeptPolicyWhoseTimeIsOverStaysInUse() async throws {
        try serve(7, policy(authority.root.pin), days: 30)
        let running = try await start()
        #expect(running.lastPinUpdate?.findings.isEmpty == true)
        clock.now.withLock { $0 = Self.now + 31 * Self.day }
        let system = try await start(builtIn: policy(PolicyUpdateTests.wrong))
        let report = try #require(system.startReport.pinUpdate)
        #expect(report.source == .kept && report.serial == 7 && report.keepingFailure == nil)
        #expect(report.findings.map(\.code) == ["expired"])
        #expect(report.failure?.code == "update-expired")
        #expect(await call(system) == nil)
        await system.shutdown()
        await running.shutdown()
        // A program whose built-in pins are as new does drop it.
        var plan = try plan()
        plan.builtInSerial = 7
        let newer = try await start(plan, builtIn: policy(PolicyUpdateTests.wrong))
        #expect(newer.startReport.pinUpdate?.source == .builtIn)
        #expect(await call(newer) == "pin-mismatch")
        await newer.shutdown()
    }

    @Test func aPolicyThatEndsSoonIsNamed() async throws {
        try serve(7, policy(authority.root.pin), days: 6)
        let system = try await start()
        #expect(system.lastPinUpdate?.findings.map(\.code) == ["expires-soon"])
        #expect(system.startReport.pinUpdate?.findings.map(\.code) == ["expires-soon"])
        await system.shutdown()
    }

    // MARK: Findings

    @Test func anUpdateThatCutsOffItsOwnHostIsNamed() async throws {
        // Unlisted: refused. Pinned to another key: locked out. Both cut the service off too.
        try serve(7, policy(authority.root.pin, for: "other.test"))
        let unlisted = try await start()
        #expect(
            unlisted.lastPinUpdate?.findings.map(\.code) == [
                "update-host-refused", "service-refused",
            ])
        #expect(await refusal(unlisted) == "unlisted-host")
        await unlisted.shutdown()
        try FileManager.default.removeItem(atPath: folder.path("newest.json"))
        try serve(8, policy(PolicyUpdateTests.wrong))
        for builtIn in [
            try policy(right), try PinPolicy(rules: [PinRule(excluding: "localhost")]),
        ] {
            let locked = try await start(builtIn: builtIn)
            #expect(locked.lastPinUpdate?.findings.map(\.code) == ["update-host-locked-out"])
            #expect(await refusal(locked) == "pin-mismatch")
            await locked.shutdown()
            try FileManager.default.removeItem(atPath: folder.path("newest.json"))
        }
        var plan = try plan()
        plan.hostPolicy = try policy(right)
        let own = try await start(plan)
        #expect(own.lastPinUpdate?.findings.isEmpty == true)
        #expect(await refusal(own) == nil)
        await own.shutdown()
    }

    // MARK: Bad plans

    @Test func aSystemWithoutAPlanThrows() async throws {
        let system = try await PolicyUpdateTests.start(host, nil)
        #expect(await refusal(system) == "not-configured")
        #expect(system.lastPinUpdate == nil && system.startReport.pinUpdate == nil)
        await system.shutdown()
    }

    @Test(arguments: ["http://localhost/pins", "localhost", "https://a@b.test/", "https:///x"])
    func aPlanWithoutAnHTTPSURLIsRefused(_ url: String) async throws {
        var plan = try plan()
        plan.url = url
        let given = plan
        let error = await #expect(throws: ClientError.self) { _ = try await start(given) }
        #expect(error?.code == .invalidPlan)
    }
}
