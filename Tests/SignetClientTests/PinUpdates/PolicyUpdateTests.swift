import Foundation
import HTTPTypes
import Logging
import SignetBase
import SignetClient
import SignetCurl
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Changing the pins of a running system.
@Suite struct PolicyUpdateTests {
    static let wrong = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    static let directives = "location /plain { return 200 '{}'; }"
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    static func policy(_ pins: String..., mode: PinRule.Mode = .enforce) throws -> PinPolicy {
        try PinPolicy(rules: [
            PinRule(host: "localhost", pins: pins.map { try Pin(parsing: $0) }, mode: mode)
        ])
    }

    static func start(
        _ host: OrdersHost, _ policy: PinPolicy?, _ options: NetworkSystem.Options? = nil
    ) async throws -> NetworkSystem {
        try await NetworkSystem.start(
            services: [
                "plain": ServiceConfiguration(
                    baseURL: host.url, payloadProtocol: .rest, timeout: .seconds(300))
            ], policy: policy ?? .allowingAll(), options: options ?? Shop.options())
    }

    private func call(_ system: NetworkSystem, _ target: String) async -> ClientError? {
        do throws(ClientError) {
            let response = try await system.exchange(
                "plain", method: .get, target: target, fields: [:], body: [])
            return response.status == 200
                ? nil : ClientError(.httpStatus, "\(response.status)")
        } catch {
            return error
        }
    }

    /// It works: calls are made, and one lost key would end them.
    @Test func anUnwisePolicyIsLoggedOnce() async throws {
        let log = RecordingLog()
        var options = try Shop.options()
        options.logger = Logger(label: "test") { _ in log }
        let host = try await OrdersHost.start(directives: Self.directives)
        let (leaf, spare) = (authority.leaf.pin, authority.root.pin)
        func count(_ code: String) -> Int { log.text.components(separatedBy: code).count - 1 }
        let system = try await Self.start(host, try Self.policy(leaf), options)
        #expect(count("no-backup") == 1 && log.text.contains("localhost"))
        try system.update(policy: Self.policy(leaf))
        #expect(count("no-backup") == 1)
        try system.update(policy: Self.policy(leaf, spare))
        #expect(count("the pin policy has warnings") == 1)
        try system.update(
            policy: PinPolicy(
                rules: [
                    PinRule(
                        host: "*.co.uk", pins: [Pin(parsing: leaf), Pin(parsing: spare)])
                ], unlisted: .allow))
        #expect(count("public-suffix") == 1)
        #expect(await call(system, "/plain?good") == nil)
        await system.shutdown()
        try await host.stop()
    }

    @Test func aPooledConnectionIsJudgedByTheNewPolicy() async throws {
        let host = try await OrdersHost.start(directives: Self.directives)
        let right = try Self.policy(authority.leaf.pin)
        let system = try await Self.start(host, right)
        for _ in 0..<3 {
            #expect(await call(system, "/plain?good") == nil)
            try system.update(policy: Self.policy(Self.wrong))
            let error = await call(system, "/plain?bad")
            #expect(error?.code.name == "pin-mismatch")
            #expect(error?.pinRefusal?.expected.map(\.text) == [Self.wrong])
            let unlisted = try PinPolicy(rules: [])
            try system.update(policy: unlisted)
            #expect(await call(system, "/plain?bad")?.code.name == "unlisted-host")
            #expect(system.policy == unlisted)
            try system.update(policy: right)
        }
        #expect(await call(system, "/plain?last") == nil)
        let log = try await host.requests(count: 4)
        #expect(log.count == 4 && !log.contains { $0.contains("bad") })
        await system.shutdown()
        let error = #expect(throws: ClientError.self) { try system.update(policy: right) }
        #expect(error?.code == .notRunning)
        try await host.stop()
    }

    /// s_server closes after each response, so each call but the first resumes a session.
    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aCachedSessionIsJudgedByTheNewPolicy(version: String) async throws {
        let server = try await OpenSSLServer(authority.identity, options: [version])
        let right = try Self.policy(authority.root.pin)
        let system = try await NetworkSystem.start(
            services: [
                "plain": ServiceConfiguration(
                    baseURL: "https://localhost:\(server.port)", payloadProtocol: .rest,
                    timeout: .seconds(300))
            ], policy: right, options: Shop.options())
        for _ in 0..<2 {
            #expect(await call(system, "/") == nil)
            try system.update(policy: Self.policy(Self.wrong))
            #expect(await call(system, "/")?.code.name == "pin-mismatch")
            try system.update(policy: right)
        }
        #expect(await call(system, "/") == nil)
        await system.shutdown()
    }

    /// A system whose engine can be inspected and paused.
    private func interposed(
        _ host: OrdersHost, _ policy: PinPolicy
    ) async throws -> (NetworkSystem, InterposedEngine) {
        var options = try Shop.options()
        var settings = EngineSettings()
        settings.caFile = authority.caFile
        let engine = InterposedEngine(try CurlEngine(settings))
        options.caFile = nil
        options.engine = engine
        return (try await Self.start(host, policy, options), engine)
    }

