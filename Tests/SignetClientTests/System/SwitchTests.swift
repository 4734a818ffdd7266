import SignetClient
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// The switches for debugging, while a system runs.
@Suite(.enabled(if: RunMode.isSwitchable)) struct SwitchTests {
    private static func code(_ system: NetworkSystem) async -> ClientError.Code? {
        await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a")
        }
    }

    @Test func aSwitchActsOnCallsThatBeginLater() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine) { $0.runMode = .development }
        #expect(system.switches.isEmpty)
        #expect(await Self.code(system) == nil)
        var switches = DebugSwitches()
        switches.simulation.isOffline = true
        try system.update(switches: switches)
        #expect(system.switches == switches && !switches.isEmpty)
        #expect(await Self.code(system) == .offline)
        try system.update(switches: DebugSwitches())
        #expect(await Self.code(system) == nil)
        #expect(engine.count == 2)
        await system.shutdown()
    }

    @Test func theyOutliveAChangeOfTheConfiguration() async throws {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine()
        options.runMode = .development
        let configuration = try Settings.configuration([:])
        let system = try await NetworkSystem.start(configuration, options: options)
        var switches = DebugSwitches()
        switches.simulation.timesOut = true
        try system.update(switches: switches)
        try system.update(configuration)
        #expect(system.switches == switches)
        await system.shutdown()
    }

    /// With all switches off, those of the next configuration act.
    @Test func theConfigurationsSwitchesActAgain() async throws {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine()
        let configuration = try Settings.configuration([
            "app.runMode": "development", "simulation.offline": true,
        ])
        let system = try await NetworkSystem.start(configuration, options: options)
        var switches = DebugSwitches()
        switches.simulation.timesOut = true
        try system.update(switches: switches)
        try system.update(configuration)
        #expect(system.switches == switches && system.holdsSwitches)
        try system.update(switches: DebugSwitches())
        #expect(system.switches.isEmpty && !system.holdsSwitches)
        try system.update(configuration)
        #expect(system.switches.simulation == FailureSimulation(isOffline: true))
        await system.shutdown()
    }

    @Test func theEngineIsSwitched() async throws {
        let (one, two) = (RecordingEngine(), RecordingEngine())
        let system = try await Pipeline.system(one) { options in
            options.runMode = .development
            options.engines["two"] = two
            options.callOptions.engine = EngineChoice()
        }
        var switches = DebugSwitches()
        switches.engine = "two"
        try system.update(switches: switches)
        #expect(await Self.code(system) == nil)
        #expect(one.count == 0 && two.count == 1)
        await system.shutdown()
    }

    @Test func theHostIsSwitchedUnderTheSamePolicy() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine) { $0.runMode = .staging }
        var switches = DebugSwitches()
        switches.baseURLs["a"] = "https://other.example.com/v2"
        try system.update(switches: switches)
        #expect(await Self.code(system) == nil)
        #expect(engine.requests[0].request.authority == "other.example.com")
        #expect(engine.requests[0].request.path == "/v2/x")
        #expect(engine.requests[0].policy == system.policy)
        await system.shutdown()
    }

    /// The pause counts to the time of the attempt, and a pause that is longer fails.
    @Test(arguments: [(Duration.seconds(2), nil), (.seconds(40), ClientError.Code.timeout)])
    func aDelayComesBeforeEachRequest(_ delay: Duration, _ code: ClientError.Code?) async throws {
        let engine = RecordingEngine()
        let pauses = Mutex<[Duration]>([])
        let system = try await Pipeline.system(engine) { options in
            options.runMode = .development
            options.simulation = FailureSimulation(delay: delay)
            options.clock.sleep = { pause in pauses.withLock { $0.append(pause) } }
        } changeService: {
            $0.timeout = .seconds(30)
            $0.attempts = 1
        }
        #expect(system.startReport.simulated == ["simulation.delay"])
        #expect(await Self.code(system) == code)
        let first = try #require(pauses.withLock { $0.first })
        #expect(code == nil ? first == delay : first <= .seconds(30))
        #expect(engine.count == (code == nil ? 1 : 0))
        // It is a stage of its own, before the request.
        let trace = CallTrace()
        _ = await system.response(
            to: .get("/x", on: "a"), as: .raw, options: RequestOptions(trace: trace))
        let stages = trace.record?.work.stages.map(\.name) ?? []
        #expect(stages.filter { $0 == .delay || $0 == .request } == [.delay, .request])
        if code == nil { #expect(engine.requests[0].timeout <= .seconds(28)) }
        await system.shutdown()
    }

    @Test func inProductionNothingIsSwitched() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        var switches = DebugSwitches()
        switches.simulation.isOffline = true
        let error = #expect(throws: ClientError.self) { try system.update(switches: switches) }
        #expect(error?.code == .invalidOptions)
        #expect(system.switches.isEmpty)
        #expect(await Self.code(system) == nil)
        await system.shutdown()
    }

    private static func switches(_ change: (inout DebugSwitches) -> Void) -> DebugSwitches {
        var switches = DebugSwitches()
        switches.simulation.isOffline = true
        change(&switches)
        return switches
    }

    private static let invalid: [(DebugSwitches, ClientError.Code)] = [
        (switches { $0.engine = "unknown" }, .invalidOptions),
        (switches { $0.simulation.failureRate = 1.5 }, .invalidOptions),
        (switches { $0.simulation.failureRate = .nan }, .invalidOptions),
        (switches { $0.simulation.delay = .seconds(-1) }, .invalidOptions),
        (switches { $0.baseURLs["other"] = "https://a.example" }, .unknownService),
        (switches { $0.baseURLs["a"] = "ftp://a.example" }, .refusedURL),
    ]

    @Test(arguments: invalid) func invalidSwitchesChangeNothing(
        _ switches: DebugSwitches, _ code: ClientError.Code
    ) async throws {
        let system = try await Pipeline.system(RecordingEngine()) { $0.runMode = .development }
        let error = #expect(throws: ClientError.self) { try system.update(switches: switches) }
        #expect(error?.code == code)
        #expect(system.switches.isEmpty)
        await system.shutdown()
        let late = #expect(throws: ClientError.self) {
            try system.update(switches: DebugSwitches())
        }
        #expect(late?.code == .notRunning)
    }
}
