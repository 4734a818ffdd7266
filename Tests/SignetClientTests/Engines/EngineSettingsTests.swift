import Foundation
import SignetClient
import SignetCurl
import SignetJSON
import SignetPinning
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

/// The engine's settings and choices in a configuration, and engines that wrap another.
@Suite struct EngineSettingsTests {
    private static func options() -> NetworkSystem.Options {
        var options = NetworkSystem.Options()
        options.dangerous.allowUnpinnedServices()
        return options
    }

    /// Starts a system whose service `a` is on this machine.
    private static func system(
        _ port: Int, _ values: JSONObject, _ options: NetworkSystem.Options = options()
    ) async throws -> NetworkSystem {
        var all: JSONObject = [
            "services.a.baseURL": .string("http://127.0.0.1:\(port)/"),
            "services.a.protocol": "rest", "services.a.pins": [],
        ]
        for (name, value) in values { all[name] = value }
        return try await NetworkSystem.start(Settings.configuration(all), options: options)
    }

    /// A server that responds to the first request of a connection after another connection has one
    /// too, and prints a line for each connection with a request.
    private static func server() async throws -> (server: ServerProcess, port: Int) {
        try await SocketServer.start("two-connections")
    }

    @Test(.features("004-02"), arguments: [true, false])
    func theSettingLimitsAHostsConnections(_ isKey: Bool) async throws {
        let (server, port) = try await Self.server()
        var options = Self.options()
        if !isKey {
            options.engineSettings = EngineSettings()
            options.engineSettings?.maximumConnectionsPerHost = 2
        }
        // The program's settings take precedence over the configuration.
        let system = try await Self.system(
            port, ["engine.connectionsPerHost": isKey ? 2 : 9], options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<24 {
                group.addTask { _ = try await system.call(RESTRequest(.get, "/"), on: "a") }
            }
            try await group.waitForAll()
        }
        let connections = server.stdout.split(separator: "\n").count { $0 == "CONNECTED" }
        #expect(connections == 2)
        await system.shutdown()
    }

    private static let refused: [(JSONObject, String)] = [
        (["engine.connectionsPerHost": 0], "engine.connectionsPerHost"),
        (["engine.connectionsPerHost": 1025], "engine.connectionsPerHost"),
        (["engine.connectionsPerHost": "2"], "engine.connectionsPerHost"),
        (["engine.idleTime": -1], "engine.idleTime"),
        (["engine.dnsCacheTime": "soon"], "engine.dnsCacheTime"),
        (["engine.http2": "yes"], "engine.http2"),
        (["engine.maximumHeaderSize": 1], "engine.maximumHeaderSize"),
        (["engine.maximumHeaderFields": 65_535], "engine.maximumHeaderFields"),
        (["engine.bodyBufferSize": 0], "engine.bodyBufferSize"),
        (["services.a.engine": "nobody"], "services.a.engine"),
        (["services.a.engine": 1], "services.a.engine"),
        (["services.a.engineTrial": "two"], "services.a.engineTrial"),
        (["services.a.engineTrialPercent": 5], "services.a.engineTrialPercent"),
        (["services.a.engineTrial": "two", "services.a.engineTrialPercent": 101], "services.a"),
        (["services.a.engineRivals": ["nobody"]], "services.a.engine"),
        (["services.a.engineFallbackFailures": 2], "services.a.engineFallbackFailures"),
        (["services.a.engineFallbackTime": 2], "services.a.engineFallbackTime"),
        (["services.a.engineFallback": "two", "services.a.engineFallbackTime": 0], "services.a"),
    ]

    /// The same configuration is invalid whichever engine the program gives.
    @Test func aKeyIsReadBesideAGivenEngine() async throws {
        var options = Self.options()
        options.engine = RecordingEngine()
        let error = await #expect(throws: ClientError.self) {
            _ = try await Self.system(1, ["engine.connectionsPerHost": 0], options)
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(arguments: refused.indices) func aKeyThatCannotBeWorkedWithIsNamed(_ index: Int)
        async throws
    {
        let (values, name) = Self.refused[index]
        let error = await #expect(throws: ClientError.self) {
            var options = Self.options()
            options.engines["two"] = RecordingEngine()
            _ = try await Self.system(1, values, options)
        }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        #expect(error?.kind == .local && error?.message.contains("nobody") == false)
    }

