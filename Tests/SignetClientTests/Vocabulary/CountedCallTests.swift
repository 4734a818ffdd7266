import HTTPTypes
import Logging
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// The counted call: a call with its counting part, which depends on the run mode.
@Suite struct CountedCallTests {
    private static let secret = "ZZZZZZ"

    private static func call(
        _ mode: RunMode, count: Int = 1, change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> CountedCall {
        let engine = RecordingEngine(responses: [
            .init(body: #"{"jsonrpc":"2.0","id":1,"result":{"item":"tea","token":"ZZZZZZ"}}"#)
        ])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) { $0.runMode = mode }
        var options = RequestOptions()
        options.fields[.authorization] = "Bearer \(secret)"
        options.fields[.acceptLanguage] = "en"
        change(&options)
        var response: CallResponse<UnboxedResponse>?
        let call = RPCCall(
            "orders.list", parameters: .object(["limit": 50, "password": .string(secret)]))
        for _ in 0..<count {
            response = await system.response(to: ProcedureCall(call, on: "a"), options: options)
        }
        await system.shutdown()
        return try #require(response?.record?.counted)
    }

    private static func describe(_ call: some DescribedCall) -> String {
        "\(call.identity.method) \(call.outcome) \(call.response?.status ?? 0)"
    }

    /// A counted call is a call too: code for the one takes the other.
    @Test(.features("000-05", "000-48"))
    func itIsACallWithACountingPart() async throws {
        let counted = try await Self.call(.development, count: 3)
        #expect(Self.describe(counted) == Self.describe(counted.record))
        #expect(Self.describe(counted) == "orders.list success 200")
        #expect(counted.ordinal == 3 && counted.mode == .development)
        #expect(counted.source == .server && !counted.isSimulated && counted.stubs.isEmpty)
    }

    @Test(.features("000-40", "002-23", "001-14"))
    func itKeepsWhatEachStageChanged() async throws {
        let counted = try await Self.call(.development)
        #expect(counted.contents.map(\.stage) == [.building, .signing, .request, .unboxing])
        let building = counted.contents[0]
        #expect(building.before?.head == "orders.list")
        #expect(building.before?.body.contains(#""limit":50"#) == true)
        #expect(building.after?.head == "POST https://api.example.com/v1")
        #expect(building.after?.body.contains(#""method":"orders.list""#) == true)
        let fields = try #require(counted.contents[2].before?.fields)
        #expect(fields.contains { $0.name.lowercased() == "accept-language" && $0.value == "en" })
        let authorization = fields.first { $0.name.lowercased() == "authorization" }
        #expect(authorization?.value == "(redacted)")
        #expect(counted.contents[2].after?.head == "200")
        #expect(counted.contents[3].before?.body.contains(#""item":"tea""#) == true)
        #expect(counted.contents[3].after?.body.contains(#""item":"tea""#) == true)
    }

    /// A retry and a redirect are requests of their own, each with the head and fields that left.
    @Test(.features("000-49"), arguments: [false, true])
    func eachRequestOfTheEngineIsWrapped(_ isAnswered: Bool) async throws {
        let engine = RecordingEngine(responses: [
            .init(status: 503), .init(status: 307, fields: [.location: "/v1/y"]),
            .init(body: "1"),
        ])
        let system = try await Pipeline.system(engine) { options in
            options.runMode = .development
            options.clock.sleep = { _ in }
        }
        let trace = CallTrace()
        var options = RequestOptions(trace: trace)
        options.attempts = 2
        options.fields[.acceptLanguage] = "en"
        if isAnswered {
            options.attemptInterceptors = [
                InterceptorTests.Each { _, _ in
                    EngineResponse(
                        response: .init(status: .ok), body: HTTPResponseBody(bytes: [0x31]),
                        httpVersion: .init(major: 1, minor: 1))
                }
            ]
        }
        #expect(try await system.send(.get("/x", on: "a"), as: Int.self, options: options) == 1)
        await system.shutdown()
        let contents = try #require(trace.record?.counted.contents)
        let wrapped = contents.filter { $0.stage == .request }
        #expect(wrapped.map { $0.after?.head } == (isAnswered ? [] : ["503", "307", "200"]))
        #expect(engine.count == wrapped.count)
        for (message, sent) in zip(wrapped.compactMap(\.before), engine.requests) {
            let url = "https://api.example.com" + (sent.request.path ?? "")
            #expect(message.head == "GET \(url)")
            let fields = sent.request.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
            #expect(message.fields.map { "\($0.name.lowercased()): \($0.value)" } == fields)
            #expect(fields.contains("accept-language: en"))
        }
        #expect(
            engine.requests.map(\.request.path) == (isAnswered ? [] : ["/v1/x", "/v1/x", "/v1/y"]))
    }

