import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// The REST adapter: requests and responses.
struct RESTTests {
    let adapter = RESTAdapter()

    private func parameters(_ json: String) throws -> RPCParameters {
        try RPCParameters(parsing: bytes(json))
    }

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func parametersBecomeTheBody(_ method: String) throws {
        let request = try adapter.box(
            RPCCall(RPCMethod(method), parameters: try parameters(#"{"a":[null,{"b":1e400}]}"#)))
        #expect(request.method.rawValue == method)
        #expect(text(request.body) == #"{"a":[null,{"b":1e400}]}"#)
        #expect(request.fields[.contentType] == "application/json")
        #expect(request.query == nil)
        let empty = try adapter.box(RPCCall(RPCMethod(method)))
        #expect(empty.body.isEmpty)
        #expect(empty.fields[.contentType] == nil)
    }

    @Test(arguments: [
        (#"{"a":"x"}"#, "a=x"), (#"{"a":1e400,"b":true,"c":false}"#, "a=1e400&b=true&c=false"),
        (#"{"a":[1,"two",false]}"#, "a=1&a=two&a=false"), (#"{"a":""}"#, "a="),
        (#"{"a b":"c&d=e+f/?#%é\u0000"}"#, "a%20b=c%26d%3De%2Bf%2F%3F%23%25%C3%A9%00"),
        (#"{"-._~":"-._~AZaz09"}"#, "-._~=-._~AZaz09"),
    ])
    func parametersJoinTheQuery(_ json: String, _ query: String) throws {
        for method: RPCMethod in ["GET", "DELETE", "HEAD", "OPTIONS"] {
            let request = try adapter.box(RPCCall(method, parameters: try parameters(json)))
            #expect(request.query == query)
            #expect(request.body.isEmpty)
            #expect(request.fields[.contentType] == nil)
        }
    }

    @Test(arguments: ["{}", #"{"a":[]}"#])
    func nothingJoinsTheQuery(_ json: String) throws {
        #expect(try adapter.box(RPCCall("GET", parameters: try parameters(json))).query == nil)
    }

    @Test(arguments: [
        #"{"a":null}"#, #"{"a":{}}"#, #"{"a":{"b":1}}"#, #"{"a":[null]}"#, #"{"a":[[1]]}"#,
        #"{"a":[1,{}]}"#, "[]", "[1]",
    ])
    func parametersThatTheQueryCannotSay(_ json: String) throws {
        let parameters = try parameters(json)
        let error = #expect(throws: PayloadError.self) {
            try adapter.box(RPCCall("GET", parameters: parameters))
        }
        #expect(error?.code.name == "invalid-params")
    }

    @Test func parametersByPositionAreRefusedForABodyToo() throws {
        let error = #expect(throws: PayloadError.self) {
            try adapter.box(RPCCall("POST", parameters: .array([1])))
        }
        #expect(error?.code.name == "invalid-params")
    }

    @Test(arguments: ["", "GE T", "GET\r\n", "GÉT", "orders/list", "a:b"])
    func methodsThatAreNoToken(_ method: String) {
        let error = #expect(throws: PayloadError.self) {
            try adapter.box(RPCCall(RPCMethod(method)))
        }
        #expect(error?.code.name == "invalid-method")
    }

    @Test func knowsNoNotifications() {
        let error = #expect(throws: PayloadError.self) {
            try adapter.box(RPCCall("GET", isNotification: true))
        }
        #expect(error?.code.name == "unsupported-call")
    }

    @Test(arguments: [
        ("/a", "/a?q=1"), ("/a?x=2", "/a?x=2&q=1"), ("/a?", "/a?q=1"), ("/a?x=2&", "/a?x=2&q=1"),
        ("/a?x?", "/a?x?&q=1"),
    ])
    func theQueryJoinsATarget(_ target: String, _ joined: String) {
        #expect(BoxedRequest(method: .get, query: "q=1").target(joinedTo: target) == joined)
        #expect(BoxedRequest(method: .get).target(joinedTo: target) == target)
    }

    @Test(arguments: [
        (200, "", "null"), (204, "", "null"), (200, " {\"a\" : 1e400}\n", "{\"a\" : 1e400}"),
        (201, "[]", "[]"), (299, "\"x\"", "\"x\""), (200, "null", "null"),
    ])
    func resultIsTheBody(_ status: Int, _ body: String, _ result: String) throws {
        let request = try adapter.box(RPCCall("GET"))
        let response = try adapter.unbox(RawResponse(body, status: status), to: request)
        #expect(response.result.map { text($0.bytes) } == result)
        #expect(response.status == status)
    }

    @Test(arguments: [
        (200, " ", "malformed-response"), (200, "<html>", "malformed-response"),
        (200, "{\"a\":1,\"a\":2}", "malformed-response"), (200, "[1,]", "malformed-response"),
        (200, "{} {}", "malformed-response"), (200, "NaN", "malformed-response"),
        (304, "", "http-status"), (301, "[]", "http-status"), (404, "", "http-status"),
        (404, "{\"error\":1}", "http-status"), (500, "<html>", "http-status"),
        (100, "", "http-status"),
    ])
    func refusesTheResponse(_ status: Int, _ body: String, _ code: String) throws {
        let request = try adapter.box(RPCCall("GET"))
        let error = #expect(throws: PayloadError.self) {
            try adapter.unbox(RawResponse(body, status: status), to: request)
        }
        #expect(error?.code.name == code)
        #expect(error?.status == status)
    }

    @Test func refusesAResponseOverTheLimit() throws {
        var adapter = adapter
        let request = try adapter.box(RPCCall("GET"))
        adapter.maximumResponseSize = 3
        _ = try adapter.unbox(RawResponse("123"), to: request)
        let error = #expect(throws: PayloadError.self) {
            try adapter.unbox(RawResponse("1234"), to: request)
        }
        #expect(error?.code == .responseTooLarge)
    }
}
