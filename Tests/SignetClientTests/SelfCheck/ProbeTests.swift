import SignetCache
import SignetClient
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

/// Test calls of the configuration: what they find, and what they leave alone.
@Suite(.timeLimit(.minutes(2))) struct ProbeTests {
    /// The keys of a test call named `up`.
    static func probe(_ values: JSONObject) -> JSONObject {
        JSONObject(values.map { (name: "probes.up.\($0.name)", value: $0.value) })
    }

    static let up = probe([
        "service": "a", "method": "state", "parameters": ["deep": true],
        "expect": ["state": "up", "parts": [1, ["name": "db"]]],
    ])

    static func result(_ value: JSONValue) -> RecordingEngine.Response {
        .init(body: JSONValue.object(["jsonrpc": "2.0", "id": 1, "result": value]).text)
    }

    static let good: JSONValue = [
        "state": "up", "parts": [1, ["name": "db", "more": 2]], "uptime": 7,
    ]

    /// A system with a configuration of these values.
    static func system(
        _ engine: any HTTPEngine, _ values: JSONObject = up,
        change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        change(&options)
        return try await NetworkSystem.start(Settings.configuration(values), options: options)
    }

    /// The lines of the test calls.
    static func lines(
        _ engine: any HTTPEngine, _ values: JSONObject = up, isOffline: Bool = false,
        change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> [SelfCheckReport.Line] {
        let system = try await system(engine, values, change: change)
        let report = await system.selfCheck(isOffline: isOffline)
        await system.shutdown()
        return report.lines.filter { $0.area == "probes" }
    }

    // MARK: Findings

    @Test(.features("000-62")) func aGoodCallIsALine() async throws {
        let engine = RecordingEngine(responses: [Self.result(Self.good)])
        let lines = try await Self.lines(engine)
        #expect(lines.map(\.subject) == ["up"] && lines[0].status == .good)
        #expect(lines[0].detail.contains("a state: as expected, in ") && lines[0].remedy == nil)
        // The call went through the whole pipeline.
        let sent = try JSONValue(parsing: engine.requests[0].bytes)
        #expect(engine.count == 1 && sent["method"] == "state")
        #expect(sent["params"] == ["deep": true])
    }

    @Test(
        arguments: [
            (["state": "down", "parts": [1, ["name": "db"]]], "$.state"),
            (["parts": [1, ["name": "db"]]], "$.state"),
            (["state": "up", "parts": [1, ["name": "cache"]]], "$.parts[1].name"),
            (["state": "up", "parts": [1]], "$.parts"),
            (["state": "up", "parts": 1], "$.parts"), (["state": nil, "parts": []], "$.state"),
            ("up", "$"), (nil, "$"),
        ] as [(JSONValue, String)])
    func aWrongValueIsNamedByItsPlace(_ value: JSONValue, _ path: String) async throws {
        let lines = try await Self.lines(RecordingEngine(responses: [Self.result(value)]))
        #expect(lines[0].status == .bad)
        #expect(lines[0].detail == "a state: the result isn't as expected at \(path)")
        #expect(lines[0].remedy == "fix the service, or probes.up.expect")
    }

    @Test func withoutAnExpectationAnySuccessIsGood() async throws {
        let values = Self.probe(["service": "a", "method": "state"])
        let lines = try await Self.lines(RecordingEngine(), values)
        #expect(lines[0].status == .good)
    }

    @Test func aSlowCallIsALine() async throws {
        var values = Self.up
        values["probes.up.timeout"] = 0.05
        let lines = try await Self.lines(WaitingEngine(), values)
        #expect(lines[0].status == .bad && lines[0].detail == "a state: no response within 50 ms")
        #expect(lines[0].remedy?.contains("probes.up.timeout") == true)
    }

    @Test(
        arguments: [
            (.init(status: 500, body: "no"), "http-status", "look at the service's log"),
            (.init(status: 401, body: "no"), "http-status", "check the key that signs"),
            (
                .init(body: #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#),
                "rpc-error", "look at the service's log"
            ),
            (.init(body: "[]"), "malformed-response", "fix the service's responses"),
            (
                .init(failure: TransportError(.connect, "down")), "connect",
                "look at the host's network"
            ),
        ] as [(RecordingEngine.Response, String, String)])
    func aFailureIsALineWithARemedy(
        _ response: RecordingEngine.Response, _ code: String, _ remedy: String
    ) async throws {
        let lines = try await Self.lines(RecordingEngine(responses: [response]))
        #expect(lines[0].status == .bad)
        #expect(lines[0].detail.hasPrefix("a state: \(code)"), "\(lines[0].detail)")
        #expect(lines[0].remedy?.hasPrefix(remedy) == true, "\(lines[0].remedy ?? "")")
    }

    @Test func eachIsCalledOnceInTheOrderOfNames() async throws {
        var values = Self.up
        for name in ["b", "zz"] {
            values["probes.\(name).service"] = "a"
            values["probes.\(name).method"] = "state"
        }
        let engine = RecordingEngine(failingFirst: 1)
        let lines = try await Self.lines(engine, values)
        #expect(lines.map(\.subject) == ["b", "up", "zz"] && engine.count == 3)
        // No retry hides a failure.
        #expect(lines.map(\.status) == [.bad, .bad, .good])
    }

    // MARK: Configurations

    @Test(
        arguments: [
            (["method": "state"], "probes.up.service has no value"),
            (["service": "b", "method": "state"], "probes.up.service isn't the name of a service"),
            (["service": "a"], "probes.up.method has no value"),
            (["service": "a", "method": ""], "probes.up.method has no value"),
            (["service": "a", "method": "s", "metod": "s"], "probes.up.metod isn't a key"),
            (["service": "a", "method": "s", "path": "x"], "probes.up.path doesn't begin with /"),
            (["service": "a", "method": "s", "parameters": 7], "probes.up.parameters is neither"),
            (["service": "a", "method": "s", "timeout": 0], "probes.up.timeout is not above zero"),
            (
                ["service": "a", "method": "s", "timeout": true],
                "probes.up.timeout has another type"
            ),
        ] as [(JSONObject, String)])
    func aWrongKeyIsALineAndSendsNothing(_ keys: JSONObject, _ message: String) async throws {
        let engine = RecordingEngine()
        let lines = try await Self.lines(engine, Self.probe(keys))
        #expect(lines.map(\.status) == [.bad] && engine.count == 0)
        #expect(lines[0].detail.hasPrefix(message), "\(lines[0].detail)")
        #expect(lines[0].remedy != nil)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "get", ""])
    func aCallThatMayChangeSomethingIsRefused(_ method: String) async throws {
        var values = Self.probe([
            "service": "a", "method": .string(method), "path": "/orders/7",
        ])
        values["services.a.protocol"] = "rest"
        let engine = RecordingEngine(responses: [.init(body: "{}")])
        let lines = try await Self.lines(engine, values)
        #expect(lines.map(\.status) == [.bad] && engine.count == 0)
        #expect(lines[0].detail.contains("a test call must change nothing"))
        values["probes.up.method"] = nil
        #expect(try await Self.lines(engine, values).map(\.status) == [.good])
        #expect(engine.requests[0].request.method == .get)
        #expect(engine.requests[0].request.path == "/rpc/orders/7")
    }

    @Test func fetchedValuesMayHaveThemIfNamed() async throws {
        var all = Settings.service
        for (name, value) in Self.up { all[name] = value }
        let keys = all.map { name, value in
            let rule: JSONObject = [
                "type": .string(value.typeName), "visibility": "public",
                "setBy": ["defaults", "fetched"],
            ]
            return (name: name, value: JSONValue.object(rule))
        }
        let schema = try Schema(["keys": .object(JSONObject(keys))])
        let before = try GlobalConfiguration(schema: schema, defaults: .values(Settings.service))
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine(responses: [Self.result(Self.good)])
        let system = try await NetworkSystem.start(before, options: options)
        #expect(system.probes.isEmpty)
        try system.update(
            GlobalConfiguration(
                schema: schema, defaults: .values(Settings.service), fetched: .values(Self.up)))
        #expect(system.probes.map(\.name) == ["up"])
        #expect(system.probes[0].timeout == .seconds(10) && system.probes[0].method == "state")
        await system.shutdown()
    }

    @Test func offlineNothingIsSent() async throws {
        let engine = RecordingEngine()
        let lines = try await Self.lines(engine, isOffline: true)
        #expect(lines.map(\.status) == [.skipped] && lines[0].detail == "offline")
        let simulated = try await Self.lines(engine) {
            $0.runMode = .development
            $0.simulation = FailureSimulation(isOffline: true)
        }
        #expect(simulated.map(\.status) == [.skipped] && engine.count == 0)
        let system = try await Self.system(engine)
        await system.shutdown()
        let ended = await system.selfCheck().lines.filter { $0.area == "probes" }
        #expect(ended.map(\.status) == [.skipped] && engine.count == 0)
    }

    // MARK: Apart from other calls

    /// Notes the identities of calls.
    private final class Identities: CallObserver {
        private let noted = Mutex<[CallIdentity]>([])
        var all: [CallIdentity] { noted.withLock { $0 } }

        func receive(_ event: CallEvent) {
            if case .finished(let record) = event {
                noted.withLock { $0.append(record.identity) }
            }
        }
    }

    @Test(.features("000-62")) func theyAreNeitherCountedNorCached() async throws {
        let (counter, store) = (CallCounter(), MemoryCacheStore(byteLimit: 1 << 20))
        let noted = Identities()
        let engine = CachedOrigin { _, _ in .init(body: Self.result(Self.good).body) }
        // That of `Settings.service`: what no pinned key has sent isn't kept.
        engine.keys = [try Pin(parsing: "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")]
        let system = try await Self.system(engine) {
            $0.observers = [counter, noted]
            $0.cacheStore = store
            $0.callOptions.cache = .age(.seconds(60))
            $0.callOptions.tags = ["all"]
        }
        for _ in 0..<2 { _ = await system.selfCheck() }
        #expect(engine.count == 2 && counter.count() == 0 && counter.runningCount == 0)
        #expect(store.list().isEmpty)
        #expect(noted.all.map(\.isProbe) == [true, true])
        #expect(noted.all.map(\.tags) == [["all", "probe"], ["all", "probe"]])
        // The same call of the program itself.
        let call = RPCCall("state", parameters: .object(["deep": true]))
        for _ in 0..<2 { _ = try await system.call(call, on: "a") }
        #expect(engine.count == 3 && counter.count() == 2)
        _ = await system.selfCheck()
        #expect(engine.count == 4 && counter.count() == 2)
        #expect(noted.all.map(\.isProbe) == [true, true, false, false, true])
        await system.shutdown()
    }

    // MARK: Engines

    @Test(.features("000-45", "000-62")) func theyCompareTheEngines() async throws {
        let (first, second) = (
            RecordingEngine(responses: [Self.result(Self.good)]), RecordingEngine(failingFirst: 5)
        )
        var values = Self.up
        values["probes.down.service"] = "a"
        values["probes.down.method"] = "other"
        let system = try await Self.system(first, values) {
            $0.engines["second"] = second
            $0.engines["third"] = RecordingEngine(pins: false)
        }
        let comparison = await system.compareEngines()
        #expect(
            comparison.results.map { "\($0.probe) \($0.engine)" } == [
                "down second", "down standard", "down third", "up second", "up standard",
                "up third",
            ])
        #expect(comparison.results.allSatisfy { $0.count == 20 })
        #expect(first.count == 40 && second.count == 40)
        let failures = comparison.results.map { result in
            result.failures.reduce(into: [:]) { $0[$1.key.name] = $1.value }
        }
        // The engines take turns, so the five failures are shared.
        #expect(failures[0] == ["connect": 3] && failures[3] == ["connect": 2])
        #expect(failures[1].isEmpty && failures[4].isEmpty)
        // One that can't pin gets nothing of a pinned host.
        #expect(failures[2] == ["engine-cannot-pin": 20])
        // Its responses are null.
        #expect(comparison.results[3].unexpectedCount == 18)
        #expect(comparison.results[3].failureCount == 20)
        #expect(comparison.results[4].durations.count == 20)
        #expect(comparison.results[4].durations.sorted() == comparison.results[4].durations)
        #expect(comparison.results[4].medianDuration == comparison.results[4].durations[9])
        #expect(comparison.results[4].duration(at: 1) == comparison.results[4].durations[19])
        #expect(comparison.results[2].medianDuration == nil)
        let json = comparison.json.array?[2]
        #expect(json?["failures"] == ["engine-cannot-pin": 20])
        #expect(json?["medianMilliseconds"] == .null)
        await system.shutdown()
    }

    @Test func aComparisonDecidesNothingForOtherCalls() async throws {
        let standard = RecordingEngine(responses: [Self.result(Self.good)])
        let failing = RecordingEngine(failingFirst: 1000)
        var values = Self.up
        values["services.a.attempts"] = 1
        let system = try await Self.system(standard, values) {
            $0.engines["failing"] = failing
            $0.callOptions.engine = EngineChoice(
                "failing", fallback: .init(.standard, failures: 1))
        }
        _ = await system.compareEngines(repetitions: 3)
        #expect(failing.count == 3 && standard.count == 3)
        // Without a failure that counts, the chosen engine is asked first.
        await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("state"), on: "a")
        }
        #expect(failing.count == 4)
        _ = try await system.call(RPCCall("state"), on: "a")
        #expect(standard.count == 4)
        await system.shutdown()
    }
}
