import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import SignetVault
import TestSupport
import Testing

/// The configuration of calls: scenarios, retries, response checks, common parameters and CDN.
@Suite struct CallSettingsTests {
    private static func system(
        _ values: JSONObject, _ engine: RecordingEngine
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        return try await NetworkSystem.start(Settings.configuration(values), options: options)
    }

    @Test(.features("000-18", "000-19")) func aScenariosLimitsWinOverTheServices() async throws {
        let engine = RecordingEngine(failingFirst: 2)
        let system = try await Self.system(
            [
                "services.a.timeout": "7s", "timeouts.interactive": "2s", "timeouts.connect": 1,
                "attempts.interactive": 3, "retry.firstPause": "1ms", "retry.longestPause": "1ms",
            ], engine)
        _ = try await system.call(
            RPCCall("m"), on: "a", options: RequestOptions(scenario: "interactive"))
        #expect(
            engine.requests.map(\.timeout)
                == Array(repeating: .seconds(2), count: 3))
        #expect(engine.requests[0].connectTimeout == .seconds(1))
        _ = try await system.call(RPCCall("m"), on: "a")
        #expect(engine.requests[3].timeout == .seconds(7))
        await system.shutdown()
    }

    @Test(.features("000-06")) func withoutSettingsTheDefaultsHold() async throws {
        let engine = RecordingEngine(failingFirst: 9)
        let system = try await Self.system(
            ["retry.firstPause": "1ms", "retry.longestPause": "1ms"], engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a")
        }
        #expect(error?.code == .connect && engine.count == 3)
        #expect(engine.requests.allSatisfy { $0.timeout == .seconds(30) })
        #expect(engine.requests.allSatisfy { $0.request.method == .post })
        await system.shutdown()
    }

    @Test(arguments: ["background", "connect", ""])
    func anUnknownScenarioIsRefused(_ name: String) async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(
            ["timeouts.interactive": "2s", "timeouts.connect": "1s"], engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(
                RPCCall("m"), on: "a", options: RequestOptions(scenario: Scenario(name)))
        }
        #expect(error?.code == .unknownScenario)
        #expect(engine.count == 0)
        await system.shutdown()
    }

    @Test(
        arguments: [
            // HTTP method, status, Retry-After, whether the program calls it repeatable, attempts
            // made
            ("GET", 503, nil, false, 3), ("PUT", 502, nil, false, 3), ("POST", 503, nil, false, 1),
            ("PATCH", 503, nil, false, 1), ("POST", 503, nil, true, 3), ("GET", 500, nil, false, 1),
            ("GET", 404, nil, true, 1), ("GET", 503, "0", false, 3), ("GET", 503, "60", false, 1),
            ("GET", 503, "soon", false, 3),
        ] as [(String, Int, String?, Bool, Int)])
    func statusesAreRetriedIfThatIsSafe(
        _ method: String, _ status: Int, _ retryAfter: String?, _ isRepeatable: Bool, _ count: Int
    ) async throws {
        var response = RecordingEngine.Response(status: status, body: "")
        response.fields[.retryAfter] = retryAfter
        let engine = RecordingEngine(responses: [response])
        let system = try await Self.system(
            [
                "services.a.protocol": "rest", "services.a.attempts": 3,
                "retry.statusCodes": [502, 503], "retry.firstPause": "1ms",
                "retry.longestPause": "2ms",
            ], engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(
                RPCCall(RPCMethod(method)), on: "a",
                options: RequestOptions(idempotency: isRepeatable ? .always : nil))
        }
        #expect(error?.kind == .refused)
        #expect(error?.status == status)
        #expect(engine.count == count)
        await system.shutdown()
    }

    @Test func aPauseEndsWithTheSystem() async throws {
        let engine = RecordingEngine(failingFirst: 9)
        let system = try await Self.system(
            [
                "services.a.attempts": 9, "retry.firstPause": "1h", "retry.longestPause": "1h",
            ], engine)
        let call = Task { try await system.call(RPCCall("m"), on: "a") }
        #expect(try await eventually { engine.count == 1 })
        await system.shutdown(gracePeriod: .zero)
        let error = await #expect(throws: ClientError.self) { try await call.value }
        #expect(error?.code == .notRunning)
        #expect(engine.count == 1)
    }

    @Test(.features("004-07")) func aPauseEndsWithItsTask() async throws {
        let engine = RecordingEngine(failingFirst: 9)
        let system = try await Self.system(
            [
                "services.a.attempts": 9, "retry.firstPause": "1h", "retry.longestPause": "1h",
            ], engine)
        let call = Task { try await system.call(RPCCall("m"), on: "a") }
        #expect(try await eventually { engine.count == 1 })
        call.cancel()
        let error = await #expect(throws: ClientError.self) { try await call.value }
        #expect(error?.code == .cancelled)
        await system.shutdown()
    }

    @Test(
        .features("001-04", "002-08"),
        arguments: [
            (#"{"code":17,"message":"ZZZZZZ"}"#, false), (#"{"code":"0"}"#, false),
            (#"{"code":null}"#, false), (#"{"code":0}"#, true), (#"{"code":200,"a":1}"#, true),
            ("{}", true), ("null", true), ("[17]", true),
        ])
    func aBadBusinessCodeIsTheServicesError(_ result: String, _ isGood: Bool)
        async throws
    {
        let engine = RecordingEngine(responses: [
            .init(body: #"{"jsonrpc":"2.0","id":1,"result":\#(result)}"#)
        ])
        let system = try await Self.system(
            [
                "services.a.responseChecks.codeField": "code",
                "services.a.responseChecks.goodCodes": [0, 200],
            ], engine)
        do throws(ClientError) {
            _ = try await system.call(RPCCall("m"), on: "a")
            #expect(isGood)
        } catch {
            #expect(!isGood)
            #expect(error.kind == .refused)
            #expect(error.code == .businessCode)
            #expect(!error.message.contains("ZZZZZZ"))
        }
        await system.shutdown()
    }

    @Test func theLargestResponseIsTheConfigurations() async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(["responseChecks.maximumBytes": 16], engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a")
        }
        #expect(error?.code.name == "response-too-large")
        #expect(engine.requests[0].maximumBodySize == 16)
        await system.shutdown()
    }

    @Test(.features("002-31")) func eachServiceHasItsOwnHostAndParameters() async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(
            [
                "services.a.protocol": "rest", "services.a.commonParameters": ["app": "shop"],
                "services.a.commonFields": ["X-Side": "a"],
                "services.b.baseURL": "https://b.example.com/v2", "services.b.protocol": "rest",
                "services.b.pins": Settings.service["services.a.pins"] ?? .null,
                "services.b.commonParameters": ["v": 7],
                "services.b.commonFields": ["X-Other": "b"],
            ], engine)
        for service in ["a", "b", "a"] as [ServiceName] {
            _ = try await system.call(RPCCall("GET"), on: service, path: "/x")
        }
        #expect(
            engine.requests.map(\.request.authority)
                == ["api.example.com", "b.example.com", "api.example.com"])
        #expect(
            engine.requests.map(\.request.path) == [
                "/rpc/x?app=shop", "/v2/x?v=7", "/rpc/x?app=shop",
            ])
        let names = [HTTPField.Name("X-Side"), HTTPField.Name("X-Other")].compactMap { $0 }
        #expect(
            engine.requests.map { request in names.map { request.request.headerFields[$0] } }
                == [["a", nil], [nil, "b"], ["a", nil]])
        await system.shutdown()
    }

    @Test(.features("000-16", "000-28", "002-21", "004-16"))
    func commonParametersJoinEveryCallAndItsOwnWin()
        async throws
    {
        let engine = RecordingEngine()
        let system = try await Self.system(
            [
                "services.a.protocol": "rest", "services.a.commonParameters": ["v": 1, "w": 2],
                "app.userAgent": "shop/1",
            ], engine)
        _ = try await system.call(
            RPCCall("GET", parameters: .object(["w": 3])), on: "a", path: "/x")
        _ = try await system.call(RPCCall("GET"), on: "a", path: "/x")
        #expect(
            engine.requests.map(\.request.path) == [
                "/rpc/x?v=1&w=3", "/rpc/x?v=1&w=2",
            ]
        )
        #expect(engine.requests[0].request.headerFields[.userAgent] == "shop/1")
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("POST", parameters: .array([1])), on: "a")
        }
        #expect(error?.code.name == "invalid-params")
        #expect(engine.count == 2)
        await system.shutdown()
    }

    @Test(.features("002-15")) func contentDeliveryIsAPlainServiceThatIsPinned() async throws {
        let engine = RecordingEngine()
        let pin = "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
        let system = try await Self.system(
            [
                "services.a.cdnURL": "https://cdn.example.com/pictures",
                "services.a.cdnPins": [.string(pin)], "services.a.commonFields": ["x-own": "1"],
            ], engine)
        let picture = try await system.exchange(
            ServiceName("a").cdn, method: .get, target: "/pictures/1.png", fields: [:], body: [])
        #expect(picture.status == 200)
        let sent = try #require(engine.requests.first)
        #expect(sent.request.authority == "cdn.example.com")
        #expect(sent.request.headerFields == [:])
        #expect(sent.policy?.rules.count == 2)
        await system.shutdown()
        // On the service's own host its pins are enough.
        let same = try await Self.system(
            ["services.a.cdnURL": "https://api.example.com/pictures"], engine)
        await same.shutdown()
    }

    @Test(
        arguments: [
            ["services.a.cdnURL": "https://cdn.example.com/"],
            ["services.a.cdnURL": "cdn.example.com"],
            ["services.a.cdnURL": "https://cdn.example.com/", "services.a.cdnPins": ["sha256/AA"]],
            ["timeouts.interactive": "0s"], ["timeouts.interactive": 0],
            ["timeouts.interactive": true], ["timeouts.interactive": 1e300],
            ["attempts.interactive": 0],
            ["attempts.interactive": 11], ["attempts.interactive": "3"],
            ["retry.statusCodes": [200]], ["retry.statusCodes": ["503"]],
            ["retry.statusCodes": 503], ["retry.statusCodes": [600]],
            ["retry.firstPause": "2s", "retry.longestPause": "1s"],
            ["responseChecks.codeField": ""], ["responseChecks.codeField": "a..b"],
            ["responseChecks.codeField": "code"],
            ["responseChecks.codeField": "code", "responseChecks.goodCodes": []],
            ["responseChecks.maximumBytes": 0], ["app.userAgent": "a\nb"],
            ["services.a.commonParameters": [1]],
        ] as [JSONObject])
    func refusesSettingsThatCannotWork(_ values: JSONObject) async throws {
        let error = await #expect(throws: ClientError.self) {
            try await Self.system(values, RecordingEngine())
        }
        let named = values.memberNames.contains { error?.message.contains($0) == true }
        let isOfCDN = error?.message.contains("cdnPins") == true
        let isOfCodes = error?.message.contains("responseChecks.goodCodes") == true
        #expect(named || isOfCDN || isOfCodes, "\(error?.message ?? "")")
    }
}