    /// In development the log has what went out and what came back.
    @Test(.features("001-14")) func theLogHasThemInDevelopmentAlone() async throws {
        for mode in [RunMode.development, .production] {
            let log = RecordingLog()
            let engine = RecordingEngine(responses: [.init(body: #"{"item":"tea"}"#)])
            let system = try await Pipeline.system(engine) { options in
                options.runMode = mode
                options.logger = Logger(label: "counted", factory: { _ in log })
            }
            _ = try await system.call(
                RESTRequest(.get, "/orders", query: ["limit": 5, "api_key": "ZZZZZZ"]), on: "a")
            await system.shutdown()
            let shows = mode == .development
            #expect(log.text.contains("limit=5") == shows)
            #expect(log.text.contains("tea") == shows)
            #expect(!log.text.contains("ZZZZZZ"))
        }
    }

    @Test(.features("000-40")) func nothingSecretIsKept() async throws {
        var text = ""
        dump(try await Self.call(.development), to: &text)
        #expect(text.contains("tea") && !text.contains(Self.secret), "\(text)")
    }

    @Test(.features("000-40")) func productionKeepsNothingUnlessAskedByName() async throws {
        let plain = try await Self.call(.production)
        #expect(plain.contents.isEmpty && plain.ordinal == nil)
        let asked = try await Self.call(.production) { $0.keepsContents = true }
        #expect(asked.contents.count == 4 && asked.ordinal == 1)
        let refused = try await Self.call(.development) { $0.keepsContents = false }
        #expect(refused.contents.isEmpty)
        var text = ""
        dump(plain, to: &text)
        #expect(!text.contains("tea") && !text.contains(Self.secret))
    }

    /// Places in which canaries are put, none of which shows them.
    @Test(arguments: [
        #"{"api_key":"ZZZZZZ"}"#, #"{"user":{"password":"ZZZZZZ"}}"#,
        #"[{"name":"DB_PASSWORD","value":"ZZZZZZ"}]"#, #"{"session_token":"ZZZZZZ"}"#,
        #"{"tokens":{"access":"ZZZZZZ"}}"#, #"[["X-Api-Key","ZZZZZZ"]]"#,
    ])
    func bodiesAreRedacted(_ body: String) async throws {
        let engine = RecordingEngine(responses: [
            .init(body: body, fields: [.setCookie: "sid=ZZZZZZ"])
        ])
        let system = try await Pipeline.system(engine) { $0.runMode = .development }
        let response = await system.response(
            to: .post(
                "/x", on: "a", query: ["api_key": "ZZZZZZ"], body: try JSONValue(parsing: body)),
            as: .raw)
        var text = ""
        dump(response.record?.counted, to: &text)
        #expect(!text.contains(Self.secret), "\(text)")
        #expect(response.record?.counted.contents.isEmpty == false)
        await system.shutdown()
    }

    /// The page copies and sends again only bodies that were written down.
    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            ("", "text/plain", .exact, ""),
            (#"{"a" : 1}"#, "application/json", .exact, #"{"a" : 1}"#),
            (#"{"a" : "\u0041"}"#, "text/plain", .exact, #"{"a" : "\u0041"}"#),
            ("a=1&b=%20", "application/x-www-form-urlencoded", .exact, "a=1&b=%20"),
            (#"{"password":"Z"}"#, "application/json", .redacted, #"{"password":"(redacted)"}"#),
            (
                "a=1&password=Z", "application/x-www-form-urlencoded", .redacted,
                "a=1&password=(redacted)"
            ), ("a=1", "text/plain", .omitted, "(3 bytes)"),
            (#"{"a":1"#, "application/json", .omitted, "(6 bytes)"),
            (String(repeating: "1", count: 70_000), "application/json", .omitted, "(70000 bytes)"),
        ] as [(String, String, StageContents.BodyKind, String)])
    func aBodySaysHowMuchOfItIsKept(
        _ body: String, _ type: String, _ kind: StageContents.BodyKind, _ text: String
    ) async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine) { $0.runMode = .development }
        let trace = CallTrace()
        _ = try await system.exchange(
            "a", method: .post, target: "/x", fields: [.contentType: type], body: Array(body.utf8),
            options: RequestOptions(trace: trace))
        let sent = trace.record?.counted.contents.last { $0.stage == .request }?.before
        #expect(sent?.bodyKind == kind && sent?.body == text)
        await system.shutdown()
    }
}
