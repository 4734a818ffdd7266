import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Responses with an envelope around the result, and errors with a body.
struct EnvelopeTests {
    static let good = #"{"code":0,"message":"ok","data":{"id":7}}"#

    private func unbox(
        _ body: String, status: Int = 200, _ adapter: EnvelopeAdapter = EnvelopeAdapter()
    ) throws(PayloadError) -> UnboxedResponse {
        try adapter.unbox(RawResponse(body, status: status), to: adapter.box(RPCCall("GET")))
    }

    @Test(arguments: [
        (good, #"{"id":7}"#), (#"{"data":[1e400],"code":0}"#, "[1e400]"),
        (#"{"code":0}"#, "null"), (#"{"code":0,"data":null}"#, "null"),
        (#"{"code":0,"data":"x","more":{"code":5}}"#, "\"x\""),
        (#" {"co\u0064e":0,"data":1} "#, "1"),
    ])
    func dataIsTheResult(_ body: String, _ result: String) throws {
        #expect(try unbox(body).result.map { text($0.bytes) } == result)
    }

    @Test(
        .features("001-04"),
        arguments: [
            (200, #"{"code":1001,"message":"no tea","data":{"left":0}}"#, "1001"),
            (500, #"{"code":1001,"message":"no tea"}"#, "1001"), (200, #"{"code":-1}"#, "-1"),
            (200, #"{"code":"0","data":1}"#, #""0""#), (200, #"{"code":"E_TEA"}"#, #""E_TEA""#),
            (200, #"{"code":false,"data":1}"#, #""false""#), (200, #"{"code":00000}"#, nil),
            (200, #"{"code":10,"data":1}"#, "10"), (200, #"{"code":-0,"data":1}"#, "-0"),
        ] as [(Int, String, String?)])
    func anotherCodeIsTheServicesError(_ status: Int, _ body: String, _ code: String?) {
        let error = #expect(throws: PayloadError.self) { try unbox(body, status: status) }
        guard let code else {
            #expect(error?.code == .malformedResponse)
            return
        }
        #expect(error?.code == .rpcError)
        #expect(error?.status == status)
        #expect(error?.server?.object["code"]?.text == code)
    }

    @Test(arguments: [
        (200, "", "malformed-response"), (200, "[]", "malformed-response"),
        (200, "{}", "malformed-response"),
        (200, #"{"data":1}"#, "malformed-response"),
        (200, #"{"code":null,"data":1}"#, "malformed-response"),
        (200, #"{"code":0.0,"data":1}"#, "malformed-response"),
        (200, #"{"code":[],"data":1}"#, "malformed-response"),
        (200, #"{"code":0,"code":1}"#, "malformed-response"), (200, "<html>", "malformed-response"),
        (200, #"{"code":0,"data":1"#, "malformed-response"), (500, "<html>", "http-status"),
        (500, "", "http-status"), (404, #"{"message":"x"}"#, "http-status"),
        // A good code does not make a bad status good.
        (500, good, "http-status"), (302, good, "http-status"),
        (500, #"{"code":{}}"#, "http-status"),
    ])
    func refusesTheResponse(_ status: Int, _ body: String, _ code: String) {
        let error = #expect(throws: PayloadError.self) { try unbox(body, status: status) }
        #expect(error?.code.name == code)
    }

    @Test func namesAndGoodCodesAreTheAPIsOwn() throws {
        var adapter = EnvelopeAdapter()
        adapter.codePath = ["meta", "status"]
        adapter.messagePath = ["meta", "text"]
        adapter.dataPath = ["payload"]
        adapter.goodCodes = ["OK", 200]
        adapter.requiresData = true
        let good = #"{"meta":{"status":"OK"},"payload":[]}"#
        #expect(try unbox(good, adapter).result?.value == [])
        #expect(try unbox(#"{"meta":{"status":200},"payload":3}"#, adapter).result?.value == 3)
        let bad = #expect(throws: PayloadError.self) {
            try unbox(#"{"meta":{"status":"GONE","text":"is\u001b[2J gone"},"payload":3}"#, adapter)
        }
        #expect(bad?.server?.textCode == "GONE")
        #expect(bad?.message.contains("\u{1B}") == false)
        let empty = #expect(throws: PayloadError.self) {
            try unbox(#"{"meta":{"status":"OK"}}"#, adapter)
        }
        #expect(empty?.code == .malformedResponse)
        adapter.dataPath = []
        #expect(try unbox(good, adapter).result?.value["payload"] == [])
    }

    @Test func aResponseWithoutContentIsNull() throws {
        #expect(try unbox("", status: 204).result?.value == .null)
    }

    @Test func theLimitIsThatOfREST() throws {
        var adapter = EnvelopeAdapter()
        adapter.rest.maximumResponseSize = 10
        let error = #expect(throws: PayloadError.self) { try unbox(Self.good, adapter) }
        #expect(error?.code == .responseTooLarge)
    }

    // MARK: Problem details

    private func error(_ body: String, _ type: String, status: Int = 403) throws -> PayloadError? {
        let adapter = RESTAdapter()
        let response = RawResponse(status: status, fields: [.contentType: type], body: bytes(body))
        return #expect(throws: PayloadError.self) {
            try adapter.unbox(response, to: adapter.box(RPCCall("GET")))
        }
    }

    /// The example of RFC 9457, section 3.
    static let credit = """
        {"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.",
        "detail":"Your current balance is 30, but that costs 50.","instance":"/account/12345/msgs/abc",
        "balance":30,"accounts":["/account/12345","/account/67890"]}
        """

    @Test(arguments: [
        "application/problem+json", "Application/Problem+JSON; charset=utf-8",
    ])
    func aProblemIsTyped(_ type: String) throws {
        let error = try error(Self.credit, type)
        let problem = try #require(error?.problem)
        #expect(error?.code == .httpStatus)
        #expect(problem.type == "https://example.com/probs/out-of-credit")
        #expect(problem.title == "You do not have enough credit.")
        #expect(problem.detail == "Your current balance is 30, but that costs 50.")
        #expect(problem.instance == "/account/12345/msgs/abc")
        #expect(problem.extensions.memberNames == ["balance", "accounts"])
        #expect(try problem.decode(Int.self, named: "balance") == 30)
        #expect(try problem.decode(Int.self, named: "nothing") == nil)
        #expect(throws: JSONError.self) { try problem.decode(Int.self, named: "accounts") }
        #expect(problem.object == (try JSONValue(parsing: bytes(Self.credit))).object)
        struct Credit: Decodable { var balance: Int }
        #expect(try error?.decodeResponse(Credit.self).balance == 30)
        // The title may stand in a log, the detail not.
        let words = "\(error.map { "\($0)" } ?? "")\(problem)"
        #expect(words.contains("enough credit") && !words.contains("30"))
    }

    @Test func membersOfAnotherTypeAreIgnored() throws {
        let problem = try #require(
            try ProblemDetails(
                parsing: bytes(
                    #"{"type":1,"title":[],"status":"403","detail":null,"instance":{},"x":1}"#)))
        #expect(problem.type == "about:blank")
        #expect(problem.title == nil && problem.status == nil && problem.detail == nil)
        #expect(problem.extensions == ["x": 1])
        #expect(try ProblemDetails(parsing: bytes(#"{"status":9999}"#))?.status == nil)
        #expect(try ProblemDetails(parsing: bytes("[]")) == nil)
    }

    @Test(arguments: [
        (credit, "application/json"), (credit, "text/html"), ("<html>", "application/problem+json"),
        ("", "application/problem+json"), ("[]", "application/problem+json"),
        (#"{"title":"a","title":"b"}"#, "application/problem+json"),
    ])
    func otherBodiesAreAStatusError(_ body: String, _ type: String) throws {
        let error = try error(body, type)
        #expect(error?.code == .httpStatus)
        #expect(error?.problem == nil)
        #expect(error.map { text($0.body) } == body)
    }

    @Test func aTitleMovesNoCursorAndFillsNoScreen() throws {
        let title = "\\u001b[2J" + String(repeating: "x", count: 5000)
        let error = try error(#"{"title":"\#(title)"}"#, "application/problem+json")
        #expect(error?.message.contains("\u{1B}") == false)
        #expect((error?.message.count ?? 9999) < 400)
    }
}
