import HTTPTypes
import SignetClient
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTesting
import SignetTransport
import TestSupport
import Testing

/// The options of calls, how levels of them are merged, and what an error says about its call.
@Suite struct RequestOptionsTests {
    @Test func theLaterLevelWins() throws {
        var system = RequestOptions(scenario: "a", deadline: .seconds(9), tags: ["system"])
        system.fields = [.accept: "a/a", .userAgent: "system"]
        system.attempts = 5
        system.responseChecks = [BusinessCodeCheck(field: "code", goodCodes: [0])]
        var call = RequestOptions(deadline: .seconds(1), idempotency: .always, tags: ["call"])
        call.fields = [.accept: "b/b"]
        call.responseChecks = []
        let merged = system.merging(call)
        #expect(merged.scenario == "a" && merged.deadline == .seconds(1))
        #expect(merged.attempts == 5 && merged.idempotency == .always)
        #expect(merged.tags == ["system", "call"])
        #expect(merged.fields[values: .accept] == ["b/b"])
        #expect(merged.fields[.userAgent] == "system")
        #expect(merged.responseChecks?.isEmpty == true)
        let other = call.merging(system)
        #expect(other.deadline == .seconds(9) && other.idempotency == .always)
        #expect(other.fields[values: .accept] == ["a/a"])
        #expect(other.responseChecks?.count == 1)
    }

    @Test func theMergedOptionsOfAServiceCanBeLookedAt() async throws {
        let system = try await Pipeline.system(RecordingEngine()) { options in
            options.callOptions.deadline = .seconds(40)
            options.callOptions.timeout = .seconds(4)
            options.callOptions.tags = ["system"]
        } changeService: { service in
            service.timeout = .seconds(7)
            service.options.tags = ["service"]
        }
        let merged = try system.callOptions(for: "a", merging: RequestOptions(tags: ["call"]))
        #expect(merged.timeout == .seconds(7) && merged.deadline == .seconds(40))
        #expect(merged.tags == ["system", "service", "call"])
        #expect(
            await Pipeline.code { () throws(ClientError) in try system.callOptions(for: "b") }
                == .unknownService)
        let wrong = RequestOptions(scenario: "none")
        #expect(
            await Pipeline.code { () throws(ClientError) in
                try system.callOptions(for: "a", merging: wrong)
            } == .unknownScenario)
        await system.shutdown()
    }

    /// Also its number of attempts and its redirects, if the service names none.
    @Test func theSystemsLimitsReachTheServer() async throws {
        let engine = StubEngine()
        engine.respond(with: .failure(.connect))
        let system = try await Pipeline.system(engine) { options in
            options.callOptions.timeout = .seconds(4)
            options.callOptions.attempts = 1
            options.callOptions.redirects = .never
        }
        let trace = CallTrace()
        _ = try? await system.call(
            RESTRequest(.get, "/"), on: "a", options: RequestOptions(trace: trace))
        let limits = try #require(trace.records.first?.work.limits)
        #expect(limits.timeout == .seconds(4) && limits.attempts == 1)
        #expect(limits.maximumRedirects == 0 && engine.requests.count == 1)
        await system.shutdown()
    }

    @Test(arguments: ["deadline", "timeout", "connectTimeout", "attempts", "attempts11", "size"])
    func wrongValuesSendNothing(_ name: String) async throws {
        var options = RequestOptions()
        switch name {
        case "deadline": options.deadline = .zero
        case "timeout": options.timeout = .seconds(-1)
        case "connectTimeout": options.connectTimeout = .zero
        case "attempts": options.attempts = 0
        case "attempts11": options.attempts = 11
        default: options.maximumResponseSize = 0
        }
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let given = options
        #expect(
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
            } == .invalidOptions)
        #expect(engine.count == 0)
        await system.shutdown()
    }

    @Test(.features("001-02")) func theRequestsOwnFieldWins() async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine) { _ in
        } changeService: { service in
            service.commonFields = [.authorization: "common"]
        }
        _ = try await system.exchange(
            "a", method: .get, target: "/x", fields: [.authorization: "own"], body: [])
        #expect(engine.requests[0].request.headerFields[values: .authorization] == ["own"])
        await system.shutdown()
    }

    @Test func aCallsOptionsWinOverItsEndpoints() async throws {
        struct Pay: Endpoint {
            typealias Success = Int
            var service: ServiceName { "a" }
            var method: RPCMethod { "pay" }
            var amount: Int
            var callOptions: RequestOptions { RequestOptions(idempotency: .always, tags: ["pay"]) }
        }
        let engine = RecordingEngine(responses: [
            .init(status: 503, body: ""), .init(body: #"{"jsonrpc":"2.0","id":1,"result":7}"#),
            .init(status: 503, body: ""),
        ])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) {
            $0.clock.sleep = { _ in }
        }
        #expect(try await system.send(Pay(amount: 1)) == 7)
        #expect(engine.count == 2)
        // The computed property `options` isn't sent as a parameter.
        let params = try JSONValue(parsing: engine.requests[0].bytes)["params"]
        #expect(params == ["amount": 1])
        let error = await #expect(throws: ClientError.self) {
            try await system.send(Pay(amount: 1), options: RequestOptions(idempotency: .never))
        }
        #expect(error?.status == 503 && error?.identity?.tags == ["pay"] && engine.count == 3)
        await system.shutdown()
    }

    @Test func aServiceWithACodeOfItsOwnChecksNothing() async throws {
        let engine = RecordingEngine(responses: [.init(body: #"{"code":"EUR"}"#)])
        let check = BusinessCodeCheck(field: "code", goodCodes: [0])
        let strict = try await Pipeline.system(engine) { $0.callOptions.responseChecks = [check] }
        #expect(
            await Pipeline.code { () async throws(ClientError) in
                try await strict.call(RESTRequest(.get, "/x"), on: "a")
            } == .businessCode)
        let lenient = try await Pipeline.system(engine) {
            $0.callOptions.responseChecks = [check]
        } changeService: {
            $0.options.responseChecks = []
        }
        #expect(try await lenient.call(RESTRequest(.get, "/x"), on: "a").status == 200)
        await strict.shutdown()
        await lenient.shutdown()
    }

    @Test(.features("000-24", "002-25")) func anErrorNamesItsCall() async throws {
        let engine = RecordingEngine(responses: [.init(status: 404, body: "no")])
        let system = try await Pipeline.system(engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(
                RESTRequest(.get, "/x", query: ["token": "ZZZZZZ"]), on: "a",
                options: RequestOptions(tags: ["t"]))
        }
        #expect(error?.identity?.service == "a" && error?.identity?.method == "GET")
        #expect(error?.identity?.tags == ["t"] && error?.attempts == 1)
        #expect(error?.url == "https://api.example.com/v1/x")
        var text = "\(String(describing: error))"
        dump(error, to: &text)
        #expect(!text.contains("ZZZZZZ"))
        await system.shutdown()
    }
}
