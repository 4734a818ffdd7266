import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetServiceDescription

/// Bodies that are not made of parameters, checked against a description.
struct SuppliedBodyTests {
    private static let document = ##"""
        {"openapi":"3.1.0","paths":{"/a/{id}":{"parameters":[{"name":"id","in":"path","required":true}],
          "get":{"operationId":"none"},
          "post":{"operationId":"order","parameters":[{"name":"dry","in":"query"}],
           "requestBody":{"required":true,"content":{
            "application/json; charset=utf-8":{"schema":{"$ref":"#/components/schemas/order"}},
            "application/x-www-form-urlencoded":{"schema":{"$ref":"#/components/schemas/order"}},
            "multipart/form-data":{"schema":{"$ref":"#/components/schemas/order"}},"image/*":{"schema":{"type":"string"}}}}},
          "put":{"operationId":"logo","requestBody":{"required":true,"content":{"image/png":{}}}},
          "patch":{"operationId":"any","requestBody":{"content":{"*/*":{"schema":{"type":"object"}}}}},
          "delete":{"operationId":"drop","requestBody":{"required":true,"content":{"application/json":{}}}}},
         "/b":{"post":{"operationId":"unknown","requestBody":{"$ref":"other.json#/a"}},
          "put":{"operationId":"untold","requestBody":{}},
          "patch":{"operationId":"spread","requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":
            {"required":["address"],"additionalProperties":false,"properties":{"n":{"type":"integer"},"address":{"type":"object"}}}}}}}},
         "/c":{"post":{"operationId":"versions","requestBody":{"content":{
            "application/json;v=1":{"schema":{"required":["old"]}},"application/json;v=2":{"schema":{"required":["new"]}}}}},
          "put":{"operationId":"loop","requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"$ref":"#/components/schemas/loop"}}}}},
          "patch":{"operationId":"odd","requestBody":{"content":{"json":{"schema":false}}}}}},
         "components":{"schemas":{"order":{"type":"object","required":["item","id"],"additionalProperties":false,"properties":{
           "item":{"type":"string","maxLength":9},"id":{"type":"integer","readOnly":true},"count":{"type":"integer","maximum":99},
           "tags":{"type":"array","items":{"type":"string"},"maxItems":2},"kind":{"enum":["tea","cake"]},"photo":{"type":"string"}}},
          "loop":{"allOf":[{"$ref":"#/components/schemas/loop"},{"$ref":"#/components/schemas/loop"},{"required":["a"]}]}}}}
        """##

    private func check(_ method: RPCMethod, _ body: SuppliedBody, id: Bool = true) throws {
        let parameters: RPCParameters? = id ? .object(["id": 7]) : nil
        _ = try ServiceDescription(parsing: bytes(Self.document)).checked(
            RPCCall(method, parameters: parameters), body: body)
    }

    private static func body(_ text: String, _ type: String) throws -> SuppliedBody {
        SuppliedBody(try .bytes(bytes(text), contentType: type))
    }

    private func refusal(_ method: RPCMethod, _ body: SuppliedBody, id: Bool = true) -> String {
        let error = #expect(throws: PayloadError.self) { try check(method, body, id: id) }
        #expect(error?.code == .invalidParameters)
        return error?.message ?? ""
    }

    @Test(
        arguments: [
            ("logo", "image/png"), ("logo", "IMAGE/PNG ; x=y"), ("order", "image/webp"),
            ("order", "application/json"), ("order", "multipart/form-data; boundary=x"),
            ("any", "text/csv"), ("drop", "application/json"),
        ] as [(RPCMethod, String)])
    func typesThatTheDescriptionNames(_ method: RPCMethod, _ type: String) throws {
        try check(method, SuppliedBody(contentType: type))
        try check(method, SuppliedBody(contentType: nil))
    }

    @Test(
        arguments: [
            ("logo", "image/jpeg", "a body of the type image/jpeg, expected image/png"),
            ("logo", "application/octet-stream", "expected image/png"),
            (
                "order", "text/csv",
                "expected one of application/json; charset=utf-8, application/x-www-"
            ),
            ("order", "imagex/png", "expected one of"),
            ("drop", "application/problem+json", "expected"),
            ("none", "application/json", "expected none"),
        ] as [(RPCMethod, String, String)])
    func typesThatItDoesNotName(_ method: RPCMethod, _ type: String, _ words: String) {
        let message = refusal(method, SuppliedBody(contentType: type))
        #expect(message.contains(words), "\(message)")
    }

    @Test(arguments: ["text/csv", "application/json", "application/x-www-form-urlencoded"])
    func undescribedBodiesAreAccepted(_ type: String) throws {
        for method in ["unknown", "untold"] as [RPCMethod] {
            try check(method, Self.body("{", type), id: false)
        }
        // A type whose name is not a media type isn't checked.
        try check("odd", Self.body("1", type), id: false)
    }

    @Test(
        arguments: [
            ("order", "application/json", #"{"item":"tea"}"#),
            ("order", "application/json", #" {"item":"tea","count":9,"tags":["a"],"kind":"tea"}"#),
            ("order", "image/png", "no JSON"),
            ("order", "application/x-www-form-urlencoded", "item=tea"),
            ("order", "application/x-www-form-urlencoded", "item=t%C3%A9+a&count=9&tags=a&tags=b"),
            ("order", "application/x-www-form-urlencoded", "item=7&count=%37&kind=tea&photo="),
            ("order", "application/x-www-form-urlencoded", "item=%FF&tags=a,b,c&tags[]=d"),
            ("any", "application/json", "{}"), ("drop", "application/json", "3"),
        ] as [(RPCMethod, String, String)])
    func bodiesThatFit(_ method: RPCMethod, _ type: String, _ body: String) throws {
        try check(method, Self.body(body, type))
    }

    @Test(
        arguments: [
            ("order", "application/json", "", "not strict JSON"),
            ("order", "application/json", #"{"item":"tea","item":"tea"}"#, "not strict JSON"),
            ("order", "application/json", "item: tea", "not strict JSON"),
            ("order", "application/json", "[]", "the body: found array, expected object"),
            ("order", "application/json", "{}", "the body at .item: found nothing"),
            (
                "order", "application/json", #"{"item":4242424242}"#,
                ".item: found number, expected string"
            ),
            (
                "order", "application/json", #"{"item":"x","kind":"4242424242"}"#,
                #".kind: found another string, expected one of "tea", "cake""#
            ),
            (
                "order", "application/json", #"{"item":"x","count":4242424242}"#,
                ".count: found another number, expected at most 99"
            ),
            ("order", "application/json", #"{"item":"x","Count":1}"#, ".Count: found a member"),
            ("any", "application/json", "4242424242", "found number, expected object"),
            ("any", "application/merge+json", "[]", "found array, expected object"),
            ("order", "application/x-www-form-urlencoded", "", ".item: found nothing"),
            ("order", "application/x-www-form-urlencoded", "Item=tea", ".item: found nothing"),
            (
                "order", "application/x-www-form-urlencoded", "item=4242424242",
                ".item: found 10 char"
            ),
            ("order", "application/x-www-form-urlencoded", "item=a&item=b", ".item: found array"),
            (
                "order", "application/x-www-form-urlencoded", "item=a&count=many",
                ".count: found string"
            ),
            ("order", "application/x-www-form-urlencoded", "item=a&count=%3100", "at most 99"),
            (
                "order", "application/x-www-form-urlencoded", "item=a&cou%6Et=4242424242",
                ".count: found another number, expected at most 99"
            ),
            (
                "order", "application/x-www-form-urlencoded", "item=a&kind=4242424242",
                #".kind: found another number, expected one of "tea", "cake""#
            ),
            ("order", "application/x-www-form-urlencoded", "item=a&more", ".more: found a field"),
            ("order", "application/x-www-form-urlencoded", "item=a&tags=1&tags=2&tags=3", ".tags"),
        ] as [(RPCMethod, String, String, String)])
    func bodiesThatDoNot(
        _ method: RPCMethod, _ type: String, _ body: String, _ words: String
    ) throws {
        let message = refusal(method, try Self.body(body, type))
        #expect(message.contains(words), "\(message)")
        // A body may hold secrets.
        #expect(!message.contains("4242424242"))
    }

    /// In a URL-encoded form an object's members are separate fields, so they aren't checked.
    @Test func objectsSpread() throws {
        let type = "application/x-www-form-urlencoded"
        try check("spread", Self.body("street=x&town=y", type), id: false)
        try check("spread", Self.body("address[street]=x", type), id: false)
        let message = refusal("spread", try Self.body("n=x", type), id: false)
        #expect(message.contains(".n: found string, expected integer"), "\(message)")
    }

    @Test func partsOfAForm() throws {
        var form = MultipartForm()
        form.append("tea", named: "item")
        form.append(file: [0xFF], named: "photo", fileName: "a.png")
        try check("order", SuppliedBody(form))
        try check("order", SuppliedBody(form, files: ["photo", "tags"]))
        // A file may be anything.
        try check("order", SuppliedBody(MultipartForm(), files: ["item", "count"]))
        #expect(refusal("order", SuppliedBody(form, files: ["more"])).contains(".more"))
        #expect(refusal("order", SuppliedBody(MultipartForm())).contains(".item: found nothing"))
        form.append("many", named: "count")
        #expect(
            refusal("order", SuppliedBody(form)).contains(".count: found string, expected integer"))
    }

    @Test func ofOneTypeInTwoVersionsOneIsEnough() throws {
        for body in [#"{"old":1}"#, #"{"new":1}"#] {
            try check("versions", Self.body(body, "application/json"), id: false)
        }
        #expect(
            refusal("versions", try Self.body("{}", "application/json"), id: false)
                .contains(".old: found nothing"))
    }

    @Test func schemasThatReferToThemselvesEnd() throws {
        let type = "application/x-www-form-urlencoded"
        try check("loop", Self.body("a=1", type), id: false)
        #expect(refusal("loop", try Self.body("b=1", type), id: false).contains(".a"))
    }

    @Test func parametersDoNotJoinABodyThatIsThere() throws {
        let description = try ServiceDescription(parsing: bytes(Self.document))
        let body = try Self.body(#"{"item":"tea"}"#, "application/json")
        for (method, parameters, fits) in [
            ("order", ["id": 7, "dry": true], true), ("order", ["id": 7, "count": 1], false),
            ("order", ["dry": true], false), ("none", ["id": 7], false),
        ] as [(RPCMethod, JSONObject, Bool)] {
            let call = RPCCall(method, parameters: .object(parameters))
            if fits {
                _ = try description.checked(call, body: body)
            } else {
                let error = #expect(throws: PayloadError.self) {
                    try description.checked(call, body: body)
                }
                #expect(error?.code == .invalidParameters)
            }
        }
    }

    @Test func typesAreListed() throws {
        let description = try ServiceDescription(parsing: bytes(Self.document))
        let types = try ["none", "order", "logo", "any", "unknown", "odd"].map {
            try description.method(named: $0)
        }
        #expect(types.map { $0.bodyTypeNames?.count } == [nil, 4, 1, 1, 0, 1])
        #expect(types.map(\.onlyBodyType) == [nil, nil, "image/png", nil, nil, nil])
        #expect(types[2].object["body"] == ["image/png"] && types[0].object["body"] == nil)
        #expect(types[1].readsBody(ofType: "application/x+json"))
        #expect(!types[1].readsBody(ofType: "text/csv") && !types[0].readsBody(ofType: "a/b+json"))
    }
}
