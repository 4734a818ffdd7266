import Foundation
import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Paths with values: no value changes the path's structure.
struct RESTPathTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let source: String
        let template: String
        let values: String
        let path: String?
        var testDescription: String { "\(template) \(values)" }
    }

    private func expand(_ vector: Vector) throws(PayloadError) -> String {
        guard case .object(let values) = try RPCParameters(parsing: bytes(vector.values)) else {
            return ""
        }
        return try PathTemplate(vector.template).expanded(values)
    }

    @Test func expandsOrRefuses() throws {
        let vectors = try VectorFile<Vector>.load("rfc6570-simple", in: .module)
        #expect(vectors.count > 50)
        for vector in vectors {
            guard let path = vector.path else {
                let error = #expect(throws: PayloadError.self, "\(vector.testDescription)") {
                    try expand(vector)
                }
                #expect(["invalid-path", "invalid-params"].contains(error?.code.name))
                continue
            }
            #expect(try expand(vector) == path)
        }
    }

    @Test(arguments: ["7", "a/b", "a?b", "x#y", "..a", "%2e", "\r\n", "é", "{a}", "a\\..\\b"])
    func anInterpolatedValueIsOneSegment(_ value: String) throws {
        let path = try ("/orders/\(value)/items" as RESTPath).encoded()
        #expect(path.split(separator: "/").count == 3)
        #expect(path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(!path.contains("?") && !path.contains("#"))
        #expect(
            try RESTPath("/orders").appending(segment: value).encoded() == String(path.dropLast(6)))
    }

    @Test(arguments: ["", ".", ".."])
    func aValueThatNamesAnotherResourceIsRefused(_ value: String) {
        let error = #expect(throws: PayloadError.self) {
            try ("/orders/\(value)" as RESTPath).encoded()
        }
        #expect(error?.code == .invalidPath)
    }

    @Test(arguments: [
        ("/orders?state=open", "found \"?\" at byte 7; write the parameters as `query:`"),
        ("/orders#a", "byte 7 is not allowed unescaped in a path"),
    ])
    func saysHowToWriteAQuery(_ path: String, message: String) {
        let error = #expect(throws: PayloadError.self) {
            try RESTPath(stringLiteral: path).encoded()
        }
        #expect(error?.message == "the path is invalid: \(message)")
    }

    @Test func aTemplateHasNoValue() {
        let secret = "ZZZZZZ"
        let path: RESTPath = "/orders/\(secret)/items"
        #expect(path.template == "/orders/{}/items")
        #expect(path.appending(segment: secret).template == "/orders/{}/items/{}")
        #expect(path == "/orders/ZZZZZZ/items" && path != "/orders/ZZZZZZ/item")
        #expect(path.hashValue == ("/orders/ZZZZZZ/items" as RESTPath).hashValue)
    }

    @Test func aPartOfASegmentMayBeDots() throws {
        let dots = ".."
        #expect(try ("/v\(dots)" as RESTPath).encoded() == "/v..")
        #expect(try ("/\(1)/\(true)" as RESTPath).encoded() == "/1/true")
        #expect(try RESTPath().encoded().isEmpty)
    }

    @Test(
        arguments: [
            ("GET /orders/{id}", #"{"id":7,"deep":true}"#, "/orders/7", "deep=true", ""),
            ("DELETE /orders/{id}", #"{"id":7}"#, "/orders/7", nil, ""),
            (
                "POST /orders/{id}/items", #"{"id":"a b","n":1}"#, "/orders/a%20b/items", nil,
                #"{"n":1}"#
            ),
            ("POST /orders/{id}/cancel", #"{"id":7}"#, "/orders/7/cancel", nil, ""),
            ("POST /orders", "{}", "/orders", nil, "{}"),
        ] as [(RPCMethod, String, String, String?, String)])
    func aMethodMayNameAPath(
        _ method: RPCMethod, _ parameters: String, _ path: String, _ query: String?, _ body: String
    ) throws {
        let boxed = try RESTAdapter().box(
            RPCCall(method, parameters: RPCParameters(parsing: bytes(parameters))))
        #expect(boxed.path == path)
        #expect(boxed.query == query)
        #expect(text(boxed.body) == body)
        #expect((boxed.fields[.contentType] == nil) == body.isEmpty)
    }

    @Test(arguments: [
        ("GET orders", "invalid-method"), ("GET  /orders", "invalid-method"),
        (" /a", "invalid-method"),
        ("GET /a b", "invalid-path"), ("GET /{id}", "invalid-params"), ("GET /a?b", "invalid-path"),
        ("GET \u{301}/a", "invalid-method"),
    ])
    func methodsWithAPathThatCannotBeSent(_ method: String, _ code: String) {
        let error = #expect(throws: PayloadError.self) {
            try RESTAdapter().box(RPCCall(RPCMethod(method), parameters: .object(["x": 1])))
        }
        #expect(error?.code.name == code)
    }
}
