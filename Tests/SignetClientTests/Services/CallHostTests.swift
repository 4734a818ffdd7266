import SignetClient
import TestSupport
import Testing

/// The host of a call: the service's, or another one that an endpoint or a call names.
@Suite struct CallHostTests {
    /// An API with a base address of its own, in tests too.
    private struct Search: RESTEndpoint {
        typealias Success = JSONValue
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/search" }
        var text: String
        var callOptions: RequestOptions {
            var options = RequestOptions()
            options.baseURL = "https://search.example.com/v2"
            options.testBaseURL = "https://test.example.com:8443"
            return options
        }
    }

    private static func options(_ baseURL: String) -> RequestOptions {
        var options = RequestOptions()
        options.baseURL = baseURL
        return options
    }

    private static func url(_ request: EngineRequest?) -> String {
        guard let head = request?.request else { return "" }
        return "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"
    }

    @Test(.features("000-27", "004-05")) func serviceEndpointAndCallNameTheHost() async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine) { _ in
        } changeService: {
            $0.options.baseURL = "https://service.example.com"
        }
        _ = try await system.send(.get("/x", on: "a"))
        _ = try await system.send(Search(text: "tea"))
        _ = try await system.send(
            Search(text: "tea"), options: Self.options("https://call.example.com/"))
        _ = try await system.exchange(
            "a", method: .get, target: "/x", fields: [:], body: [],
            options: Self.options("https://call.example.com"))
        await system.shutdown()
        #expect(
            engine.requests.map { Self.url($0) } == [
                "https://service.example.com/x", "https://search.example.com/v2/search?text=tea",
                "https://call.example.com/search?text=tea", "https://call.example.com/x",
            ])
    }

    @Test(
        .features("000-27"),
        arguments: [
            "", "x", "/v1", "ftp://a.example", "https://", "https://u:p@a.example/",
            "https://a.example/#x", "https://a b/",
        ])
    func refusesABaseThatIsNoURL(_ base: String) async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.send(.get("/x", on: "a"), options: Self.options(base))
        }
        #expect(code == .refusedURL && engine.count == 0)
        await system.shutdown()
    }

    @Test func aServicesWrongBaseShowsAtTheStart() async throws {
        for path in [\RequestOptions.baseURL, \.testBaseURL] {
            let error = await #expect(throws: ClientError.self) {
                try await Pipeline.system(RecordingEngine()) { _ in
                } changeService: {
                    $0.options[keyPath: path] = "/v1"
                }
            }
            #expect(error?.code == .refusedURL)
        }
    }

    /// Another host gets nothing without a rule of the policy, and nothing that the URL rules
    /// refuse.
    @Test func pinsAndURLRulesHoldForTheHostOfACall() async throws {
        let engine = RecordingEngine(pins: false)
        var options = NetworkSystem.Options()
        options.engine = engine
        options.dangerous.allowUnpinnedServices()
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com", payloadProtocol: .jsonRPC2)
        let system = try await NetworkSystem.start(
            services: ["a": service], policy: nil, options: options)
        _ = try await system.call(RPCCall("m"), on: "a")
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(
                RPCCall("m"), on: "a", options: Self.options("https://other.example.com"))
        }
        #expect(code == .unlistedHost && engine.count == 1)
        await system.shutdown()

        let strict = RecordingEngine()
        var given = NetworkSystem.Options()
        given.engine = strict
        let ruled = try await NetworkSystem.start(
            Settings.configuration(["urlRules.allowed": ["https://api\\.example\\.com/.*"]]),
            options: given)
        let refused = await Pipeline.code { () async throws(ClientError) in
            try await ruled.call(
                RPCCall("m"), on: "a", options: Self.options("https://other.example.com"))
        }
        #expect(refused == .refusedURL && strict.count == 0)
        await ruled.shutdown()
    }

    @Test(.features("000-31"), .enabled(if: RunMode.isSwitchable), arguments: RunMode.allCases)
    func anEndpointHasATestServer(_ mode: RunMode) async throws {
        let engine = RecordingEngine()
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            Settings.configuration([
                "app.runMode": .string(mode.rawValue), "services.a.protocol": "rest",
                "services.a.staging.baseURL": "https://service.example.com",
                "services.a.staging.pins": ["sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="],
                "services.a.development.baseURL": "https://service.example.com",
                "services.a.development.pins": [
                    "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
                ],
            ]), options: options)
        _ = try await system.send(Search(text: "tea"))
        _ = try await system.send(RESTCall(RESTRequest(.delete, "/x"), on: "a"))
        await system.shutdown()
        let urls = engine.requests.map { Self.url($0) }
        let isTest = mode != .production
        #expect(
            urls == [
                isTest
                    ? "https://test.example.com:8443/search?text=tea"
                    : "https://search.example.com/v2/search?text=tea",
                isTest ? "https://service.example.com/x" : "https://api.example.com/rpc/x",
            ])
        #expect(engine.requests.map(\.request.method) == [.get, .delete])
    }

    /// Equal calls to two hosts are two calls.
    @Test func callsToTwoHostsDoNotJoin() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine) { $0.callOptions.duplicates = .join }
        let tasks = ["https://a.example.com", "https://b.example.com"].map { base in
            Task { await system.response(to: .get("/x", on: "a"), options: Self.options(base)) }
        }
        #expect(try await eventually { engine.count == 2 })
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.value }
        await system.shutdown()
    }
}
