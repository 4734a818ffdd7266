import Foundation
import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Responses to one call, by the rules that servers get wrong.
struct JSONRPCResponseTests {
    struct Response: Decodable, Sendable, CustomTestStringConvertible {
        let rule: Int
        let name: String
        let status: Int
        let body: String
        let outcome: String
        let result: String?
        let kind: String
        let version: String
        let message: String?
        let warning: String?
        let contentType: String
        var testDescription: String { "rule \(rule): \(name)" }
    }

    @Test func vectorsAreThereAndRefuseMoreThanTheyAccept() throws {
        let responses = try VectorFile<Response>.load("responses", in: .module)
        let accepted = responses.count { $0.outcome == "result" || $0.outcome == "notified" }
        #expect(responses.count > 100)
        #expect(responses.count - accepted > accepted)
        for rule in [1, 2, 3, 4, 6, 10, 11, 14, 15, 16, 17, 18, 19, 20] {
            #expect(responses.contains { $0.rule == rule }, "rule \(rule)")
        }
    }

    @Test(arguments: try VectorFile<Response>.load("responses", in: .module))
    func isUnboxedByTheRules(_ vector: Response) throws {
        let adapter = JSONRPCAdapter.fromSeven(vector.version == "1.0" ? .v1 : .v2)
        let call = RPCCall("orders.list", isNotification: vector.kind == "notification")
        let request = try adapter.box(call)
        let raw = RawResponse(
            status: vector.status, fields: [.contentType: vector.contentType],
            body: bytes(vector.body))
        do {
            let response = try adapter.unbox(raw, to: request)
            #expect(vector.outcome == (response.result == nil ? "notified" : "result"))
            #expect(response.result.map { text($0.bytes) } == vector.result)
            #expect(response.warnings.map(\.code.name) == (vector.warning.map { [$0] } ?? []))
            #expect(response.status == vector.status)
        } catch {
            #expect(error.code.name == vector.outcome, "\(error)")
            #expect(error.status == vector.status)
            #expect((error.server != nil) == (vector.outcome == "rpc-error"))
            if let message = vector.message { #expect(error.message.contains(message)) }
            if vector.outcome == "http-status" {
                #expect(error.body == bytes(vector.body))
                #expect(error.message.contains("\(vector.status)"))
            }
        }
    }

    @Test func rule2AcceptsAStringifiedIdOnlyWhenAsked() throws {
        var adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        let response = RawResponse(#"{"jsonrpc":"2.0","id":"7","result":1}"#)
        #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) }
        adapter.acceptsStringifiedNumericIDs = true
        let unboxed = try adapter.unbox(response, to: request)
        #expect(unboxed.result?.value == 1)
        #expect(unboxed.warnings.map(\.code) == [.stringifiedID])
        for id in ["\"07\"", "\"7.0\"", "\" 7\"", "\"8\"", "8", "7.0", "null", "true"] {
            let response = RawResponse("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":1}")
            #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) }
        }
    }

    @Test(.features("004-11")) func rule11KeepsCodeMessageAndData() throws {
        let adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        let response = RawResponse(
            #"{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no","data":[1e400]}}"#)
        let error = #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) }
        #expect(error?.server?.code.int64 == -32001)
        #expect(error?.server?.message == "no")
        #expect(error?.server?.data?.text == "[1e400]")
        #expect(error?.server?.kind == .serverError)
        #expect(
            error.flatMap { $0.server?.object } == [
                "code": -32001, "message": "no", "data": try JSONValue(parsing: "[1e400]"),
            ])
    }

    @Test(arguments: [
        ("-32700", RPCServerError.Kind.parseError), ("-32600", .invalidRequest),
        ("-32601", .methodNotFound), ("-32602", .invalidParameters), ("-32603", .internalError),
        ("-32000", .serverError), ("-32099", .serverError), ("-32100", .reserved),
        ("-32768", .reserved), ("-32604", .reserved), ("-31999", .application),
        ("-32769", .application), ("32600", .application), ("0", .application),
        ("99999999999999999999", .application),
    ])
    func rule12CodesByRange(_ code: String, _ kind: RPCServerError.Kind) throws {
        let number = try #require(JSONNumber(text: code))
        #expect(RPCServerError(code: number, message: "").kind == kind)
    }

    @Test func rule20RefusesAResponseOverTheLimit() throws {
        var adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        let response = RawResponse(#"{"jsonrpc":"2.0","id":7,"result":1}"#)
        #expect(adapter.maximumResponseSize == 64 << 20)
        adapter.maximumResponseSize = response.body.count
        _ = try adapter.unbox(response, to: request)
        adapter.maximumResponseSize -= 1
        let error = #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) }
        #expect(error?.code == .responseTooLarge)
    }

    @Test func theServersWordsArePrintedShortAndPlain() throws {
        let adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        let words =
            #"\u001b[2Jred\r\nlog line\u202eevil\u0000\u2028\u0085"#
            + String(repeating: "x", count: 9_000)
        let response = RawResponse(
            #"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""# + words
                + #"","data":"ZZZZZZCANARYZZZZZZ"}}"#)
        let error = try #require(
            #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) })
        var dumped = ""
        dump(error, to: &dumped)
        for printed in [
            error.message, "\(error)", String(reflecting: error), dumped,
            error.server.map { "\($0)" } ?? "", String(reflecting: error.server),
        ] {
            #expect(!printed.contains("CANARY"))
            #expect(printed.count < 1_000)
            for control in ["\u{1b}", "\r", "\u{202e}", "\u{0}", "\u{2028}", "\u{85}"] {
                #expect(!printed.unicodeScalars.contains(Unicode.Scalar(control) ?? "x"))
            }
        }
        #expect(error.message.contains(#"\u{1b}[2Jred\u{d}\u{a}log"#))
        #expect(error.server?.message.count ?? 0 > 9_000)
    }

    @Test func noErrorRepeatsTheBody() throws {
        let adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        for (status, body) in [
            (200, #"{"jsonrpc":"2.0","id":"ZZZZZZCANARYZZZZZZ","result":1}"#),
            (200, #"{"jsonrpc":"ZZZZZZCANARYZZZZZZ","id":7,"result":1}"#),
            (200, #"{"jsonrpc":"2.0","id":7,"error":"ZZZZZZCANARYZZZZZZ"}"#),
            (200, #"{"jsonrpc":"2.0","id":7,"result":"ZZZZZZCANARYZZZZZZ""#),
            (500, "ZZZZZZCANARYZZZZZZ"),
            (200, "ZZZZZZCANARYZZZZZZ"),
        ] {
            let error = try #require(
                #expect(throws: PayloadError.self) {
                    try adapter.unbox(RawResponse(body, status: status), to: request)
                })
            var dumped = ""
            dump(error, to: &dumped)
            for printed in ["\(error)", String(reflecting: error), dumped] {
                #expect(!printed.contains("CANARY"))
            }
        }
    }

    @Test(.features("004-12")) func resultsDecode() throws {
        struct Order: Decodable { let id: Int64 }
        let adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        let response = RawResponse(#"{"jsonrpc":"2.0","id":7,"result":{"id":9007199254740993}}"#)
        let result = try #require(try adapter.unbox(response, to: request).result)
        #expect(try result.decode(Order.self).id == 9_007_199_254_740_993)
        #expect(throws: JSONError.self) { try result.decode([Order].self) }
        #expect(throws: JSONError.self) { try RPCResult(parsing: bytes("{} x")) }
    }
}