    @Test(.features("000-43")) func aServicesKeysChooseItsEngine() async throws {
        let two = RecordingEngine(responses: [.init(body: "1")])
        var options = Self.options()
        options.engines["two"] = two
        let system = try await Self.system(
            1,
            [
                "services.a.engine": "two", "services.a.engineTrial": "two",
                "services.a.engineTrialPercent": 12.5, "services.a.engineRivals": ["standard"],
                "services.a.engineFallback": "standard", "services.a.engineFallbackFailures": 5,
                "services.a.engineFallbackTime": 9,
            ], options)
        let choice = EngineChoice(
            "two", trial: .init("two", percent: 12.5), candidates: ["standard"],
            fallback: .init("standard", failures: 5, time: .seconds(9)))
        #expect(try system.callOptions(for: "a").engine == choice)
        await system.shutdown()
        let plain = try await Self.system(1, ["services.a.engine": "two"], options)
        _ = try await plain.call(RESTRequest(.get, "/"), on: "a")
        #expect(two.count == 1)
        await plain.shutdown()
    }

    // MARK: Engines that wrap another

    /// Whether an engine that wraps libcurl hands probes on.
    private final class Wrapper: HTTPEngine {
        private let engine: CurlEngine
        let probes = Mutex(0)

        init(_ engine: CurlEngine) { self.engine = engine }

        var capabilities: EngineCapabilities { engine.capabilities }
        var executor: (any TaskExecutor)? { engine.executor }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            try await engine.send(request)
        }

        func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
            probes.withLock { $0 += 1 }
            return try await engine.probe(probe)
        }

        func shutdown() async { await engine.shutdown() }
    }

    @Test(.features("002-12", "004-03")) func anEngineThatWrapsAnotherChecksHosts() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await OrdersHost.start()
        var settings = EngineSettings()
        settings.caFile = authority.caFile
        let wrapper = Wrapper(try CurlEngine(settings))
        for (engine, status) in [
            (wrapper, .good), (RecordingEngine(), .skipped),
        ] as [(any HTTPEngine, SelfCheckReport.Status)] {
            var options = NetworkSystem.Options()
            options.engine = engine
            let system = try await NetworkSystem.start(
                services: ["a": ServiceConfiguration(baseURL: host.url, payloadProtocol: .rest)],
                policy: PinPolicy(rules: [
                    PinRule(
                        host: "localhost",
                        pins: [Pin(parsing: authority.root.pin), Pin(parsing: authority.leaf.pin)])
                ]), options: options)
            let report = await system.selfCheck(hostTimeout: .seconds(300))
            #expect(report.lines.filter { $0.area == "hosts" }.map(\.status) == [status])
            await system.shutdown()
        }
        #expect(wrapper.probes.withLock { $0 } == 1)
        #expect(host.requests.isEmpty)
    }

    /// An interceptor that records the name of the thread.
    private struct Witness: AttemptInterceptor {
        let names: NameList

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            names.addThread()
            return try await next(call)
        }
    }

    private final class NameList: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func addThread() {
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            names.withLock { $0.append(name ?? "") }
        }
    }

    @Test(arguments: ["caFile", "engineSettings", nil])
    func settingsForAGivenEngineAreRefused(_ name: String?) async throws {
        let policy = try PinPolicy.allowingAll()
        for hasEngine in [true, false] {
            var options = NetworkSystem.Options()
            let engine = RecordingEngine()
            if hasEngine { options.engine = engine } else { options.engines["two"] = engine }
            switch name {
            case "caFile": options.caFile = try TestAuthority.trusted.get().caFile
            case "engineSettings": options.engineSettings = EngineSettings()
            default: break
            }
            do throws(ClientError) {
                let system = try await NetworkSystem.start(
                    services: [:], policy: policy, options: options)
                #expect(name == nil || !hasEngine)
                await system.shutdown()
            } catch {
                #expect(hasEngine && error.code == .invalidOptions)
                #expect(name.map(error.message.contains) == true, "\(error.message)")
            }
        }
    }

    @Test(arguments: [true, false]) func workRunsOnTheEnginesThreadIfAsked(_ isAsked: Bool)
        async throws
    {
        let (server, port) = try await Self.server()
        let names = NameList()
        var options = Self.options()
        options.runsOnEngineThread = isAsked
        options.callOptions.attemptInterceptors = [Witness(names: names)]
        let engine = Wrapper(try CurlEngine())
        options.engine = engine
        let system = try await Self.system(port, [:], options)
        async let other = system.call(RESTRequest(.get, "/"), on: "a")
        _ = try await (system.call(RESTRequest(.get, "/"), on: "a"), other)
        #expect(names.all.count == 2)
        #expect(names.all.allSatisfy { ($0 == "signet-curl\n") == isAsked }, "\(names.all)")
        await system.shutdown()
        try await server.stop()
    }
}
