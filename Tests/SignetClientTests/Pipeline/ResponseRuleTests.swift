import SignetClient
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Which response checks a service, a scenario, a method and a call have.
@Suite struct ResponseRuleTests {
    private struct NoEmptyList: ResponseCheck {
        func failure(in response: UnboxedResponse) -> String? {
            response.result?.value.array?.isEmpty == true ? "found an empty list" : nil
        }
    }

    private static func system(
        _ values: JSONObject, result: String = #"{"code":17}"#
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine(responses: [
            .init(body: #"{"jsonrpc":"2.0","id":1,"result":\#(result)}"#)
        ])
        options.responseChecks = ["no-empty-list": NoEmptyList()]
        return try await NetworkSystem.start(Settings.configuration(values), options: options)
    }

    /// The message of the failure; nil if the call succeeds.
    private static func failure(
        _ system: NetworkSystem, method: RPCMethod = "m",
        _ options: RequestOptions = RequestOptions()
    ) async throws -> String? {
        do throws(ClientError) {
            _ = try await system.call(RPCCall(method), on: "a", options: options)
            return nil
        } catch {
            try #require(error.code == .businessCode, "\(error)")
            return error.message
        }
    }

    @Test(
        .features("000-20"),
        arguments: [
            // An API whose results have a member "code" of its own.
            ([:], nil), (["services.a.responseChecks.rules": []], nil),
            (["services.a.responseChecks.rules": ["result", "no-empty-list"]], nil),
            (["services.a.responseChecks.rules": ["business-code"]], "code (17)"),
            (["services.a.responseChecks.rules": ["result", "business-code"]], "code (17)"),
            (
                [
                    "services.a.responseChecks.codeField": "code",
                    "services.a.responseChecks.goodCodes": [1],
                ], "code (17)"
            ),
            (
                [
                    "services.a.responseChecks.codeField": "code",
                    "services.a.responseChecks.goodCodes": [17],
                ], nil
            ),
            (
                [
                    "services.a.responseChecks.codeField": "code",
                    "services.a.responseChecks.goodCodes": [1],
                    "services.a.responseChecks.rules": ["result"],
                ], nil
            ),
        ] as [(JSONObject, String?)])
    func aCommonRuleHoldsForServicesThatNameIt(_ values: JSONObject, _ found: String?) async throws
    {
        var values = values
        values["responseChecks.codeField"] = "code"
        values["responseChecks.goodCodes"] = [0, 200]
        let system = try await Self.system(values)
        let failure = try await Self.failure(system)
        #expect((failure == nil) == (found == nil), "\(failure ?? "no failure")")
        if let found { #expect(failure?.contains(found) == true, "\(failure ?? "")") }
        await system.shutdown()
    }

    @Test(.features("000-20")) func aScenarioChoosesItsRules() async throws {
        let values: JSONObject = [
            "timeouts.interactive": "2s", "services.a.responseChecks.codeField": "code",
            "services.a.responseChecks.goodCodes": [0],
            "services.a.scenarios.interactive.responseChecks": [],
            "services.a.scenarios.strict.responseChecks": ["result", "business-code"],
            "services.a.scenarios.list.responseChecks": ["no-empty-list"],
        ]
        let system = try await Self.system(values)
        #expect(try await Self.failure(system) != nil)
        for (scenario, fails) in [("interactive", false), ("strict", true), ("list", false)] {
            let options = RequestOptions(scenario: Scenario(scenario))
            #expect(try await (Self.failure(system, options) != nil) == fails, "\(scenario)")
        }
        await system.shutdown()
        for (result, scenario, fails) in [
            ("null", "strict", true), ("null", "list", false), ("[]", "list", true),
            ("[]", "strict", false),
        ] {
            let system = try await Self.system(values, result: result)
            let options = RequestOptions(scenario: Scenario(scenario))
            #expect(
                try await (Self.failure(system, options) != nil) == fails, "\(scenario) \(result)")
            await system.shutdown()
        }
    }

    @Test func aMethodAndACallChooseTheirRules() async throws {
        let system = try await Self.system([
            "services.a.responseChecks.codeField": "code",
            "services.a.responseChecks.goodCodes": [0],
            "services.a.methods.orders.raw.responseChecks": [],
            "services.a.scenarios.strict.responseChecks": ["business-code"],
        ])
        #expect(try await Self.failure(system) != nil)
        #expect(try await Self.failure(system, method: "orders.raw") == nil)
        #expect(
            try await Self.failure(system, method: "orders.raw", RequestOptions(scenario: "strict"))
                == nil)
        var options = RequestOptions()
        options.responseChecks = []
        #expect(try await Self.failure(system, options) == nil)
        options.responseChecks = [ResultCheck(), BusinessCodeCheck(field: "code", goodCodes: [1])]
        #expect(try await Self.failure(system, method: "orders.raw", options) != nil)
        await system.shutdown()
    }

    @Test func aServicesLargestResponseIsItsOwn() async throws {
        let engine = RecordingEngine()
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            Settings.configuration([
                "responseChecks.maximumBytes": 1000, "services.a.responseChecks.maximumBytes": 17,
            ]), options: options)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a")
        }
        #expect(error?.code.name == "response-too-large")
        #expect(engine.requests[0].maximumBodySize == 17)
        await system.shutdown()
    }

    @Test(
        arguments: [
            ["services.a.responseChecks.rules": ["business-code"]],
            ["services.a.responseChecks.rules": ["Result"]],
            ["services.a.responseChecks.rules": ["result", "nothing"]],
            ["services.a.responseChecks.rules": [1]], ["services.a.responseChecks.rules": "result"],
            ["services.a.responseChecks.codeField": "code"],
            ["services.a.responseChecks.codeField": "a..b"],
            ["services.a.responseChecks.maximumBytes": 0],
            ["services.a.methods.m.responseChecks": ["business-code"]],
            ["services.a.scenarios.s.responseChecks": ["other"]],
        ] as [JSONObject])
    func refusesRulesThatCannotHold(_ values: JSONObject) async throws {
        let error = await #expect(throws: ClientError.self) { try await Self.system(values) }
        #expect(error?.code == .invalidService)
        let isOfCodes = error?.message.contains("responseChecks.goodCodes") == true
        #expect(
            isOfCodes || values.memberNames.contains { error?.message.contains($0) == true },
            "\(error?.message ?? "")")
    }
}
