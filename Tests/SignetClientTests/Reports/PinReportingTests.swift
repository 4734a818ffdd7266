import Foundation
import HTTPTypes
import Logging
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// The pin reports that calls make, and where they are sent.
@Suite struct PinReportingTests {
    static let now: Int64 = 1_795_228_551
    let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// Keeps reports, or fails, or never returns.
    final class Sink: PinReportSink {
        enum Behaviour: Sendable { case keep, fail, stall }
        let name = "test"
        private let behaviour: Behaviour
        private let kept = Mutex<[PinReport]>([])
        var reports: [PinReport] { kept.withLock { $0 } }

        init(_ behaviour: Behaviour = .keep) { self.behaviour = behaviour }

        func receive(_ report: PinReport) async throws(PinError) {
            kept.withLock { $0.append(report) }
            switch behaviour {
            case .keep: return
            case .fail: throw PinError(.reportFailed, "no room")
            case .stall:
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            }
        }
    }

    func options(
        _ sinks: [any PinReportSink] = [], collectors: [PinReportCollector] = [],
        log: RecordingLog? = nil
    ) throws -> NetworkSystem.Options {
        var options = try Shop.options()
        options.clock.now = { Self.now }
        options.pinReports.sinks = sinks
        options.pinReports.collectors = collectors
        options.pinReports.flushTime = .seconds(300)
        if let log { options.logger = Logger(label: "test") { _ in log } }
        return options
    }

    func failure(
        _ system: NetworkSystem, _ target: String = "/plain"
    ) async -> ClientError? {
        do throws(ClientError) {
            _ = try await system.exchange(
                "plain", method: .get, target: target, fields: [:], body: [])
            return nil
        } catch {
            return error
        }
    }

    func der(_ pem: String) throws -> [UInt8] {
        let facts = try X509Parser.certificates([UInt8](Data(contentsOf: URL(filePath: pem))))
        return try #require(facts.first).der
    }

    // MARK: From calls

    /// A system whose one service, `plain`, speaks REST.
    static func start(
        _ baseURL: String, _ policy: PinPolicy, _ options: NetworkSystem.Options
    ) async throws -> NetworkSystem {
        try await NetworkSystem.start(
            services: ["plain": ServiceConfiguration(baseURL: baseURL, payloadProtocol: .rest)],
            policy: policy, options: options)
    }

    @Test(arguments: [PinRule.Mode.enforce, .report])
    func aMismatchIsReportedOnceWithItsCertificates(_ mode: PinRule.Mode) async throws {
        let host = try await OrdersHost.start(directives: PolicyUpdateTests.directives)
        let sink = Sink()
        let log = RecordingLog()
        let policy = try PolicyUpdateTests.policy(PolicyUpdateTests.wrong, mode: mode)
        let system = try await PolicyUpdateTests.start(host, policy, options([sink], log: log))
        for _ in 0..<3 {
            let error = await failure(system)
            #expect(error?.code.name == (mode == .enforce ? "pin-mismatch" : nil))
        }
        await system.shutdown()
        #expect(sink.reports.count == 1)
        let report = try #require(sink.reports.first)
        #expect(report.kind == .pinMismatch && report.isEnforced == (mode == .enforce))
        #expect(report.host.text == "localhost" && report.port == host.port)
        #expect(report.date == Self.now && report.expected.map(\.text) == [PolicyUpdateTests.wrong])
        let (leaf, intermediate) = try (der(authority.leaf.pem), der(authority.intermediate.pem))
        #expect(report.chain.map(\.der) == [leaf, intermediate, try der(authority.root.pem)])
        #expect(report.served == [leaf, intermediate])
        let counts = system.pinReportCounts
        // The sink's and the log's.
        #expect(counts.made == 3 && counts.repeated == 2 && counts.delivered == 2)
        #expect(log.text.contains(PolicyUpdateTests.wrong))
        #expect(log.text.contains(authority.leaf.pin))
        try await host.stop()
    }

    @Test func aMatchIsNotReported() async throws {
        let host = try await OrdersHost.start(directives: PolicyUpdateTests.directives)
        let sink = Sink()
        for policy in [
            try PolicyUpdateTests.policy(authority.leaf.pin),
            try PolicyUpdateTests.policy(authority.root.pin, mode: .report),
            try PinPolicy(rules: [PinRule(excluding: "localhost")]), nil,
        ] {
            let system = try await PolicyUpdateTests.start(host, policy, options([sink]))
            #expect(await failure(system) == nil)
            await system.shutdown()
            #expect(system.pinReportCounts.made == 0)
        }
        #expect(sink.reports.isEmpty)
        try await host.stop()
    }