    @Test(.features("000-04")) func aCallUnderWayKeepsThePolicyThatItBeganWith() async throws {
        let host = try await OrdersHost.start(directives: Self.directives)
        let (right, wrong) = try (Self.policy(authority.leaf.pin), Self.policy(Self.wrong))
        let (system, engine) = try await interposed(host, right)
        engine.setBefore { _ in try? system.update(policy: wrong) }
        #expect(await call(system, "/plain?good") == nil)
        engine.setBefore { _ in try? system.update(policy: right) }
        #expect(await call(system, "/plain?bad")?.code.name == "pin-mismatch")
        engine.setBefore { _ in }
        #expect(await call(system, "/plain?last") == nil)
        let log = try await host.requests(count: 2)
        #expect(log.count == 2 && !log.contains { $0.contains("bad") })
        await system.shutdown()
        try await host.stop()
    }

    /// The policy is swapped while the first request is out; the next one of the call is judged as
    /// it was.
    @Test func aRedirectedCallKeepsItToo() async throws {
        let host = try await OrdersHost.start(
            directives: Self.directives + " location /moved { return 302 /plain?good; }")
        let (right, none) = try (Self.policy(authority.leaf.pin), PinPolicy(rules: []))
        let (system, engine) = try await interposed(host, right)
        engine.setBefore { _ in try? system.update(policy: none) }
        #expect(await call(system, "/moved") == nil)
        #expect(await call(system, "/plain?bad")?.code.name == "unlisted-host")
        let log = try await host.requests(count: 2)
        #expect(log.count == 2 && !log.contains { $0.contains("bad") })
        await system.shutdown()
        try await host.stop()
    }

    @Test func eachCallIsJudgedByItsOwnPolicy() async throws {
        let host = try await OrdersHost.start(directives: Self.directives)
        let (right, wrong) = try (Self.policy(authority.leaf.pin), Self.policy(Self.wrong))
        let (system, engine) = try await interposed(host, right)
        let isOver = Flag()
        await withTaskGroup(of: Void.self) { swappers in
            for _ in 0..<2 {
                swappers.addTask {
                    while !isOver.isSet {
                        for policy in [wrong, right] {
                            try? system.update(policy: policy)
                            await Task.yield()
                        }
                    }
                }
            }
            await withTaskGroup(of: Void.self) { callers in
                for number in 0..<300 {
                    callers.addTask { _ = await call(system, "/plain?\(number)") }
                }
            }
            isOver.set()
        }
        let outcomes = engine.outcomes
        #expect(outcomes.count == 300)
        for outcome in outcomes {
            #expect(outcome.error == (outcome.policy == right ? nil : .pinMismatch))
        }
        let passed = outcomes.filter { $0.error == nil }.compactMap(\.path)
        let log = try await host.requests(count: passed.count)
        #expect(log.count == passed.count)
        await system.shutdown()
        try await host.stop()
    }

    @Test func thePolicyStaysWhenTheConfigurationChanges() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        _ = try await system.send(CreateOrder(item: "tea", quantity: 1))
        try system.update(policy: Self.policy(Self.wrong))
        try system.update(Shop.configuration(for: host, changes: ["services.orders.timeout": "9s"]))
        let error = await #expect(throws: ClientError.self) {
            try await system.send(CreateOrder(item: "tea", quantity: 2))
        }
        #expect(error?.code.name == "pin-mismatch")
        #expect(try system.policy == Self.policy(Self.wrong))
        try system.update(policy: Self.policy(authority.root.pin))
        _ = try await system.send(CreateOrder(item: "tea", quantity: 3))
        #expect(try await host.requests(count: 2).count == 2)
        await system.shutdown()
        try await host.stop()
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}

/// An engine in front of another: it acts before each request and writes down how each ended.
final class InterposedEngine: HTTPEngine {
    struct Outcome: Sendable {
        let policy: PinPolicy?
        let path: String?
        let error: TransportError.Code?
    }

    private let engine: CurlEngine
    private let state = Mutex<(before: @Sendable (EngineRequest) -> Void, outcomes: [Outcome])>(
        ({ _ in }, []))

    init(_ engine: CurlEngine) { self.engine = engine }

    var capabilities: EngineCapabilities { engine.capabilities }
    var outcomes: [Outcome] { state.withLock { $0.outcomes } }

    func setBefore(_ work: @escaping @Sendable (EngineRequest) -> Void) {
        state.withLock { $0.before = work }
    }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        state.withLock { $0.before }(request)
        func note(_ error: TransportError.Code?) {
            let outcome = Outcome(
                policy: request.policy, path: request.request.path, error: error)
            state.withLock { $0.outcomes.append(outcome) }
        }
        do throws(TransportError) {
            let response = try await engine.send(request)
            note(nil)
            return response
        } catch {
            note(error.code)
            throw error
        }
    }

    func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
        try await engine.probe(probe)
    }

    /// Also releases the action before requests, which holds the owner of this engine.
    func shutdown() async {
        setBefore { _ in }
        await engine.shutdown()
    }
}
