import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import SignetVault
import TestSupport
import Testing

/// The run modes and the simulation switches.
@Suite struct RunModeTests {
    private static func system(
        _ values: JSONObject, _ engine: RecordingEngine, maySwitch: Bool = true
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.mayBeSwitched = maySwitch
        return try await NetworkSystem.start(Settings.configuration(values), options: options)
    }

    @Test(.features("000-25"), .enabled(if: RunMode.isSwitchable), arguments: RunMode.allCases)
    func aDebugBuildRunsInTheModeThatIsSet(_ mode: RunMode) async throws {
        let system = try await Self.system(
            ["app.runMode": .string(mode.rawValue)], RecordingEngine())
        #expect(system.mode == mode)
        await system.shutdown()
    }

    @Test func withoutAModeItIsProduction() async throws {
        let system = try await Self.system([:], RecordingEngine())
        #expect(system.mode == .production)
        await system.shutdown()
    }

    @Test(
        .features("000-25"),
        arguments: [
            ["app.runMode": "development"], ["app.runMode": "staging"], ["app.runMode": "anything"],
            ["app.runMode": 1], ["app.runMode": true],
            ["app.runMode": "development", "simulation.offline": true],
            ["app.runMode": "development", "simulation.timeout": true],
            ["app.runMode": "development", "simulation.failure": true],
            ["app.runMode": "development", "simulation.failureRate": 1],
            ["app.runMode": "development", "simulation.offline": "yes"],
            [
                "app.runMode": "development",
                "services.a.staging.baseURL": "https://test.example.com/",
            ],
            ["app.runMode": "development", "services.a.staging.baseURL": "not a URL"],
        ] as [JSONObject])
    func aBuildThatCannotSwitchIsProduction(_ values: JSONObject) async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(values, engine, maySwitch: false)
        #expect(system.mode == .production)
        #expect(system.startReport.ignored == values.memberNames)
        #expect(system.startReport.simulated.isEmpty)
        _ = try await system.call(RPCCall("m"), on: "a")
        let sent = try #require(engine.requests.first)
        #expect(sent.request.authority == "api.example.com")
        await system.shutdown()
    }

    @Test func productionIgnoresTheSwitches() async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(
            [
                "simulation.offline": true, "simulation.timeout": false,
                "simulation.failureRate": 0,
                "services.a.staging.baseURL": "https://test.example.com/",
            ], engine)
        #expect(
            system.startReport.ignored == ["simulation.offline", "services.a.staging.baseURL"])
        _ = try await system.call(RPCCall("m"), on: "a")
        #expect(engine.requests.first?.request.authority == "api.example.com")
        await system.shutdown()
    }

    @Test(
        .features("000-17"),
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            ("simulation.offline", true, "offline"), ("simulation.timeout", true, "timeout"),
            ("simulation.failure", true, "cut-off"), ("simulation.failureRate", 1, "cut-off"),
        ] as [(String, JSONValue, String)])
    func simulationsFailWithoutAByte(_ key: String, _ value: JSONValue, _ code: String)
        async throws
    {
        let engine = RecordingEngine()
        let system = try await Self.system(["app.runMode": "development", key: value], engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a")
        }
        #expect(error?.code.name == code)
        #expect(error?.kind == .noResponse)
        #expect(error?.message.contains("simulat") == true)
        #expect(engine.count == 0)
        #expect(system.startReport.simulated.count == 1)
        #expect(system.startReport.ignored.isEmpty)
        await system.shutdown()
    }

    @Test(.enabled(if: RunMode.isSwitchable))
    func aTestServerHasItsOwnPins() async throws {
        let engine = RecordingEngine()
        let pin = "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
        let system = try await Self.system(
            [
                "app.runMode": "staging", "services.a.staging.baseURL": "https://test.example.com/",
                "services.a.staging.pins": [.string(pin)],
            ], engine)
        _ = try await system.call(RPCCall("m"), on: "a")
        let sent = try #require(engine.requests.first)
        #expect(sent.request.authority == "test.example.com")
        #expect(sent.policy?.rules.map(\.pattern.description) == ["test.example.com"])
        #expect(sent.policy?.rules.first?.pins.map(\.text) == [pin])
        await system.shutdown()
    }

    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            ["app.runMode": "debug"], ["app.runMode": "Production"], ["app.runMode": ""],
            ["app.runMode": 1], ["app.runMode": "development", "simulation.offline": "yes"],
            ["app.runMode": "development", "simulation.failureRate": 2],
            ["app.runMode": "staging", "services.a.staging.baseURL": "ftp://test.example.com/"],
            ["app.runMode": "development", "services.a.development.pins": ["sha256/AAAA"]],
        ] as [JSONObject])
    func refusesAnInvalidModeOrSwitch(_ values: JSONObject) async throws {
        let engine = RecordingEngine()
        let error = await #expect(throws: ClientError.self) {
            try await Self.system(values, engine)
        }
        #expect(["invalid-configuration", "invalid-service"].contains(error?.code.name))
        #expect(error?.message.contains("debug") != true)
    }
}
