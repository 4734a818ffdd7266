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
    private static let now: Int64 = 1_795_228_551
    private static let day: Int64 = 86_400

    private let authority: TestAuthority
    private let host: OrdersHost
    private let folder: TemporaryDirectory
    private let keys: KeySet
    private let clock = Clock()

    private final class Clock: Sendable {
        let now = Mutex<Int64>(PinUpdateSystemTests.now)
    }

    /// A clock that holds up whoever looks at it first once a policy is in place.
    private final class SlowClock: Sendable {
        struct Trap {
            let system: NetworkSystem
            let policy: PinPolicy
        }
        let trap = Mutex<Trap?>(nil)
        let isHolding = Mutex(false)
        private let release = DispatchSemaphore(value: 0)

        func read() -> Int64 {
            let holds = trap.withLock { trap in
                guard let set = trap, set.system.policy == set.policy else { return false }
                trap = nil
                return true
            }
            if holds {
                isHolding.withLock { $0 = true }
                release.wait()
            }
            return PinUpdateSystemTests.now
        }

        func letGo() { release.signal() }
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

    private var right: String { authority.leaf.pin }

    /// Puts a signed policy on the web server.
    private func serve(
        _ serial: Int64, _ policy: PinPolicy, from: Int64 = 0, days: Int64 = 90,
        keys: KeySet? = nil
    ) throws {
        let bytes = try SignedPinPolicy(
            serial: serial, notBefore: Self.now + from, expires: Self.now + from + days * Self.day,
            policy: policy
        ).signed(by: (keys ?? self.keys).keys[0], now: Self.now)
        try host.folder.write(bytes, to: "pins.json", mode: 0o644)
    }

    private func policy(_ pin: String, for name: String = "localhost") throws -> PinPolicy {
        try PinPolicy(rules: [PinRule(host: name, pins: [Pin(parsing: pin)])])
    }

    private func plan(_ path: String = "/pins") throws -> PinUpdatePlan {
        var plan = PinUpdatePlan(
            url: host.url + path,
            verifier: try PinUpdateVerifier(
                keys: KeySet(parsing: keys.publicHalves.serialized(), source: "app")),
            file: folder.path("newest.json"))
        plan.timeout = .seconds(300)
        return plan
    }

    private func start(
        _ plan: PinUpdatePlan? = nil, builtIn: PinPolicy? = nil, sinks: [any PinReportSink] = [],
        proxies: ProxyRules? = nil
    ) async throws -> NetworkSystem {
        var options = try Shop.options()
        options.proxies = proxies
        options.pinUpdates = try plan ?? self.plan()
        options.pinReports.sinks = sinks
        let clock = self.clock.now.withLock { $0 }
        options.clock = { clock }
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

    private func refusal(_ system: NetworkSystem) async -> String? {
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
        // The same one again changes nothing and is no failure.
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
        #expect(report.failure?.code == "malformed-reply")
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

    @Test func nothingBadIsTakenAndWhatIsInUseStays() async throws {
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
        await expect("reply-too-large")
        #expect(await call(system) == nil)
        try serve(8, policy(authority.intermediate.pin))
        #expect(await refusal(system) == nil)
        #expect(system.lastPinUpdate?.failures == 0 && system.lastPinUpdate?.serial == 8)
        await system.shutdown()
    }

    @Test func aRedirectIsNotFollowed() async throws {
        try serve(7, policy(authority.root.pin))
        let system = try await start(plan("/moved"))
        #expect(system.startReport.pinUpdate?.failure?.code == "malformed-reply")
        #expect(try system.policy == policy(right))
        await system.shutdown()
    }

    @Test func aHostWithAnotherKeyIsNotAskedAndIsReported() async throws {
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

    @Test func aKeptFileThatWasTouchedIsNotUsedAndSaidSo() async throws {
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

    /// Who keeps newer documents back until the last has expired does not bring back what it took away.
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
        // But a program whose own pins are as new.
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

    // MARK: Again and again

    @Test func looksAgainByItself() async throws {
        try serve(7, policy(authority.root.pin))
        var plan = try plan()
        plan.interval = .milliseconds(20)
        let system = try await start(plan)
        let next = try policy(authority.intermediate.pin)
        try serve(8, next)
        #expect(try await eventually { system.policy == next })
        // A failure is followed by another look.
        try serve(5, next)
        #expect(try await eventually { system.lastPinUpdate?.failures ?? 0 > 1 })
        try serve(9, policy(authority.leaf.pin))
        #expect(try await eventually { system.lastPinUpdate?.serial == 9 })
        await system.shutdown()
        #expect(await refusal(system) == "not-running")
    }

    @Test func manyLooksAtOnceNeverGoBack() async throws {
        try serve(7, policy(authority.root.pin))
        let system = try await start()
        let newest = try policy(authority.intermediate.pin)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for serial in Int64(8)...20 {
                try serve(serial, serial == 20 ? newest : policy(authority.leaf.pin))
                for _ in 0..<3 { group.addTask { _ = await refusal(system) } }
            }
            try await group.waitForAll()
        }
        _ = await refusal(system)
        #expect(system.policy == newest && system.lastPinUpdate?.serial == 20)
        await system.shutdown()
    }

    /// Two looks, of which the first put its policy in place and has not yet written that down when the
    /// second does both: the report is of the policy in use.
    @Test(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
    func theReportIsOfThePolicyInUse() async throws {
        try serve(7, policy(authority.root.pin))
        let clock = SlowClock()
        var options = try Shop.options()
        options.pinUpdates = try plan()
        options.clock = { clock.read() }
        let system = try await PolicyUpdateTests.start(host, policy(right), options)
        let eighth = try policy(authority.intermediate.pin)
        let ninth = try PinPolicy(
            rules: [PinRule(host: "localhost", pins: [Pin(parsing: right)], expires: "2030-01-01")])
        clock.trap.withLock { $0 = SlowClock.Trap(system: system, policy: eighth) }
        try serve(8, eighth)
        async let first = refusal(system)
        #expect(try await eventually { clock.isHolding.withLock { $0 } })
        try serve(9, ninth, days: 50)
        #expect(await refusal(system) == nil)
        #expect(system.lastPinUpdate?.serial == 9)
        clock.letGo()
        #expect(await first == nil)
        #expect(system.policy == ninth)
        #expect(system.lastPinUpdate?.serial == 9)
        #expect(system.lastPinUpdate?.expires == Self.now + 50 * Self.day)
        await system.shutdown()
    }

    @Test func aSystemWithoutAPlanSaysSo() async throws {
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

/// The pause before the next update.
@Suite struct PinUpdatePauseTests {
    @Test func spreadsLooksAndWaitsLongerAfterFailures() throws {
        let keys = """
            {"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
            """
        let verifier = try PinUpdateVerifier(
            keys: KeySet(parsing: Array(keys.utf8), source: "test"))
        var plan = PinUpdatePlan(url: "https://a.test/", verifier: verifier, file: "x")
        plan.interval = .seconds(1000)
        plan.retryPause = .seconds(10)
        func seconds(_ failures: Int, _ random: Double) -> Int64 {
            plan.pause(afterFailures: failures, random: random).components.seconds
        }
        #expect(seconds(0, 0) == 900 && (1099...1100).contains(seconds(0, 1)))
        #expect(seconds(1, 0) == 5 && seconds(1, 1) == 10)
        #expect(seconds(2, 1) == 20 && seconds(4, 1) == 80)
        #expect(seconds(8, 1) == 1000 && seconds(1_000_000, 1) == 1000)
    }
}
