import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// The options that an endpoint declares, and those that a call chooses.
@Suite struct EndpointOptionsTests {
    private struct Marking: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            var call = call
            call.fields[.acceptLanguage] = "en"
            var response = try await next(call)
            response.result = RPCResult(7)
            return response
        }
    }

    private struct Marked: RESTEndpoint {
        typealias Success = Int
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/x/{id}" }
        var id: Int
        var limit: Int
        var callOptions: RequestOptions {
            var options = RequestOptions()
            options.interceptors = [Marking()]
            options.fields[.contentLanguage] = "de"
            return options
        }
    }

    private struct Plain: RESTEndpoint {
        typealias Success = Int
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/x" }
    }

    @Test(.features("001-08", "001-09", "003-16"))
    func oneEndpointAloneIsIntercepted() async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine)
        #expect(try await system.send(Marked(id: 3, limit: 2)) == 7)
        #expect(try await system.send(Plain()) == 1)
        let (marked, plain) = (engine.requests[0].request, engine.requests[1].request)
        #expect(marked.method == .get && marked.path == "/v1/x/3?limit=2")
        #expect(marked.headerFields[.contentLanguage] == "de")
        #expect(marked.headerFields[.acceptLanguage] == "en")
        #expect(plain.headerFields[.acceptLanguage] == nil)
        await system.shutdown()
    }

    @Test(.features("003-14")) func theDuplicatePolicyIsTheEndpoints() async throws {
        struct Refresh: Endpoint {
            typealias Success = Int
            var service: ServiceName { "a" }
            var method: RPCMethod { "refresh" }
            var callOptions: RequestOptions {
                var options = RequestOptions()
                options.duplicates = .refuse
                return options
            }
        }
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let first = Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.send(Refresh())
            }
        }
        #expect(try await eventually { engine.count == 1 })
        let second = await Pipeline.code { () async throws(ClientError) in
            try await system.send(Refresh())
        }
        #expect(second == .alreadyRunning && engine.count == 1)
        first.cancel()
        #expect(await first.value == .cancelled)
        await system.shutdown()
    }

    @Test(.features("000-29", "002-02")) func eachCallChoosesHowItsResponseIsChecked() async throws
    {
        let body = #"{"code":5}"#
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: body)]))
        var strict = RequestOptions()
        strict.responseChecks = [BusinessCodeCheck(field: "code", goodCodes: [0])]
        let given = strict
        #expect(
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
            } == .businessCode)
        let unchecked = try await system.call(RESTRequest(.get, "/x"), on: "a")
        #expect(unchecked.result?.value == ["code": 5])
        // An exchange processes nothing.
        let raw = try await system.exchange(
            "a", method: .get, target: "/x", fields: [:], body: [], options: given)
        #expect(raw.body == Array(body.utf8))
        await system.shutdown()
    }
}
