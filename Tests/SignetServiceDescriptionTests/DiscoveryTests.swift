import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetServiceDescription

/// Descriptions of services, and parameters that don't match them.
struct DiscoveryTests {
    @Test func aTypesNameCannotSteerATerminal() throws {
        let text =
            #"{"openrpc":"1.3.2","methods":[{"name":"a","params":[{"name":"x","required":true,"#
            + #""schema":{"type":["\u001b[2J","\u009b"]}},{"name":"y","schema":{"type":["#
            + #""null","\u007f"]}}]}]}"#
        let method = try ServiceDescription(parsing: Array(text.utf8)).methods[0]
        #expect(method.line == #"a(x: \u{1b}[2J|\u{9b}, y?: null|\u{7f})"#)
        #expect(method.parameters[1].schema.typeName == #"null|\u{7f}"#)
    }

    static let petStore = #"""
        {"openrpc":"1.3.2","info":{"title":"Pets","version":"1"},"methods":[
         {"name":"list","summary":"All pets\u001b[2J","params":[
           {"name":"limit","schema":{"type":"integer","minimum":1,"maximum":100}},
           {"$ref":"#/components/contentDescriptors/kind"}]},
         {"name":"add","paramStructure":"by-name","params":[
           {"name":"pet","required":true,"schema":{"$ref":"#/components/schemas/pet"}}]},
         {"name":"move","paramStructure":"by-position","params":[
           {"name":"id","required":true,"schema":{"type":["integer","string"]}},
           {"name":"to","schema":{"oneOf":[{"const":"home"},{"type":"null"},{"type":"array","items":{"type":"number"},"maxItems":2}]}}]},
         {"name":"ping","params":[]}],
         "components":{"contentDescriptors":{"kind":{"name":"kind","required":false,"schema":{"enum":["cat","dog"]}}},
          "schemas":{"pet":{"type":"object","required":["name","id"],"additionalProperties":false,
            "properties":{"name":{"type":"string","minLength":1,"maxLength":3},"tags":{"type":"array","items":{"type":"string"}},
             "id":{"type":"integer","readOnly":true},"parent":{"$ref":"#/components/schemas/pet"}}}}}}
        """#

    static let shop = #"""
        {"openapi":"3.1.0","info":{"title":"Shop"},"paths":{
         "/orders":{"get":{"operationId":"listOrders","parameters":[
            {"name":"tags","in":"query","style":"pipeDelimited","schema":{"type":"array","items":{"type":"string"}}},
            {"name":"limit","in":"query","schema":{"type":"integer","maximum":50}},
            {"name":"X-Trace","in":"header","required":true,"schema":{"type":"string"}}]},
           "post":{"operationId":"createOrder","parameters":[{"name":"dryRun","in":"query","schema":{"type":"boolean"}}],
            "requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/order"}}}}}},
         "/orders/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
           "get":{"summary":"One order"},
           "put":{"operationId":"note","requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object"}}}}},
           "delete":{"operationId":"drop","requestBody":{"required":true,"content":{"application/json":{}}}}},
         "/logo":{"put":{"operationId":"logo","requestBody":{"required":true,"content":{"image/png":{}}}}},
         "x-more":3},
         "components":{"schemas":{"order":{"type":"object","required":["item"],"properties":{"item":{"type":"string"},"quantity":{"type":"integer","minimum":1}}}}}}
        """#

    private func checked(
        _ document: String, _ method: RPCMethod, _ parameters: String?
    ) throws -> RPCCall {
        try ServiceDescription(parsing: bytes(document)).checked(
            RPCCall(method, parameters: parameters.map { try RPCParameters(parsing: bytes($0)) }))
    }

    @Test func listsMethods() throws {
        let pets = try ServiceDescription(parsing: bytes(Self.petStore))
        #expect(pets.kind == .openRPC && pets.title == "Pets")
        #expect(pets.methods.map(\.name) == ["list", "add", "move", "ping"])
        #expect(pets.methods[0].line == #"list(limit?: integer, kind?: enum)  All pets\u{1b}[2J"#)
        #expect(pets.methods[2].line == "move(id: integer|string, to?: any)")
        #expect(pets.methods[1].object["params"]?.array?.first?["required"] == true)
        let shop = try ServiceDescription(parsing: bytes(Self.shop))
        #expect(
            shop.methods.map(\.method.name) == [
                "GET /orders", "POST /orders", "GET /orders/{id}", "PUT /orders/{id}",
                "DELETE /orders/{id}", "PUT /logo",
            ])
        #expect(shop.methods[2].name == "GET /orders/{id}")
        #expect(shop.methods[1].parameters.map(\.name) == ["dryRun", "item", "quantity"])
    }

    @Test(
        arguments: [
            ("ping", nil), ("ping", "[]"), ("ping", "{}"), ("list", nil),
            ("list", #"{"limit":100}"#),
            ("list", #"{"limit":1.0,"kind":"cat"}"#), ("list", "[1e1]"), ("list", #"[5,"dog"]"#),
            ("add", #"{"pet":{"name":"Rex"}}"#), ("add", #"{"pet":{"name":"äöü","tags":[]}}"#),
            ("add", #"{"pet":{"name":"a","parent":{"name":"b"}}}"#), ("move", "[1]"),
            ("move", #"["x","home"]"#), ("move", "[1,null]"), ("move", "[1,[1,2.5]]"),
        ] as [(RPCMethod, String?)])
    func acceptsMatchingParameters(_ method: RPCMethod, _ parameters: String?) throws {
        #expect(try checked(Self.petStore, method, parameters).method == method)
    }

    @Test(
        arguments: [
            ("list", #"{"limit":0}"#, "\"limit\": found 0, expected at least 1"),
            ("list", #"{"limit":101}"#, "\"limit\": found 101, expected at most 100"),
            ("list", #"{"limit":"5"}"#, "\"limit\": found string, expected integer"),
            ("list", #"{"limit":1.5}"#, "\"limit\": found number 1.5, expected integer"),
            ("list", #"{"kind":"cow"}"#, #""kind": found "cow", expected one of "cat", "dog""#),
            ("list", #"{"Limit":5}"#, "found a parameter \"Limit\", expected one of limit, kind"),
            ("list", #"[1,"cat",3]"#, "found 3 parameters, expected at most 2"),
            ("ping", "[1]", "found 1 parameters, expected at most 0"),
            ("ping", #"{"a":1}"#, "found a parameter \"a\", expected none"),
            ("add", nil, "\"pet\": found nothing, expected object"),
            ("add", #"[{"name":"Rex"}]"#, "found parameters by position, expected them by name"),
            ("add", #"{"pet":{}}"#, "\"pet\" at .name: found nothing, expected a value"),
            (
                "add", #"{"pet":{"name":"long"}}"#,
                "at .name: found 4 characters, expected at most 3"
            ),
            ("add", #"{"pet":{"name":""}}"#, "at .name: found 0 characters, expected at least 1"),
            (
                "add", #"{"pet":{"name":"a","tags":["b",3]}}"#,
                "at .tags[1]: found number 3, expected string"
            ),
            (
                "add", #"{"pet":{"name":"a","age":3}}"#,
                "at .age: found a member of this name, expected one of"
            ),
            (
                "add", #"{"pet":{"name":"a","parent":{"name":1}}}"#,
                "at .parent.name: found number 1"
            ),
            ("move", "[]", "\"id\": found nothing, expected integer|string"),
            ("move", "[true]", "\"id\": found boolean, expected integer or string"),
            ("move", #"{"id":1}"#, "found parameters by name, expected them by position"),
            (
                "move", #"[1,"away"]"#,
                #""to": found "away", expected one of "home", or null, or array"#
            ),
            ("move", "[1,[1,2,3]]", "\"to\""),
        ] as [(RPCMethod, String?, String)])
    func refusesWithParameterFoundAndWanted(
        _ method: RPCMethod, _ parameters: String?, _ words: String
    ) {
        let error = #expect(throws: PayloadError.self) {
            try checked(Self.petStore, method, parameters)
        }
        #expect(error?.code == .invalidParameters)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func anUnknownMethodIsNamed() {
        let error = #expect(throws: PayloadError.self) { try checked(Self.petStore, "Ping", nil) }
        #expect(error?.code.name == "unknown-method")
        #expect(
            error?.message == #"found the method "Ping", expected one of list, add, move, ping"#)
    }

    @Test(
        arguments: [
            (
                "listOrders", #"{"X-Trace":"t","tags":["a","b"],"limit":5}"#, "/orders",
                "tags=a%7Cb&limit=5", ""
            ),
            ("GET /orders", #"{"X-Trace":"t","limit":"5"}"#, "/orders", "limit=5", ""),
            ("listOrders", #"{"X-Trace":"t","tags":"a"}"#, "/orders", "tags=a", ""),
            ("listOrders", #"{"X-Trace":"t","tags":[1]}"#, "/orders", "tags=1", ""),
            ("listOrders", #"{"X-Trace":"t"}"#, "/orders", nil, ""),
            (
                "createOrder", #"{"item":"tea","dryRun":true}"#, "/orders", "dryRun=true",
                #"{"item":"tea"}"#
            ),
            ("GET /orders/{id}", #"{"id":"7"}"#, "/orders/7", nil, ""),
            ("note", #"{"id":7,"text":"a b"}"#, "/orders/7", nil, "text=a+b"),
        ] as [(RPCMethod, String?, String, String?, String)])
    func parametersGoToTheirDescribedPlaces(
        _ method: RPCMethod, _ parameters: String?, _ path: String, _ query: String?, _ body: String
    ) throws {
        let call = try checked(Self.shop, method, parameters)
        let shop = try ServiceDescription(parsing: bytes(Self.shop))
        let boxed = try shop.adapter(for: shop.method(named: method.name)).box(call)
        #expect(boxed.path == path)
        #expect(boxed.query == query)
        #expect(text(boxed.body) == body)
    }

    @Test(
        arguments: [
            ("listOrders", #"{"X-Trace":"t","limit":51}"#, "invalid-params"),
            ("listOrders", #"{"X-Trace":"t","limit":"many"}"#, "invalid-params"),
            ("listOrders", #"{"X-Trace":"t","offset":1}"#, "invalid-params"),
            ("listOrders", nil, "invalid-params"),
            ("listOrders", #"{"limit":5}"#, "invalid-params"),
            ("listOrders", #"{"x-trace":"t"}"#, "invalid-params"),
            ("listOrders", "[1]", "invalid-params"),
            ("GET /orders/{id}", nil, "invalid-params"),
            ("GET /orders/{id}", #"{"id":"x"}"#, "invalid-params"),
            ("createOrder", #"{"quantity":1}"#, "invalid-params"),
            ("createOrder", nil, "invalid-params"),
            ("createOrder", #"{"item":"tea","quantity":0}"#, "invalid-params"),
            ("createOrder", #"{"item":"tea","dryRun":"maybe"}"#, "invalid-params"),
            ("GET", nil, "unknown-method"), ("GET /orders/7", nil, "unknown-method"),
            ("logo", nil, "unsupported-call"), ("drop", #"{"id":7}"#, "unsupported-call"),
        ] as [(RPCMethod, String?, String)])
    func refusesAnOperationsOtherCalls(_ method: RPCMethod, _ parameters: String?, _ code: String) {
        let error = #expect(throws: PayloadError.self) {
            try checked(Self.shop, method, parameters)
        }
        #expect(error?.code.name == code, "\(error?.message ?? "")")
    }

    // MARK: Fields and cookies

    static let fields = #"""
        {"openapi":"3.1.0","paths":{"/a":{"parameters":[
          {"name":"X-Many","in":"header","schema":{"type":"array","items":{"type":"integer"}}},
          {"name":"x-one","in":"header","required":true,"schema":{"type":"integer","maximum":9}},
          {"name":"sid","in":"cookie","required":true,"schema":{"type":"string","maxLength":3}},
          {"name":"Accept","in":"header","required":true},{"name":"authorization","in":"header","required":true},
          {"name":"Content-Type","in":"header","required":true},{"name":"Host","in":"header","required":true}],
          "get":{"operationId":"a"},
          "post":{"operationId":"b","parameters":[{"name":"X-ONE","in":"header","schema":{"type":"string"}}]},
          "put":{"operationId":"c","parameters":[{"name":"sid","in":"query","required":true,"schema":{"type":"string"}}]}}}}
        """#

    private func name(_ name: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(name))
    }

    @Test func fieldsAndCookiesAreParameters() throws {
        let description = try ServiceDescription(parsing: bytes(Self.fields))
        let method = try description.method(named: "a")
        #expect(method.parameters.map(\.name) == ["X-Many", "x-one", "sid"])
        #expect(method.parameters.map(\.place.rawValue) == ["header", "header", "cookie"])
        let call = try checked(Self.fields, "a", #"{"X-Many":[1,2],"x-one":9,"sid":"abc"}"#)
        let boxed = try description.adapter(for: method).box(call)
        #expect(boxed.query == nil && boxed.path == "/a")
        #expect(boxed.fields[try name("X-Many")] == "1,2")
        #expect(boxed.fields[try name("X-One")] == "9")
        #expect(boxed.fields[values: .cookie] == ["sid=abc"])
    }

    @Test func aFieldMayBeGivenAsSuch() throws {
        let description = try ServiceDescription(parsing: bytes(Self.fields))
        let one = try name("X-One")
        for cookie in ["sid=abc", "other=1; sid=abc; x=y", "other=sid=z;sid=abc"] {
            _ = try description.checked(RPCCall("a"), fields: [one: "7", .cookie: cookie])
        }
        // The operation's own parameter replaces the path's, in any spelling of its name.
        _ = try description.checked(RPCCall("b"), fields: [one: "text", .cookie: "sid=abc"])
    }

    @Test(
        arguments: [
            ("a", "{}", ["x-one": "7"], "\"sid\": found nothing"),
            ("a", "{}", ["cookie": "sid=abc"], "\"x-one\": found nothing"),
            ("a", "{}", ["x-one": "70", "cookie": "sid=abc"], "invalid value in its header"),
            ("a", "{}", ["x-one": "seven", "cookie": "sid=abc"], "invalid value in its header"),
            ("a", "{}", ["x-one": "7", "cookie": "sid=abcd"], "invalid value in its cookie"),
            ("a", "{}", ["x-one": "7", "cookie": "SID=abc; xsid=abc"], "\"sid\": found nothing"),
            ("a", #"{"x-one":10,"sid":"a"}"#, [:], "found 10, expected at most 9"),
            ("a", #"{"x-one":7,"sid":"abcd"}"#, [:], "found 4 characters"),
            ("a", #"{"x-one":7,"sid":"a","X-Many":["x"]}"#, [:], "\"X-Many\""),
            ("a", #"{"x-one":7,"sid":"a","Host":"x"}"#, [:], "found a parameter \"Host\""),
            ("c", #"{"x-one":7,"sid":"a"}"#, [:], "parameters with the same name"),
        ] as [(RPCMethod, String, [String: String], String)])
    func refusesInvalidFields(
        _ method: RPCMethod, _ parameters: String, _ given: [String: String], _ words: String
    ) throws {
        var fields: HTTPFields = [:]
        for (name, value) in given { fields[try self.name(name)] = value }
        let description = try ServiceDescription(parsing: bytes(Self.fields))
        let error = #expect(throws: PayloadError.self) {
            try description.checked(
                RPCCall(method, parameters: RPCParameters(parsing: bytes(parameters))),
                fields: fields)
        }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        // The value of a field may be a secret.
        for value in given.values where value.utf8.count > 3 {
            #expect(error?.message.contains(value) == false)
        }
    }

    // MARK: Schemas

    /// A value that the schema allows, or of which we do not know, is never refused.
    @Test(arguments: [
        ("true", "1"), ("{}", "null"), (#"{"type":"date"}"#, "1"), (#"{"type":[]}"#, "1"),
        (#"{"type":"integer"}"#, "1e400"), (#"{"type":"integer"}"#, "-0"),
        (#"{"type":"number"}"#, "1"),
        (#"{"type":"string","format":"email"}"#, "\"x\""),
        (#"{"type":"string","pattern":"^a$"}"#, "\"b\""),
        (#"{"type":"string","nullable":true}"#, "null"), (#"{"enum":[1.0]}"#, "1"),
        (#"{"const":1e2}"#, "100"),
        (#"{"minimum":9007199254740993}"#, "9007199254740993"), (#"{"minimum":3}"#, "\"1\""),
        (#"{"exclusiveMinimum":true,"minimum":3}"#, "3"), (#"{"maxLength":1}"#, "\"😀\""),
        (#"{"items":[{"type":"string"}]}"#, #"["a",1]"#),
        (#"{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}"#, #"["a",1]"#),
        (#"{"oneOf":[{"type":"number"},{"minimum":0}]}"#, "1"), (#"{"not":{}}"#, "1"),
        (#"{"$ref":"https://example.com/a.json"}"#, "1"), (##"{"$ref":"#/nowhere"}"##, "1"),
        (##"{"allOf":[{"$ref":"#/anyOf/01"}],"anyOf":[{},{"type":"string"}]}"##, "1"),
        (##"{"allOf":[{"$ref":"#/anyOf/+1"}],"anyOf":[{},{"type":"string"}]}"##, "1"),
        (##"{"$ref":"#"}"##, "1"), (##"{"$ref":"#","type":"string"}"##, "1"),
        (#"{"if":{"type":"string"},"then":false}"#, "\"a\""),
        (#"{"required":3,"properties":[]}"#, "{}"),
        (#"{"patternProperties":{"^x":{}},"additionalProperties":false}"#, #"{"xa":1}"#),
        (#"{"allOf":[{"$id":"other","type":"string"}]}"#, "1"),
    ])
    func doubtIsNoRefusal(_ schema: String, _ value: String) throws {
        let schema = try JSONValue(parsing: bytes(schema))
        let found = ParameterSchema(schema, in: schema).mismatch(
            try JSONValue(parsing: bytes(value)))
        #expect(found == nil)
    }

    @Test(arguments: [
        ("false", "1"), (#"{"type":"null"}"#, "0"), (#"{"type":"boolean"}"#, "0"),
        (#"{"type":"object"}"#, "[]"),
        (#"{"type":"integer"}"#, "1.5"), (#"{"type":"string","nullable":false}"#, "null"),
        (#"{"enum":[]}"#, "1"), (#"{"const":{"a":[1]}}"#, #"{"a":[2]}"#),
        (#"{"const":"é"}"#, "\"e\u{301}\""),
        (#"{"allOf":[{"minimum":0},{"maximum":1}]}"#, "2"),
        (#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, "2"),
        (#"{"minItems":1}"#, "[]"), (#"{"additionalProperties":{"type":"string"}}"#, #"{"a":1}"#),
        (#"{"items":false}"#, "[1]"),
        (##"{"items":{"$ref":"#/%24defs/a~1b"},"$defs":{"a/b":{"type":"string"}}}"##, "[1]"),
    ])
    func refusesValuesThatTheSchemaForbids(_ schema: String, _ value: String) throws {
        let schema = try JSONValue(parsing: bytes(schema))
        let found = ParameterSchema(schema, in: schema).mismatch(
            try JSONValue(parsing: bytes(value)))
        #expect(found != nil)
    }

    /// An escape has two hexadecimal digits (RFC 3986, section 2.1).
    @Test(arguments: [
        (#"#/%24"#, true), (#"#/%4E"#, true), (#"#/%4e"#, true), ("#/%+5", false),
        ("#/%-0", false), ("#/%", false), ("#/%4", false), ("#/%0x5", false),
        ("#/%\u{FF15}5", false),
        ("#/%ff", false),
    ])
    func escapesOfReferences(_ reference: String, _ leads: Bool) throws {
        let document = try JSONValue(
            parsing: bytes(#"{"$":1,"N":1,"\u0005":1,"\u0000":1,"":1,"\u0000x5":1}"#))
        #expect((document.target(ofReference: reference) != nil) == leads)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"openrpc":"2.0","methods":[]}"#, #"{"openrpc":"1.0"}"#,
        #"{"openrpc":"1.0","methods":[{}]}"#,
        #"{"openrpc":"1.0","methods":[{"name":"a","params":[{}]}]}"#,
        #"{"swagger":"2.0","paths":{}}"#, #"{"openapi":3}"#, #"{"openapi":"3.0.0","paths":[]}"#,
        #"{"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":[{"in":"query"}]}}}}"#,
        #"{"openapi":"3.0.0","openapi":"3.0.0"}"#, "openapi: 3.0.0",
    ])
    func refusesInvalidDocuments(_ document: String) {
        let error = #expect(throws: PayloadError.self) {
            try ServiceDescription(parsing: bytes(document))
        }
        #expect(error?.code.name == "malformed-description")
    }

    @Test func schemasThatReferToThemselvesTwiceEnd() throws {
        let schema = try JSONValue(
            parsing: bytes(##"{"allOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}"##))
        #expect(ParameterSchema(schema, in: schema).mismatch(1) == nil)
    }

    @Test func loopsOfReferencesEnd() throws {
        let document =
            ##"{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/p"}]}}},"components":{"parameters":{"p":{"$ref":"#/components/parameters/p"}}}}"##
        let error = #expect(throws: PayloadError.self) { try checked(document, "GET /a", nil) }
        #expect(error?.code == .unsupportedCall)
    }
}
