import HTTPTypes
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// The places of stubs in a call. No stub here is SignetTesting's.
@Suite(.timeLimit(.minutes(2))) struct CallStubTests {
    /// Notes where it was asked, and acts in one place.
    private final class Acting: CallStub {
        let place: String
        let notes: InterceptorTests.Notes

        init(_ place: String = "", notes: InterceptorTests.Notes = .init()) {
            (self.place, self.notes) = (place, notes)
        }

        func beforeBoxing(
            _ request: CallRequest, of call: CallIdentity
        ) async throws -> CallRequest {
            notes.add("boxing")
            guard place == "boxing", case .resource(var resource) = request else { return request }
            resource.query = ["stub": 1]
            return .resource(resource)
        }

        func beforeSigning(
            _ request: HTTPRequest, of call: CallIdentity
        ) async throws -> HTTPRequest {
            notes.add("signing")
            var request = request
            if place == "signing" { request.headerFields[.acceptLanguage] = "en" }
            if place == "host" { request.authority = "other.example.com" }
            return request
        }

        func beforeEngine(
            _ request: EngineRequest, of call: CallIdentity
        ) async throws -> EngineResponse? {
            notes.add("engine")
            guard place == "engine" else { return nil }
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: Array("9".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func afterEngine(
            _ response: EngineResponse, of call: CallIdentity
        ) async throws -> EngineResponse {
            notes.add("after")
            var response = response
            if place == "after" { response.body = HTTPResponseBody(bytes: Array("8".utf8)) }
            return response
        }

        func beforeDelivery(
            _ response: UnboxedResponse, of call: CallIdentity
        ) async throws -> UnboxedResponse {
            notes.add("delivery")
            if place == "failure" { throw ClientError(.businessCode, "closed") }
            var response = response
            if place == "delivery" { response.result = RPCResult(7) }
            return response
        }
    }

    private static func call(
        _ stub: (any CallStub)?, module: StubModule = .business, mode: RunMode = .production,
        change: (NetworkSystem) -> Void = { _ in }
    ) async throws -> (value: Int, record: CallRecord?, engine: RecordingEngine) {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine) { $0.runMode = mode }
        if let stub { system.stubs.add(stub, for: module) }
        change(system)
        let trace = CallTrace()
        let value = try await system.send(
            .get("/x", on: "a"), as: Int.self, options: RequestOptions(trace: trace))
        await system.shutdown()
        return (value, trace.record, engine)
    }

    @Test(
        .features("000-41", "000-50"),
        arguments: ["boxing", "signing", "engine", "after", "delivery"])
    func eachPlaceTakesEffect(_ place: String) async throws {
        let stub = Acting(place)
        let (value, record, engine) = try await Self.call(stub)
        #expect(stub.notes.all == ["boxing", "signing", "engine", "after", "delivery"])
        let wanted = ["engine": 9, "after": 8, "delivery": 7][place] ?? 1
        #expect(value == wanted)
        #expect(engine.count == (place == "engine" ? 0 : 1))
        if place == "boxing" { #expect(engine.requests[0].request.path == "/v1/x?stub=1") }
        if place == "signing" {
            #expect(engine.requests[0].request.headerFields[.acceptLanguage] == "en")
        }
        let uses = try #require(record?.work.stubs)
        #expect(uses.count == 1 && uses[0].module == "business")
        #expect(uses[0].place.rawValue.contains(place))
        #expect(record?.response?.source == (place == "engine" ? .stub : .server))
        #expect(record?.response?.isChanged == ["after", "delivery"].contains(place))
    }

    /// Adds a parameter before the request is signed, and notes what the engine gets.
    private final class Signing: CallStub {
        let notes = InterceptorTests.Notes()

        func beforeSigning(
            _ request: HTTPRequest, of call: CallIdentity
        ) async throws -> HTTPRequest {
            notes.add("\(Self.isSigned(request)) \(request.path ?? "")")
            var request = request
            request.path = (request.path ?? "") + "?stub=1"
            return request
        }

        func beforeEngine(
            _ request: EngineRequest, of call: CallIdentity
        ) async throws -> EngineResponse? {
            notes.add("\(Self.isSigned(request.request)) \(request.request.path ?? "")")
            return nil
        }

        private static func isSigned(_ request: HTTPRequest) -> Bool {
            request.headerFields.contains { $0.name.canonicalName == "signature" }
        }
    }

    /// The signature covers what a stub adds before it, and the place before the engine is after
    /// it.
    @Test(.features("000-50"), .enabled(if: RunMode.isSwitchable))
    func theSignatureCoversWhatAStubAdds() async throws {
        let (stub, engine) = (Signing(), RecordingEngine(responses: [.init(body: "1")]))
        var options = NetworkSystem.Options()
        options.engine = engine
        options.runMode = .development
        options.stubs.add(stub, for: .business)
        let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
        let key = #"{"kty":"oct","use":"sig","kid":"HS","alg":"HS256","k":"\#(secret)"}"#
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com/v1", payloadProtocol: .rest,
                    signing: .init(scheme: "rfc9421", keyID: "HS"))
            ], keys: KeySet(parsing: Array(#"{"keys":[\#(key)]}"#.utf8), source: "test"),
            policy: .allowingAll(), options: options)
        let trace = CallTrace()
        _ = try await system.send(
            .get("/x", on: "a"), as: Int.self, options: RequestOptions(trace: trace))
        await system.shutdown()
        #expect(stub.notes.all == ["false /v1/x", "true /v1/x?stub=1"])
        let bases = trace.record?.counted.contents.compactMap(\.base) ?? []
        #expect(bases.count == 1)
        #expect(
            bases.first?.parts.contains { $0.name == "@query" && $0.value == "?stub=1" } == true)
        #expect(engine.requests.map(\.request.path) == ["/v1/x?stub=1"])
    }

    /// Byte for byte what is sent without a stub.
    @Test(.features("000-51", "000-54")) func aStubThatDoesNothingChangesNothing() async throws {
        let without = try await Self.call(nil)
        let with = try await Self.call(Acting())
        #expect(without.value == with.value && with.record?.work.stubs.isEmpty == true)
        #expect(with.engine.requests[0].request == without.engine.requests[0].request)
        #expect(with.engine.requests[0].bytes == without.engine.requests[0].bytes)
    }

    /// Those of a business act in production, the others never.
    @Test(
        .features("000-53"),
        arguments: [StubModule.debugging, .testing, .business],
        [RunMode.production, .development])
    func modulesActInTheirModes(_ module: StubModule, _ mode: RunMode) async throws {
        let (value, _, _) = try await Self.call(Acting("delivery"), module: module, mode: mode)
        let acts = module == .business || mode == .development
        #expect(value == (acts ? 7 : 1))
    }

    @Test(.features("000-50", "000-53")) func theyAreSwitchedWhileTheSystemRuns() async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine)
        func value() async throws -> Int { try await system.send(.get("/x", on: "a")) }
        #expect(try await value() == 1)
        let installation = system.stubs.add(Acting("delivery"), for: .business)
        #expect(try await value() == 7)
        system.stubs[isOn: .business] = false
        #expect(try await value() == 1)
        #expect(!system.stubs[isOn: .business])
        system.stubs[isOn: .business] = true
        #expect(try await value() == 7)
        installation.remove()
        #expect(try await value() == 1)
        system.stubs.add(Acting("delivery"), for: .business)
        system.stubs.removeAll(of: .testing)
        #expect(try await value() == 7)
        system.stubs.removeAll(of: .business)
        #expect(try await value() == 1)
        await system.shutdown()
    }

    /// The configuration switches each module, and an update acts on later calls.
    @Test(
        .features("000-53"), .enabled(if: RunMode.isSwitchable),
        arguments: [StubModule.debugging, .testing, .business])
    func theConfigurationSwitchesThem(_ module: StubModule) async throws {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine(responses: [.init(body: "1")])
        options.stubs.add(Acting("delivery"), for: module)
        let values: JSONObject = ["services.a.protocol": "rest", "app.runMode": "development"]
        var off = values
        off["stubs.\(module)"] = false
        let system = try await NetworkSystem.start(
            Settings.configuration(values), options: options)
        #expect(try await system.send(.get("/x", on: "a"), as: Int.self) == 7)
        try system.update(Settings.configuration(off))
        #expect(try await system.send(.get("/x", on: "a"), as: Int.self) == 1)
        await system.shutdown()
        await #expect(throws: ClientError.self) {
            var wrong = values
            wrong["stubs.\(module)"] = "no"
            _ = try await NetworkSystem.start(Settings.configuration(wrong), options: options)
        }
    }

    @Test func aStubLeadsNowhereElse() async throws {
        let error = await #expect(throws: ClientError.self) {
            _ = try await Self.call(Acting("host"))
        }
        #expect(error?.code == .refusedURL)
    }

    private struct Throwing: CallStub {
        struct Failure: Error { let secret = "ZZZZZZ" }
        func beforeBoxing(
            _ request: CallRequest, of call: CallIdentity
        ) async throws -> CallRequest { throw Failure() }
    }

    @Test func itsErrorEndsTheCall() async throws {
        let failed = await #expect(throws: ClientError.self) {
            _ = try await Self.call(Acting("failure"))
        }
        #expect(failed?.code == .businessCode)
        let foreign = await #expect(throws: ClientError.self) {
            _ = try await Self.call(Throwing())
        }
        #expect(foreign?.message == "the stub Throwing threw Failure")
    }

    /// Doubles a parameter and adds one to each result.
    private struct Doubling: CallStub {
        func beforeBoxing(
            _ request: CallRequest, of call: CallIdentity
        ) async throws -> CallRequest {
            guard case .procedure(var procedure, let path) = request,
                case .object(let values)? = procedure.parameters
            else { return request }
            let value = values["value"]?.number?.int64 ?? 0
            procedure.parameters = .object(["value": .number(JSONNumber(2 * value))])
            return .procedure(procedure, path: path)
        }

        func beforeDelivery(
            _ response: UnboxedResponse, of call: CallIdentity
        ) async throws -> UnboxedResponse {
            var response = response
            let value = response.result?.value.number?.int64 ?? 0
            response.result = RPCResult(.number(JSONNumber(value + 1)))
            return response
        }
    }

    private struct Square: Endpoint {
        var service: ServiceName { "a" }
        var method: RPCMethod { "square" }
        var value: Int
        typealias Success = Int
    }

    private static let results = #"""
        [{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}},
        {"jsonrpc":"2.0","id":1,"result":36}]
        """#

    /// A stub sees each call of a batch and each result, with types and without.
    @Test(.features("000-50"), arguments: [true, false])
    func aBatchPassesThem(_ isTyped: Bool) async throws {
        let engine = RecordingEngine(responses: [.init(body: Self.results)])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        system.stubs.add(Doubling(), for: .business)
        let trace = CallTrace()
        let options = RequestOptions(trace: trace)
        if isTyped {
            let outcomes = try await system.batch(
                [Square(value: 3), Square(value: 4)], options: options)
            #expect(try outcomes[0].get() == 37)
            #expect(throws: ClientError.self) { try outcomes[1].get() }
        } else {
            let calls = [3, 4].map { value in
                RPCCall("square", parameters: .object(["value": .number(JSONNumber(value))]))
            }
            let outcomes = try await system.batch(calls, on: "a", options: options).outcomes
            guard case .result(let result) = outcomes[0], case .failure = outcomes[1] else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(try result.decode(Int.self) == 37)
        }
        let sent = try JSONValue(parsing: engine.requests[0].bytes).array ?? []
        #expect(sent.map { $0["params"]?["value"] } == [6, 8])
        let places = trace.record?.work.stubs.map(\.place.rawValue) ?? []
        #expect(Set(places) == ["before-boxing", "before-delivery"])
        await system.shutdown()
    }

    @Test func aBatchHoldsOnlyProcedures() async throws {
        struct Moving: CallStub {
            func beforeBoxing(
                _ request: CallRequest, of call: CallIdentity
            ) async throws -> CallRequest { .resource(RESTRequest(.get, "/x")) }
        }
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        system.stubs.add(Moving(), for: .business)
        let error = await #expect(throws: ClientError.self) {
            try await system.batch([RPCCall("m")], on: "a")
        }
        #expect(error?.code == .unsupportedCall && engine.count == 0)
        await system.shutdown()
    }

    /// Calls without a payload protocol pass the places too.
    @Test(.features("000-50")) func anExchangePassesThem() async throws {
        let stub = Acting("engine")
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        system.stubs.add(stub, for: .business)
        let raw = try await system.exchange("a", method: .get, target: "/x")
        #expect(raw.text == "9" && engine.count == 0)
        #expect(stub.notes.all == ["signing", "engine", "after", "delivery"])
        await system.shutdown()
    }
}