    @Test func refusalsBeforeAnyConnectionAreReportedToo() async throws {
        let pin = try Pin(parsing: PolicyUpdateTests.wrong)
        let cases: [(PinPolicy, PinRefusal.Code)] = [
            (try PinPolicy(rules: []), .unlistedHost),
            (
                try PinPolicy(rules: [
                    PinRule(host: "localhost", pins: [pin], expires: "2020-01-01")
                ]), .policyExpired
            ),
        ]
        for (policy, code) in cases {
            let sink = Sink()
            let system = try await Self.start("https://localhost:9", policy, options([sink]))
            #expect(await failure(system)?.code.name == code.name)
            await system.shutdown()
            #expect(sink.reports.map(\.kind) == [code])
            #expect(sink.reports.first?.port == 9 && sink.reports.first?.chain == [])
        }
    }

    /// A TLS session of the proxy at the same address doesn't stand for the host's: the host's own
    /// chain is checked and reported.
    @Test(arguments: [PinRule.Mode.enforce, .report])
    func aProxysSessionIsNotTheHosts(_ mode: PinRule.Mode) async throws {
        // A proxy that is asked for the way to itself.
        let server = try await ProxyServer(tls: authority.leaf)
        let url = "https://localhost:\(server.port)"
        var proxy = try Proxy(parsing: url)
        proxy.caFile = authority.caFile
        let sink = Sink()
        var options = try options([sink])
        options.proxies = ProxyRules(proxy)
        let policy = try PolicyUpdateTests.policy(PolicyUpdateTests.wrong, mode: mode)
        let system = try await Self.start(url, policy, options)
        let error = await failure(system, "/refused")
        let isEnforced = mode == .enforce
        #expect((error?.code.name == "pin-mismatch") == isEnforced, "\(error?.message ?? "")")
        await system.shutdown()
        let report = try #require(sink.reports.first)
        #expect(sink.reports.count == 1 && report.kind == .pinMismatch)
        #expect(report.isEnforced == isEnforced)
        #expect(report.host.text == "localhost" && report.port == server.port)
        #expect(report.chain.first?.pin.text == authority.leaf.pin)
        #expect(server.heard.contains("/refused") != isEnforced)
    }

    @Test func anEngineWithoutPinsReportsRefusals() async throws {
        let sink = Sink()
        var options = try options([sink])
        options.caFile = nil
        options.engine = RecordingEngine(pins: false)
        let system = try await Self.start(
            "http://localhost:9", PolicyUpdateTests.policy(PolicyUpdateTests.wrong), options)
        #expect(await failure(system)?.code.name == "cleartext-to-pinned-host")
        await system.shutdown()
        #expect(sink.reports.map(\.kind) == [.cleartextToPinnedHost])
    }

    @Test(
        arguments: [
            ("https://third.example:8443/b?s3cr3t", .unlistedHost, 8443),
            ("http://localhost/b", .cleartextToPinnedHost, 80),
        ] as [(String, PinRefusal.Code, Int)])
    func aRedirectThatThePolicyRefusesIsReported(
        _ location: String, _ code: PinRefusal.Code, _ port: Int
    ) async throws {
        let sink = Sink()
        var options = try options([sink])
        options.caFile = nil
        options.engine = RecordingEngine(responses: [
            .init(status: 302, fields: [.location: location])
        ])
        let system = try await Self.start(
            "https://localhost", PolicyUpdateTests.policy(PolicyUpdateTests.wrong), options)
        #expect(await failure(system)?.code.name == code.name)
        #expect(await failure(system)?.code.name == code.name)
        await system.shutdown()
        #expect(sink.reports.map(\.kind) == [code])
        #expect(sink.reports.first?.port == port && sink.reports.first?.isEnforced == true)
        #expect(system.pinReportCounts.repeated == 1)
    }

    /// A clock that advances by a second at each reading. The first reader of the time waits until
    /// two more have read it, or for a while if none can.
    private final class Clock: Sendable {
        private let seconds = Mutex(PinReportingTests.now)
        func read() -> Int64 {
            let now = next()
            guard now == PinReportingTests.now + 1 else { return now }
            for _ in 0..<20_000 where seconds.withLock({ $0 }) < now + 2 { _ = sched_yield() }
            return now
        }
        private func next() -> Int64 {
            seconds.withLock { seconds in
                seconds += 1
                return seconds
            }
        }
    }

