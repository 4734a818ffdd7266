import HTTPTypes
import SignetClient
import SignetTransport
import TestSupport
import Testing

/// The value of a response: the raw response, a converted one, or another one for each caller.
@Suite struct ResponseConversionTests {
    private struct Read: RESTEndpoint {
        typealias Success = RawResponse
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/x" }
    }

    private struct Remove: RESTEndpoint {
        typealias Success = Void
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .delete }
        var path: PathTemplate { "/x" }
    }

    /// A picture, which its endpoint converts itself.
    private struct Picture: RESTEndpoint {
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/x" }
        var responseContent: ResponseContent { .any }
        func success(from response: UnboxedResponse) throws -> String {
            "\(response.raw.fields[.contentType] ?? ""), \(response.raw.body.count) bytes"
        }
    }

    /// Responds with any bytes.
    private struct Responding: AttemptInterceptor {
        var response: RawResponse
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var received = try await next(call)
            received.response = HTTPResponse(
                status: .init(code: response.status), headerFields: response.fields)
            received.body = HTTPResponseBody(bytes: response.body)
            return received
        }
    }

    private static let png = RawResponse(
        status: 200, fields: [.contentType: "image/png"], body: [0x89, 0x50, 0x4E, 0x47, 0xFF, 0])

    private func withSystem(
        _ response: RawResponse, payload: ServiceConfiguration.PayloadProtocol = .rest,
        _ work: (NetworkSystem, RecordingEngine) async throws -> Void
    ) async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: payload) {
            $0.callOptions.attemptInterceptors = [Responding(response: response)]
        }
        try await work(system, engine)
        await system.shutdown()
    }

    @Test(.features("003-05", "004-17")) func aResponseStaysUnchanged() async throws {
        let response = RawResponse(
            status: 203, fields: [.contentType: "application/json", .eTag: "\"7\""],
            body: Array(#" {"a" : 1.0} "#.utf8))
        try await withSystem(response) { system, _ in
            let unboxed = try await system.send(.get("/x", on: "a"))
            #expect(unboxed.raw == response && unboxed.result?.value["a"]?.number?.text == "1.0")
            #expect(try await system.call(RESTRequest(.get, "/x"), on: "a").raw == response)
            #expect(try await system.send(Read()) == response)
            #expect(try await system.send(.get("/x", on: "a"), as: .raw) == response)
        }
    }

    @Test(.features("003-05")) func aRemoteProceduresResponseIsUnchanged() async throws {
        let body = Array(#"{"jsonrpc":"2.0", "result":7, "id":1}"#.utf8)
        let response = RawResponse(status: 200, fields: [.eTag: "\"7\""], body: body)
        try await withSystem(response, payload: .jsonRPC2) { system, _ in
            let unboxed = try await system.call(RPCCall("m"), on: "a")
            #expect(unboxed.result?.value == 7 && unboxed.raw == response)
        }
    }

    @Test(.features("002-30", "004-06")) func picturesAndTextAreNoJSON() async throws {
        try await withSystem(Self.png) { system, engine in
            #expect(try await system.send(Picture()) == "image/png, 6 bytes")
            #expect(try await system.send(Read()).body == Self.png.body)
            #expect(try await system.send(.get("/x", on: "a"), as: .bytes) == Self.png.body)
            try await system.send(Remove())
            try await system.send(.get("/x", on: "a"), as: .nothing)
            let accepted = engine.requests.map { $0.request.headerFields[.accept] }
            #expect(accepted == Array(repeating: "*/*", count: 5))
        }
        let text = RawResponse(status: 200, body: Array("Grüße".utf8))
        try await withSystem(text) { system, _ in
            let read = try await system.send(.get("/x", on: "a"), as: .text)
            let raw = try await system.send(Read())
            #expect(read == "Grüße" && raw.text == read)
        }
    }

    /// Without JSON there is no result, also for calls that read everything.
    @Test func contentThatIsNotRead() async throws {
        try await withSystem(Self.png) { system, engine in
            let strict = await Pipeline.code { () async throws(ClientError) in
                try await system.send(.get("/x", on: "a"))
            }
            #expect(strict == .malformedResponse)
            #expect(engine.requests[0].request.headerFields[.accept] == "application/json")
            let text = await Pipeline.code { () async throws(ClientError) in
                try await system.send(.get("/x", on: "a"), as: .text)
            }
            #expect(text == .typeMismatch)
            let number = await Pipeline.code { () async throws(ClientError) in
                try await system.send(Picture(), as: Int.self)
            }
            #expect(number == .typeMismatch)
        }
        // A refusal stays a refusal with every way of reading.
        let missing = RawResponse(status: 404, body: Array("no".utf8))
        try await withSystem(missing) { system, _ in
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.send(.get("/x", on: "a"), as: .text)
            }
            #expect(code == .httpStatus)
        }
    }

    /// Content that isn't asked to be JSON is checked nevertheless if it is.
    @Test func checksSeeTheResultOfAnyContent() async throws {
        let response = RawResponse(
            status: 200, fields: [.contentType: "text/plain"], body: Array(#"{"code":5}"#.utf8))
        try await withSystem(response) { system, _ in
            var options = RequestOptions()
            options.responseChecks = [BusinessCodeCheck(field: "code", goodCodes: [0])]
            let strict = options
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.send(.get("/x", on: "a"), as: .bytes, options: strict)
            }
            #expect(code == .businessCode)
        }
    }

    /// The endpoint's own conversion is used wherever its type fits.
    @Test func anEndpointsOwnConversionIsPreferred() async throws {
        try await withSystem(Self.json("\"decoded\"")) { system, _ in
            let own = try await system.send(Picture())
            let maybe: String? = try await system.send(Picture())
            let named: String = try await system.send(Picture())
            #expect(own == ", 9 bytes" && maybe == own && named == own)
            #expect(try await system.send(Picture(), as: String.self) == "decoded")
        }
    }

    // MARK: Reformers

    private struct Row: Sendable, Equatable {
        var title: String
        var price: Int
    }

    /// Two members of a list's objects as the rows of a view.
    private struct Rows: Reformer {
        var title: String
        var price: [String]

        func reform(_ response: UnboxedResponse) throws -> [Row] {
            try (response.result?.value.array ?? []).map { element in
                var price: JSONValue? = element
                for name in self.price { price = price?[name] }
                guard let title = element[title]?.string, let price = price?.number?.int64 else {
                    throw RowError()
                }
                return Row(title: title, price: Int(price))
            }
        }
    }

    private struct RowError: Error {}

    private static func json(_ text: String) -> RawResponse {
        RawResponse(status: 200, body: Array(text.utf8))
    }

    @Test(.features("003-06", "003-08")) func twoEndpointsGiveTheDataOfOneView() async throws {
        var rows: [[Row]] = []
        try await withSystem(Self.json(#"[{"item":"tea","cents":250}]"#)) { system, _ in
            rows.append(
                try await system.send(
                    .get("/orders", on: "a"), as: Rows(title: "item", price: ["cents"])))
        }
        let other = Self.json(#"[{"name":"tea","price":{"amount":250}}]"#)
        try await withSystem(other) { system, _ in
            rows.append(
                try await system.send(
                    .get("/v2", on: "a"), as: Rows(title: "name", price: ["price", "amount"])))
        }
        #expect(rows == Array(repeating: [Row(title: "tea", price: 250)], count: 2))
    }

    private struct Orders: RESTEndpoint {
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/orders" }
    }

    private struct Flats: RESTEndpoint {
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/flats" }
    }

    /// One value that serves three APIs, each of whose responses has another form.
    private struct Titles: Reformer {
        func reform(_ response: UnboxedResponse) throws -> [String] { throw RowError() }

        func reform(_ response: UnboxedResponse, to call: any TypedCall) throws -> [String] {
            let member =
                switch call {
                case is Orders: "item"
                case is Flats: "address"
                default: "name"
                }
            return (response.result?.value.array ?? []).map { $0[member]?.string ?? "" }
        }
    }

    @Test(.features("003-08")) func oneReformerServesThreeEndpoints() async throws {
        let sent = Self.json(#"[{"item":"tea","address":"5 High St","name":"Ann"}]"#)
        try await withSystem(sent) { system, _ in
            let titles = Titles()
            let items = try await system.send(Orders(), as: titles)
            let addresses = try await system.send(Flats(), as: titles)
            let names = try await system.send(.get("/users", on: "a"), as: titles)
            let response = try await system.response(to: Flats(), as: titles).get()
            #expect(items == ["tea"] && addresses == ["5 High St"] && names == ["Ann"])
            #expect(response == addresses)
        }
    }

    /// A caller that asks with a validator gets the answer that nothing has changed.
    @Test func anUnchangedResourceIsNoFailureOfRaw() async throws {
        let unchanged = RawResponse(status: 304, fields: [.eTag: "\"7\""], body: [])
        try await withSystem(unchanged) { system, _ in
            let raw = try await system.send(.get("/x", on: "a"), as: .raw)
            let own = try await system.send(Read())
            #expect(raw == unchanged && own == unchanged)
            for code in [
                await Pipeline.code { () async throws(ClientError) in
                    try await system.send(.get("/x", on: "a"), as: .bytes)
                },
                await Pipeline.code { () async throws(ClientError) in
                    try await system.send(.get("/x", on: "a"))
                },
            ] { #expect(code == .httpStatus) }
        }
    }

    @Test func aFailureNamesMethodAndURL() async throws {
        let sent = RawResponse(status: 404, body: [])
        try await withSystem(sent) { system, _ in
            let error = await #expect(throws: ClientError.self) {
                try await system.send(.get("/x", on: "a", query: ["key": "ZZZZZZ"]))
            }
            #expect(error?.message.hasPrefix("GET https://api.example.com/v1/x: ") == true)
            #expect(error?.message.contains("ZZ") == false)
        }
    }

    @Test(.features("003-06", "003-07")) func oneResponseIsReformedInSeveralWays() async throws {
        let sent = Self.json(#"[{"item":"tea","cents":250},{"item":"rum","cents":900}]"#)
        try await withSystem(sent) { system, _ in
            let response = try await system.send(.get("/orders", on: "a"))
            let rows = Rows(title: "item", price: ["cents"])
            let total = ClosureReformer { response in
                try rows.reform(response).reduce(0) { $0 + $1.price }
            }
            let once = try rows.reform(response)
            #expect(try rows.reform(response) == once && once.count == 2)
            #expect(try total.reform(response) == 1150)
            #expect(try total.reform(response) == 1150)
            #expect(response.raw == sent)
        }
    }

    @Test(.features("003-10")) func aReformerThatFailsIsAMismatch() async throws {
        try await withSystem(Self.json(#"[{"item":"ZZZZZZ"}]"#)) { system, _ in
            let error = await #expect(throws: ClientError.self) {
                try await system.send(
                    .get("/x", on: "a"), as: Rows(title: "item", price: ["cents"]))
            }
            #expect(error?.code == .conversionFailed && error?.kind == .local)
            #expect(error?.message == "the program's conversion threw RowError")
        }
    }

    @Test func equalCallsJoinOnlyIfTheyReadTheSame() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine) { $0.callOptions.duplicates = .join }
        let call = RESTCall.get("/x", on: "a")
        let tasks = [
            Task { await system.response(to: call, as: .raw).status },
            Task { await system.response(to: call).status },
        ]
        #expect(try await eventually { engine.count == 2 })
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == nil) }
        await system.shutdown()
    }
}

/// The response object: one for success and failure.
@Suite struct ResponseTests {
    private struct Number: RESTEndpoint {
        typealias Success = Int
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/numbers" }
        var callOptions: RequestOptions { RequestOptions(tags: ["n"]) }
    }

    private func response(
        _ response: RecordingEngine.Response
    ) async throws -> CallResponse<Int> {
        let system = try await Pipeline.system(RecordingEngine(responses: [response]))
        let response = await system.response(to: Number())
        await system.shutdown()
        return response
    }

    @Test(.features("001-13")) func aSuccessHasEverything() async throws {
        let response = try await response(.init(body: " 7", fields: [.eTag: "\"1\""]))
        #expect(try response.get() == 7)
        #expect(response.identity?.service == "a" && response.identity?.method == "GET")
        #expect(response.identity?.tags == ["n"])
        #expect(response.identity?.id.description == "1")
        #expect(response.url == "https://api.example.com/v1/numbers")
        #expect(response.status == 200 && response.text == " 7")
        #expect(response.raw?.fields[.eTag] == "\"1\"")
        #expect(response.record?.identity == response.identity)
        #expect(response.record?.request.method == .get)
        #expect(response.record?.request.url == response.url)
        #expect(response.record?.attempts.map { $0.hops.count } == [1])
        #expect(response.record?.failure == nil && response.record?.status == 200)
    }

    @Test(
        .features("001-13"),
        arguments: [
            (404, "no", "http-status"), (200, "{", "malformed-response"),
            (200, "\"a\"", "type-mismatch"),
        ])
    func aFailureHasEverything(_ status: Int, _ body: String, _ code: String) async throws {
        let response = try await response(.init(status: status, body: body))
        let error = #expect(throws: ClientError.self) { try response.get() }
        #expect(error?.code.name == code && error?.identity == response.identity)
        #expect(response.record != nil && response.record == error?.record)
        #expect(response.identity?.service == "a" && response.status == status)
        #expect(response.url == "https://api.example.com/v1/numbers")
        #expect(response.raw?.body == Array(body.utf8) && response.text == body)
    }

    @Test func withoutAResponseThereIsNoText() async throws {
        let failed = try await response(
            .init(failure: TransportError(.tls, "down")))
        #expect(failed.identity != nil && failed.url != nil)
        #expect(failed.raw == nil && failed.text == nil && failed.status == nil)
        let system = try await Pipeline.system(RecordingEngine())
        await system.shutdown()
        let late = await system.response(to: Number())
        #expect(late.identity == nil && late.url == nil && late.raw == nil)
        #expect(late.record == nil)
        #expect(throws: ClientError.self) { try late.get() }
    }

    @Test func aDumpShowsNoBody() async throws {
        let response = try await response(.init(body: #""ZZZZZZ""#))
        var text = "\(response)"
        dump(response, to: &text)
        #expect(text.contains("type-mismatch") && !text.contains("ZZ"))
    }
}
