import SignetClient
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Limits of methods and scenarios of one service in a configuration, and the sets of common fields
/// and parameters that a call carries.
@Suite struct MethodOptionTests {
    private static func system(
        _ values: JSONObject, _ engine: RecordingEngine
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        return try await NetworkSystem.start(Settings.configuration(values), options: options)
    }

    private static let limits: JSONObject = [
        "services.a.timeout": "7s", "services.a.attempts": 1,
        "services.a.methods.orders.list.timeout": "2s",
        "services.a.methods.orders.report.build.timeout": "5m",
        "services.a.methods.orders.report.build.attempts": 4, "timeouts.interactive": "3s",
        "services.a.scenarios.interactive.attempts": 2,
        "services.a.scenarios.nightly.timeout": "1h",
        "retry.firstPause": "0s", "retry.longestPause": "0s",
    ]

    @Test(.features("000-16"))
    func theConfigurationSetsAMethodsLimits() async throws {
        for (method, scenario, timeout, attempts) in [
            ("orders.list", nil, .seconds(2), 1), ("orders.report.build", nil, .seconds(300), 4),
            ("orders.create", nil, .seconds(7), 1), ("orders.report", nil, .seconds(7), 1),
            ("Orders.list", nil, .seconds(7), 1), ("orders.create", "interactive", .seconds(3), 2),
            ("orders.create", "nightly", .seconds(3600), 1),
            // The method is the closer one.
            ("orders.list", "interactive", .seconds(2), 2),
        ] as [(RPCMethod, Scenario?, Duration, Int)] {
            let engine = RecordingEngine(failingFirst: 9)
            let system = try await Self.system(Self.limits, engine)
            let options = RequestOptions(scenario: scenario)
            _ = try? await system.call(RPCCall(method), on: "a", options: options)
            #expect(
                engine.requests.map(\.timeout) == Array(repeating: timeout, count: attempts),
                "\(method) \(scenario?.name ?? "")")
            let merged = try system.callOptions(for: "a", method: method, merging: options)
            #expect(merged.timeout == timeout && merged.attempts == attempts)
            await system.shutdown()
        }
    }

    @Test func theCallsOwnLimitsWin() async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(Self.limits, engine)
        var options = RequestOptions()
        options.timeout = .seconds(1)
        _ = try await system.call(RPCCall("orders.list"), on: "a", options: options)
        #expect(engine.requests.map(\.timeout) == [.seconds(1)])
        let error = await #expect(throws: ClientError.self) {
            try await system.call(
                RPCCall("orders.list"), on: "a", options: RequestOptions(scenario: "daily"))
        }
        #expect(error?.code == .unknownScenario)
        await system.shutdown()
    }

    @Test(.features("000-16")) func aMethodOfRESTIsTheHTTPMethod() async throws {
        let engine = RecordingEngine(responses: [.init(body: "{}")])
        let system = try await Self.system(
            [
                "services.a.protocol": "rest", "services.a.timeout": "7s",
                "services.a.methods.POST.timeout": "2s",
            ], engine)
        _ = try await system.call(RPCCall("POST"), on: "a")
        _ = try await system.call(RPCCall("GET"), on: "a")
        _ = try await system.exchange(
            "a", method: .post, target: "/x", fields: [:], body: [])
        #expect(engine.requests.map(\.timeout) == [.seconds(2), .seconds(7), .seconds(2)])
        await system.shutdown()
    }

    @Test(
        arguments: [
            ["services.a.methods.m.timeout": "0s"], ["services.a.methods.m.attempts": 0],
            ["services.a.methods.m.attempts": 11], ["services.a.methods.m.attempts": "3"],
            ["services.a.methods.m.deadline": "1s"], ["services.a.methods.timeout": "1s"],
            ["services.a.scenarios.s.attempts": 11], ["services.a.scenarios.s.timeouts": "1s"],
            ["services.a.sets.s.field": ["a": "b"]], ["services.a.sets.s.fields": ["a b": "c"]],
            ["services.a.sets.s.fields": ["a": "b\nc"]], ["services.a.sets.s.parameters": [1]],
            ["services.a.sets.common.parameters": ["a": 1]], ["services.a.defaultSets": ["php"]],
            ["services.a.defaultSets": "common"], ["services.a.json.dates": "iso"],
            ["services.a.json.dates": "RFC3339"], ["services.a.json.keys": "snake_case"],
            ["services.a.json.keys": true], ["services.a.cookies": "yes"],
        ] as [JSONObject])
    func refusesSettingsThatCannotWork(_ values: JSONObject) async throws {
        let error = await #expect(throws: ClientError.self) {
            try await Self.system(values, RecordingEngine())
        }
        #expect(error?.code == .invalidService)
        let key = try #require(values.memberNames.first)
        let isOfSets = error?.message.contains("set") == true
        #expect(
            error?.message.contains(key) == true || isOfSets, "\(error?.message ?? "")")
        #expect(error?.message.contains("b\nc") == false)
    }

    // MARK: Sets

    private static let sets: JSONObject = [
        "services.a.protocol": "rest", "services.a.commonParameters": ["app": "shop", "v": 1],
        "services.a.commonFields": ["x-app": "shop"],
        "services.a.sets.php.parameters": ["format": "json", "v": 2],
        "services.a.sets.php.fields": ["x-backend": "php", "x-app": "shop-php"],
        "services.a.sets.java.parameters": ["theme": "s"],
    ]

    @Test(
        .features("002-01"),
        arguments: [
            (nil, nil, "/rpc?app=shop&v=1", "shop"), (nil, [], "/rpc", nil),
            (nil, ["php"], "/rpc?format=json&v=2", "shop-php"),
            (nil, ["common", "php"], "/rpc?app=shop&v=2&format=json", "shop-php"),
            (nil, ["php", "common"], "/rpc?format=json&v=1&app=shop", "shop"),
            (nil, ["java"], "/rpc?theme=s", nil), (["java"], nil, "/rpc?theme=s", nil),
            ([], nil, "/rpc", nil), ([], ["common"], "/rpc?app=shop&v=1", "shop"),
            (["common", "java"], nil, "/rpc?app=shop&v=1&theme=s", "shop"),
        ] as [([JSONValue]?, [String]?, String, String?)])
    func eachCallChoosesItsSets(
        _ defaults: [JSONValue]?, _ chosen: [String]?, _ target: String, _ app: String?
    ) async throws {
        let engine = RecordingEngine(responses: [.init(body: "{}")])
        var values = Self.sets
        values["services.a.defaultSets"] = defaults.map(JSONValue.array)
        let system = try await Self.system(values, engine)
        var options = RequestOptions()
        options.sets = chosen
        _ = try await system.call(RPCCall("GET"), on: "a", options: options)
        _ = try await system.call(RESTRequest(.get), on: "a", options: options)
        let name = try #require(HTTPField.Name("x-app"))
        for request in engine.requests {
            #expect(request.request.path == target)
            #expect(request.request.headerFields[values: name] == (app.map { [$0] } ?? []))
        }
        #expect(engine.count == 2)
        await system.shutdown()
    }

    @Test func anUnknownSetSendsNothing() async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(Self.sets, engine)
        var options = RequestOptions()
        options.sets = ["common", "PHP"]
        let set = options
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("GET"), on: "a", options: set)
        }
        #expect(error?.code == .invalidOptions)
        #expect(engine.count == 0)
        await system.shutdown()
    }
}