    @Test func concurrentCallsMakeOneReport() async throws {
        let (sink, clock) = (Sink(), Clock())
        var options = try options([sink])
        options.clock.now = { clock.read() }
        options.caFile = nil
        options.engine = RecordingEngine(pins: false)
        let system = try await Self.start(
            "http://localhost:9", PolicyUpdateTests.policy(PolicyUpdateTests.wrong), options)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { for _ in 0..<50 { _ = await failure(system) } }
            }
        }
        await system.shutdown()
        #expect(sink.reports.count == 1)
        #expect(system.pinReportCounts.made == 100 && system.pinReportCounts.repeated == 99)
    }

    // MARK: Bad sinks

    @Test func aFailingSinkAffectsNoOther() async throws {
        let (bad, good, log) = (Sink(.fail), Sink(), RecordingLog())
        let system = try await Self.start(
            "https://localhost:9", PinPolicy(rules: []), options([bad, good], log: log))
        #expect(await failure(system)?.code.name == "unlisted-host")
        await system.shutdown()
        #expect(good.reports.count == 1)
        #expect(system.pinReportCounts.failed == 1 && system.pinReportCounts.delivered == 2)
        #expect(log.text.contains("no room"))
    }

    /// A system that refuses each call, and reports each refusal.
    private func refusing(_ options: NetworkSystem.Options) async throws -> NetworkSystem {
        var options = options
        options.pinReports.repeatsAfter = 0
        options.pinReports.logs = false
        return try await Self.start("https://localhost:9", PinPolicy(rules: []), options)
    }

    @Test func aSinkThatStallsHoldsUpNoCallAndNoShutdown() async throws {
        let (stalled, good) = (Sink(.stall), Sink())
        var options = try options([stalled, good])
        options.pinReports.queueLimit = 2
        options.pinReports.flushTime = .milliseconds(50)
        let system = try await refusing(options)
        _ = await failure(system)
        #expect(try await eventually { stalled.reports.count == 1 && good.reports.count == 1 })
        for number in 2...10 {
            #expect(await failure(system)?.code.name == "unlisted-host")
            #expect(try await eventually { good.reports.count == number })
        }
        // One is being sent, two wait, and seven were dropped.
        #expect(system.pinReportCounts.dropped == 7)
        await system.shutdown()
        #expect(system.pinReportCounts.dropped == 9)
        #expect(stalled.reports.count == 1)
        // No further report is made.
        _ = await failure(system)
        #expect(system.pinReportCounts.made == 10)
    }

    /// A shutdown ends the calls first, and only then waits for the sinks.
    @Test func callsEndBeforeASinkIsWaitedFor() async throws {
        let (stalled, engine) = (Sink(.stall), WaitingEngine(isStubborn: true, pins: false))
        var options = try options([stalled])
        options.caFile = nil
        options.engine = engine
        options.pinReports.flushTime = .seconds(3600)
        let policy = try PinPolicy(rules: [PinRule(excluding: "localhost")])
        let system = try await Self.start("https://localhost:9", policy, options)
        var elsewhere = RequestOptions()
        elsewhere.baseURL = "https://other.example.com"
        let unlisted = elsewhere
        let refusal = await Pipeline.code { () async throws(ClientError) in
            try await system.exchange(
                "plain", method: .get, target: "/", fields: [:], body: [], options: unlisted)
        }
        #expect(refusal == .unlistedHost)
        let call = Task { await failure(system) }
        #expect(try await eventually { stalled.reports.count == 1 && engine.count == 1 })
        let shutdown = Task { await system.shutdown(gracePeriod: .zero) }
        #expect(try await eventually { system.runningCalls.isEmpty })
        // The sink has not given up: the flush is still running, or has not begun.
        #expect(system.pinReportCounts.failed == 0 && system.pinReportCounts.delivered == 1)
        // It ends with the task that waits for it.
        shutdown.cancel()
        await shutdown.value
        #expect(await call.value?.code == .notRunning)
        engine.letGo()
    }

    @Test func theNextReportCountsDroppedOnes() async throws {
        final class Gate: Sendable {
            let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
        }
        let gate = Gate()
        final class Slow: PinReportSink {
            let name = "slow"
            let kept = Mutex<[PinReport]>([])
            let wait: @Sendable () async -> Void
            init(_ wait: @escaping @Sendable () async -> Void) { self.wait = wait }
            func receive(_ report: PinReport) async throws(PinError) {
                kept.withLock { $0.append(report) }
                if kept.withLock({ $0.count }) == 1 { await wait() }
            }
        }
        let slow = Slow {
            await withCheckedContinuation { continuation in
                gate.waiting.withLock { $0 = continuation }
            }
        }
        var options = try options([slow])
        options.pinReports.queueLimit = 1
        let system = try await refusing(options)
        _ = await failure(system)
        #expect(try await eventually { gate.waiting.withLock { $0 != nil } })
        for _ in 0..<4 { _ = await failure(system) }
        gate.waiting.withLock { $0 }?.resume()
        await system.shutdown()
        #expect(slow.kept.withLock { $0.map(\.dropped) } == [0, 3])
    }
}
