import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// The outcomes that interceptors around a call see, and what their own responses become.
@Suite(.timeLimit(.minutes(2))) struct InterceptorOutcomeTests {
    private struct Number: Endpoint {
        typealias Success = Int
        var service: ServiceName { "a" }
        var method: RPCMethod { "number" }
        var id = 1
        var isRefused = false
        func validate() throws {
            if isRefused { throw PayloadError(.invalidParameters, "refused") }
        }
    }

    private static func options(_ notes: InterceptorTests.Notes) -> RequestOptions {
        var options = RequestOptions()
        options.interceptors = [InterceptorTests.Noting(name: "", notes: notes)]
        options.responseChecks = [BusinessCodeCheck(field: "code", goodCodes: [0])]
        return options
    }

    /// Each is a response with status 200.
    @Test(
        .features("002-24", "003-16", "001-15"),
        arguments: [
            (#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no"}}"#, "!rpc-error"),
            (#"{"jsonrpc":"2.0","id":1,"result":{"code":4001}}"#, "!business-code"),
            (#"{"jsonrpc":"2.0","id":1"#, "!malformed-response"),
            (#"{"jsonrpc":"2.0","id":1,"result":"seven"}"#, "<200"),
        ])
    func theySeeWhatTheServiceSays(_ body: String, _ seen: String) async throws {
        let notes = InterceptorTests.Notes()
        let engine = RecordingEngine(responses: [.init(body: body)])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.send(Number(), options: Self.options(notes))
        }
        #expect(notes.all == [">", seen])
        // The conversion comes after them.
        #expect(code?.name == (seen == "<200" ? "type-mismatch" : String(seen.dropFirst())))
        await system.shutdown()
    }

    @Test func theySeeTheErrorsOfParameters() async throws {
        let notes = InterceptorTests.Notes()
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.send(Number(isRefused: true), options: Self.options(notes))
        }
        #expect(code == .invalidParameters && engine.count == 0)
        #expect(notes.all == [">", "!invalid-params"])
        await system.shutdown()
    }

    /// The other forms of a call, each with a failure of the service.
    @Test(.features("002-24"), arguments: ["batch", "upload", "pages", "stream", "download"])
    func theySeeItInEveryForm(_ form: String) async throws {
        let notes = InterceptorTests.Notes()
        let isBatch = form == "batch"
        let engine = RecordingEngine(responses: [
            .init(status: isBatch ? 200 : 404, body: isBatch ? "{" : "{}")
        ])
        let system = try await Pipeline.system(engine, payload: isBatch ? .jsonRPC2 : .rest)
        let options = Self.options(notes)
        let folder = try TemporaryDirectory()
        let code = await Pipeline.code { () async throws(ClientError) in
            switch form {
            case "batch": _ = try await system.batch([RPCCall("m")], on: "a", options: options)
            case "upload":
                _ = try await system.upload(
                    [1], contentType: "text/plain", with: RESTRequest(.post, "/x"), to: "a",
                    options: options)
            case "pages":
                let pages = system.pages(
                    of: RESTRequest(.get, "/x"), on: "a", by: .link(), options: options)
                for try await _ in pages {}
            case "stream": _ = try await system.stream(.get("/x", on: "a"), options: options)
            default:
                _ = try await system.download(
                    .get("/x", on: "a"), to: folder.path("file"), options: options)
            }
        }
        let name = isBatch ? "malformed-response" : "http-status"
        #expect(code?.name == name)
        #expect(notes.all == [">", "!\(name)"])
        await system.shutdown()
    }

    // MARK: Renewal

    /// Responds with code 4001 unless the request has the newest token.
    private final class Expiring: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "expiring", pinsPublicKeys: true, speaksHTTP2: false)
        private let token = Mutex(1)
        private let renewals = Mutex(0)
        var renewalCount: Int { renewals.withLock { $0 } }

        func expire() { token.withLock { $0 += 1 } }

        func renew() -> String {
            renewals.withLock { $0 += 1 }
            return token.withLock { "\($0)" }
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let wanted = token.withLock { "Bearer \($0)" }
            let isGood = request.request.headerFields[.authorization] == wanted
            let body = #"{"code":\#(isGood ? 0 : 4001),"data":7}"#
            return EngineResponse(
                response: .init(status: .ok), body: HTTPResponseBody(bytes: Array(body.utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    /// The service says in a 200 that a token has expired, and one place renews it.
    @Test(.features("001-02", "002-24", "003-40"))
    func aTokenThatExpiresByCodeIsRenewedOnce() async throws {
        let engine = Expiring()
        let system = try await Pipeline.system(engine) { options in
            options.callOptions.interceptors = [
                InterceptorsArticleTests.Renewal(
                    tokens: InterceptorsArticleTests.Tokens { engine.renew() })
            ]
            options.callOptions.responseChecks = [
                BusinessCodeCheck(field: "code", goodCodes: [0])
            ]
        }
        for round in 1...2 {
            let values = try await system.values(of: Array(0..<50)) { _ throws(ClientError) in
                try await system.send(.get("/x", on: "a"), as: [String: Int].self)["data"]
            }
            #expect(values == [Int?](repeating: 7, count: 50))
            #expect(engine.renewalCount == round)
            engine.expire()
        }
        await system.shutdown()
    }

    @Test func aTokenThatIsRefusedAgainEndsTheCall() async throws {
        let engine = Expiring()
        let system = try await Pipeline.system(engine) { options in
            options.callOptions.interceptors = [
                InterceptorsArticleTests.Renewal(
                    tokens: InterceptorsArticleTests.Tokens { "wrong" })
            ]
            options.callOptions.responseChecks = [
                BusinessCodeCheck(field: "code", goodCodes: [0])
            ]
        }
        let error = await #expect(throws: ClientError.self) {
            try await system.send(.get("/x", on: "a"))
        }
        #expect(error?.code == .businessCode && error?.attempts == 2)
        var text = "\(error as Any)"
        dump(error, to: &text)
        #expect(!text.contains("4001,"), "a response is never printed: \(text)")
        await system.shutdown()
    }

    // MARK: Own responses

    /// Interceptors of the call may answer an RPC call without an id, and change its parameters.
    @Test(.features("003-40")) func theyRespondAndChangeParameters() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let own = InterceptorTests.options { _, _ in
            UnboxedResponse(result: RPCResult(5), status: 200)
        }
        #expect(try await system.send(Number(), options: own) == 5 && engine.count == 0)
        let changing = InterceptorTests.options { call, next in
            var call = call
            guard case .procedure(var procedure, let path) = try call.request() else { throw Odd() }
            procedure.parameters = .object(["id": 9])
            call.setRequest(.procedure(procedure, path: path))
            return try await next(call)
        }
        _ = try await system.call(RPCCall("number"), on: "a", options: changing)
        let sent = try JSONValue(parsing: engine.requests[0].bytes)
        #expect(sent["params"]?["id"] == 9)
        await system.shutdown()
    }

    private struct Odd: Error {}

    @Test func theAdapterKeepsTheContentType() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let options = InterceptorTests.options { call, next in
            var call = call
            call.fields[.contentType] = "text/plain"
            call.fields[.accept] = "text/plain"
            return try await next(call)
        }
        _ = try await system.call(RPCCall("m"), on: "a", options: options)
        let fields = engine.requests[0].request.headerFields
        #expect(fields[values: .contentType] == ["application/json"])
        #expect(fields[values: .accept] == ["text/plain"])
        await system.shutdown()
    }

    @Test func anInterceptorsBatchIsUnboxed() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let options = InterceptorTests.options { _, _ in
            UnboxedResponse(RawResponse(status: 200, body: Array("[]".utf8)))
        }
        let response = try await system.batch([RPCCall("m")], on: "a", options: options)
        guard case .unanswered = response.outcomes[0] else {
            Issue.record("found \(response.outcomes[0]), expected no answer")
            return
        }
        #expect(engine.count == 0)
        await system.shutdown()
    }

    // MARK: The origin of a response

    private static func source(
        _ mode: RunMode = .production,
        _ change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> CallRecord.Response {
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: "1")])) {
            $0.runMode = mode
        }
        let trace = CallTrace()
        var options = RequestOptions(trace: trace)
        change(&options)
        _ = try await system.call(RESTRequest(.get, "/x"), on: "a", options: options)
        await system.shutdown()
        return try #require(trace.record?.response)
    }

    /// Hands each response on, or one with another body.
    private struct Doubling: AttemptInterceptor {
        let isOn: Bool

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var response = try await next(call)
            if isOn { response.body = HTTPResponseBody(bytes: Array("22".utf8)) }
            return response
        }
    }

    /// A response that an interceptor changed says so, and where it came from.
    @Test(.features("000-41")) func aChangedResponseSaysSo() async throws {
        let plain = try await Self.source()
        #expect(plain.source == .server && !plain.isChanged)
        let changed = try await Self.source {
            $0.interceptors = [
                InterceptorTests.Call { call, next in
                    var response = try await next(call)
                    response.result = RPCResult(2)
                    response.raw.body = [0x32, 0x32]
                    return response
                }
            ]
        }
        #expect(changed.source == .server && changed.isChanged && changed.bodySize == 2)
        let same = try await Self.source {
            $0.interceptors = [InterceptorTests.Call { call, next in try await next(call) }]
        }
        #expect(same.source == .server && !same.isChanged)
        // Interceptors of attempts, too; each attempt counts for itself.
        for change in [true, false] {
            let attempt = try await Self.source {
                $0.attemptInterceptors = [Doubling(isOn: change)]
            }
            #expect(attempt.source == .server && attempt.isChanged == change)
        }
        let own = try await Self.source {
            $0.interceptors = [
                InterceptorTests.Call { call, next in
                    _ = try? await next(call)
                    return UnboxedResponse(result: RPCResult(3), status: 203)
                }
            ]
        }
        #expect(own.source == .server && own.isChanged && own.status == 203)
        let alone = try await Self.source {
            $0.interceptors = [
                InterceptorTests.Call { _, _ in UnboxedResponse(result: nil, status: 203) }
            ]
        }
        #expect(alone.source == .interceptor && !alone.isChanged && alone.status == 203)
    }

    /// Responds itself, and may ask before.
    private struct Own: AttemptInterceptor {
        let source: ResponseSource?
        let asks: Bool

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            if asks { _ = try? await next(call) }
            var response = EngineResponse(
                response: .init(status: .ok), body: HTTPResponseBody(bytes: Array("3".utf8)),
                httpVersion: .init(major: 1, minor: 1))
            response.source = source
            return response
        }
    }

    /// An interceptor may say where its own response is from, but not that a server sent it.
    @Test(
        .features("000-41"),
        arguments: [nil, .server, .interceptor, .stub, .mock] as [ResponseSource?], [false, true])
    func anOwnResponseIsNotAServers(_ claimed: ResponseSource?, _ asks: Bool) async throws {
        // A redirect and then a failure, so that no request has the final response.
        let engine = RecordingEngine(responses: [
            .init(status: 307, fields: [.location: "/v1/y"]),
            .init(failure: TransportError(.connect, "down")),
        ])
        let system = try await Pipeline.system(engine)
        let trace = CallTrace()
        var options = RequestOptions(trace: trace)
        options.attemptInterceptors = [Own(source: claimed, asks: asks)]
        #expect(try await system.send(.get("/x", on: "a"), as: Int.self, options: options) == 3)
        let response = try #require(trace.record?.response)
        let isOwn = claimed == nil || claimed == .server
        #expect(response.source == (isOwn ? .interceptor : claimed))
        #expect(response.status == 200 && !response.isChanged)
        #expect(engine.count == (asks ? 2 : 0))
        await system.shutdown()
    }
}
