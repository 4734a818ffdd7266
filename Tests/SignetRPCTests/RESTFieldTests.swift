import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Parameters and fields of a REST request outside of path, query and body.
struct RESTFieldTests {
    private var adapter: RESTAdapter {
        var adapter = RESTAdapter()
        adapter.headerParameters = ["X-A", "x b", "é"]
        adapter.cookieParameters = ["c", "d", "e;f"]
        return adapter
    }

    private func boxed(_ method: RPCMethod, _ parameters: String) throws -> BoxedRequest {
        try adapter.box(RPCCall(method, parameters: RPCParameters(parsing: bytes(parameters))))
    }

    @Test(arguments: ["GET", "POST", "GET /x", "PUT /x/{p}"] as [RPCMethod])
    func theyLeavePathQueryAndBody(_ method: RPCMethod) throws {
        let request = try boxed(method, #"{"X-A":["a b",1,true],"c":"x=y","d":2,"p":"q"}"#)
        let name = try #require(HTTPField.Name("X-A"))
        #expect(request.fields[name] == "a b,1,true")
        #expect(request.fields[values: .cookie] == ["c=x=y; d=2"])
        #expect(!(request.query ?? "").contains("a") && !text(request.body).contains("X-A"))
        // If they were all parameters, there is no body.
        let alone = try boxed("POST", #"{"X-A":"a","c":1}"#)
        #expect(alone.body.isEmpty && alone.fields[.contentType] == nil && alone.query == nil)
        #expect(try boxed("GET", #"{"X-A":[]}"#).fields[name] == nil)
    }

    @Test(arguments: [
        #"{"X-A":"a\r\nX-Evil: 1"}"#, #"{"X-A":"a\u0000"}"#, #"{"X-A":null}"#, #"{"X-A":{}}"#,
        #"{"X-A":["a,b","c"]}"#, #"{"X-A":[["a"]]}"#, #"{"x b":"a"}"#, #"{"é":"a"}"#,
        #"{"c":"a b"}"#, #"{"c":"a;b"}"#, #"{"c":"a,b"}"#, #"{"c":"a\"b"}"#, #"{"c":"a\\b"}"#,
        #"{"c":"a\r\nX-Evil: 1"}"#, #"{"c":"é"}"#, #"{"c":null}"#, #"{"c":[1]}"#, #"{"c":{}}"#,
        #"{"e;f":"a"}"#,
    ])
    func refusesInvalidFieldValues(_ parameters: String) {
        let error = #expect(throws: PayloadError.self) { try boxed("GET", parameters) }
        #expect(error?.code == .invalidParameters)
        #expect(error?.message.contains("Evil") == false)
    }

    @Test func aRequestHasFieldsOfItsOwn() throws {
        let name = try #require(HTTPField.Name("X-A"))
        let request = RESTRequest(
            .put, "/a", fields: [name: "1", .accept: "text/csv", .contentType: "a/b"],
            body: .json(1))
        let boxed = try adapter.box(request)
        #expect(boxed.fields[name] == "1" && boxed.fields[.accept] == "text/csv")
        // The body says what it is.
        #expect(boxed.fields[values: .contentType] == ["application/json"])
        let plain = try adapter.box(RESTRequest(.get))
        #expect(plain.fields == [.accept: "application/json"])
    }

    @Test func aCallWithABodyOfItsOwn() throws {
        let call = RPCCall(
            "POST /a/{id}",
            parameters: .object(["id": "x/y", "X-A": "1", "c": 2, "q": ["r", "s"]]))
        var request = try adapter.request(for: call, body: .json("b"))
        let boxed = try adapter.box(request)
        #expect(boxed.path == "/a/x%2Fy" && boxed.query == "q=r&q=s" && text(boxed.body) == "\"b\"")
        #expect(boxed.fields[.cookie] == "c=2")
        request = try adapter.request(for: RPCCall("POST"))
        #expect(try adapter.box(request).path == nil)
        for wrong in [
            RPCCall("POST", parameters: .array([1])), RPCCall("POST", isNotification: true),
            RPCCall("POST /{id}"), RPCCall("P ST"),
        ] {
            #expect(throws: PayloadError.self) { try adapter.request(for: wrong) }
        }
    }
}
