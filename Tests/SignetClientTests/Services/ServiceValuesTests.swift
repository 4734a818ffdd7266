import HTTPTypes
import SignetClient
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// The settings outside of the services, for services that are given as values.
@Suite struct ServiceValuesTests {
    private let engine = RecordingEngine()

    private static func pin(_ letter: String) throws -> Pin {
        try Pin(parsing: "sha256/" + String(repeating: letter, count: 42) + "E=")
    }

    /// A service with hosts of its own in staging and development, and its content delivery
    /// without.
    private static func services() throws -> [ServiceName: ServiceConfiguration] {
        let signing = ServiceConfiguration.Signing(scheme: "rfc9421", keyID: "live")
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/rpc", payloadProtocol: .rest, signing: signing,
            pins: [try pin("A")], commonFields: [.from: "shop"])
        service.staging = .init(
            baseURL: "https://api.staging.test/rpc", pins: [try pin("C")],
            signing: .init(scheme: "rfc9421", keyID: "trial"))
        service.development = .init(baseURL: "https://localhost:8443/rpc", pins: [try pin("F")])
        let delivery = ServiceConfiguration(
            baseURL: "https://cdn.example.com/", payloadProtocol: .rest, pins: [try pin("B")])
        return ["a": service, ServiceName("a").cdn: delivery]
    }

    private func system(
        _ services: [ServiceName: ServiceConfiguration]? = nil,
        change: (inout NetworkSystem.Options) throws -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        try change(&options)
        return try await NetworkSystem.start(
            services: services ?? Self.services(), keys: EnvironmentTests.keys, options: options)
    }

    // MARK: Modes

    private func check(
        _ system: NetworkSystem, host: String, pins: [String], key: String?
    ) async throws {
        _ = try await system.send(.get("/x", on: "a"))
        let sent = try #require(engine.requests.last)
        #expect(sent.request.authority == host)
        #expect(sent.request.headerFields[.from] == "shop")
        let rule = sent.policy?.rules.first { host.hasPrefix($0.pattern.description) }
        #expect(try rule?.pins == pins.map(Self.pin))
        let input = sent.request.headerFields[HTTPField.Name("Signature-Input")!] ?? ""
        #expect(key.map { input.contains("keyid=\"\($0)\"") } ?? input.isEmpty)
        await system.shutdown()
    }

    @Test(.features("002-15"), .enabled(if: RunMode.isSwitchable))
    func eachModeHasItsHost() async throws {
        for (mode, host, pin, key) in [
            (nil, "api.example.com", "A", "live"), (.production, "api.example.com", "A", "live"),
            (.staging, "api.staging.test", "C", "trial"),
            (.development, "localhost:8443", "F", nil),
        ] as [(RunMode?, String, String, String?)] {
            let system = try await system { $0.runMode = mode }
            #expect(system.mode == mode ?? .production)
            try await check(system, host: host, pins: [pin], key: key)
        }
    }

    @Test(.features("000-25"), arguments: RunMode.allCases)
    func aBuildThatCannotSwitchIsProduction(_ mode: RunMode) async throws {
        let system = try await system {
            $0.mayBeSwitched = false
            $0.runMode = mode
            $0.simulation = FailureSimulation(isOffline: true)
        }
        #expect(system.mode == .production && system.startReport.simulated.isEmpty)
        #expect(
            system.startReport.ignored
                == (mode == .production ? [] : ["options.runMode"]) + [
                    "options.simulation", "services.a.development.baseURL",
                    "services.a.staging.baseURL",
                ])
        try await check(system, host: "api.example.com", pins: ["A"], key: "live")
    }

    @Test(.enabled(if: RunMode.isSwitchable))
    func anEnvironmentNeedsPinsOfItsOwn() async throws {
        var services = try Self.services()
        services["a"]?.staging?.pins = []
        let changed = services
        let error = await #expect(throws: ClientError.self) {
            try await system(changed) { $0.runMode = .staging }
        }
        #expect(error?.code == .invalidService)
        #expect(error?.message.contains("services.a.staging.pins") == true)
        let production = try await system(changed)
        await production.shutdown()
    }

    @Test(.features("000-31"), .enabled(if: RunMode.isSwitchable), arguments: RunMode.allCases)
    func aTestServerIsForModesWithTestServers(_ mode: RunMode) async throws {
        let system = try await system { options in
            options.runMode = mode
            options.callOptions.testBaseURL = "https://cdn.example.com/test"
        }
        _ = try await system.send(.get("/x", on: "a"))
        let isTest = engine.requests.last?.request.path == "/test/x"
        #expect(isTest == (mode != .production))
        await system.shutdown()
    }

    @Test(
        .features("000-17"), .enabled(if: RunMode.isSwitchable),
        arguments: [
            (.init(isOffline: true), .offline), (.init(timesOut: true), .timeout),
            (.init(failureRate: 1), .cutOff), (.init(failureRate: 7), .cutOff),
            (.init(failureRate: -1), nil), (.init(failureRate: .nan), nil),
        ] as [(FailureSimulation, ClientError.Code?)])
    func failuresAreSimulated(
        _ simulation: FailureSimulation, _ wanted: ClientError.Code?
    ) async throws {
        let system = try await system {
            $0.runMode = .development
            $0.simulation = simulation
            $0.clock.sleep = { _ in }
        }
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.send(.get("/x", on: "a"))
        }
        #expect(code == wanted && (engine.count == 0) == (wanted != nil))
        #expect(system.startReport.simulated.isEmpty == (wanted == nil))
        await system.shutdown()
    }

    /// The options win over a configuration that is there too.
    @Test(.enabled(if: RunMode.isSwitchable))
    func optionsWinOverAConfiguration() async throws {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.runMode = .development
        options.simulation = FailureSimulation()
        options.userAgent = "option/1"
        options.scenarios["interactive"] = Self.timeout(.seconds(2))
        options.urlRules = try URLRules(refused: ["/secret"])
        let system = try await NetworkSystem.start(
            Settings.configuration([
                "services.a.protocol": "rest", "app.runMode": "staging",
                "simulation.offline": true, "app.userAgent": "key/1", "urlRules.refused": ["/x"],
                "timeouts.interactive": "9s", "attempts.interactive": 1,
            ]), options: options)
        #expect(system.mode == .development)
        _ = try await system.send(
            .get("/x", on: "a"), options: RequestOptions(scenario: "interactive"))
        let sent = try #require(engine.requests.first)
        #expect(sent.request.headerFields[.userAgent] == "option/1")
        #expect(sent.timeout == .seconds(2))
        let merged = try system.callOptions(
            for: "a", merging: RequestOptions(scenario: "interactive"))
        #expect(merged.attempts == 1)
        await system.shutdown()
    }

    // MARK: Rules, fields and limits

    @Test(
        .features("000-15"),
        arguments: [
            ("/x", true), ("/rpc/x?token=1", false), ("/rpc/%2e%2e", false), ("/x/rpc", true),
        ])
    func urlRulesHold(_ target: String, _ isAllowed: Bool) async throws {
        let system = try await system {
            $0.urlRules = try URLRules(
                allowed: [#"https://api\.example\.com/[a-z/]+"#], refused: ["[?&]token="])
        }
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.exchange("a", method: .get, target: target, fields: [:], body: [])
        }
        #expect(code == (isAllowed ? nil : .refusedURL))
        #expect(engine.count == (isAllowed ? 1 : 0))
        await system.shutdown()
    }

    @Test func aRuleThatIsNoPatternIsRefused() throws {
        let error = #expect(throws: ClientError.self) {
            try URLRules(allowed: [".*"], refused: ["a", "(("])
        }
        #expect(error?.code == .invalidService)
        #expect(error?.message.contains("urlRules.refused: pattern 2") == true)
    }

    @Test func theUserAgentIsSentToAllHosts() async throws {
        let folder = try TemporaryDirectory()
        var services = try Self.services()
        services["b"] = .init(
            baseURL: "https://api.example.com", payloadProtocol: .rest, pins: [try Self.pin("A")],
            commonFields: [.userAgent: "own/2"])
        let system = try await system(services) {
            $0.userAgent = "shop/1"
            $0.pinUpdates = try SystemHostTests.plan(folder)
        }
        _ = try await system.send(.get("/x", on: "a"))
        _ = try await system.send(.get("/x", on: "b"))
        await system.shutdown()
        #expect(
            engine.requests.map { $0.request.authority } == [
                "pins.example.com", "api.example.com", "api.example.com",
            ])
        #expect(
            engine.requests.map { $0.request.headerFields[values: .userAgent] } == [
                ["shop/1"], ["shop/1"], ["own/2"],
            ])
    }

    @Test func aUserAgentWithALineBreakIsRefused() async throws {
        let error = await #expect(throws: ClientError.self) {
            try await system { $0.userAgent = "a\nb" }
        }
        #expect(error?.code == .invalidOptions && error?.message.contains("userAgent") == true)
    }

    private static func timeout(_ timeout: Duration) -> RequestOptions {
        var options = RequestOptions()
        options.timeout = timeout
        return options
    }

    @Test(.features("000-18")) func scenariosHoldForAllServices() async throws {
        var services = try Self.services()
        services["a"]?.scenarios["upload"] = Self.timeout(.seconds(7))
        let system = try await system(services) {
            for (name, seconds) in [("interactive", 2), ("upload", 60)] {
                $0.scenarios[Scenario(name)] = Self.timeout(.seconds(seconds))
            }
        }
        for (service, scenario, timeout) in [
            ("a", "interactive", 2), ("a", "upload", 7), (ServiceName("a").cdn, "upload", 60),
        ] as [(ServiceName, Scenario, Int)] {
            let options = RequestOptions(scenario: scenario)
            _ = try await system.send(.get("/x", on: service), options: options)
            #expect(engine.requests.last?.timeout == .seconds(timeout))
        }
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.send(.get("/x", on: "a"), options: RequestOptions(scenario: "none"))
        }
        #expect(code == .unknownScenario)
        await system.shutdown()
    }
}
