import Foundation
import SignetJSON
import TestSupport
import Testing

/// The descriptions (OpenRPC, OpenAPI) that `signet call` is given.
extension CallSecurityToolTests {
    @Test func aDescriptionSeparatesTextAndNumber() async throws {
        let server = try await CaptureServer(response: #"{"jsonrpc":"2.0","id":1,"result":true}"#)
        let folder = try TemporaryDirectory()
        let file = try folder.write(Self.document, to: "tea.json")
        let output = try await SignetTool.run([
            "call", server.url, "order", "--param", "item=42", "--param", "cups=2", "--description",
            file,
        ])
        #expect(output.exit == 0 && output.text == "true\n", "\(output.stderr)")
        let request = try #require(try await server.requests(count: 1).first)
        #expect(try body(request)["params"] == ["item": "42", "cups": 2])
        try await server.stop()
    }

    @Test func aRESTDescriptionPlacesParameters() async throws {
        let server = try await CaptureServer()
        let folder = try TemporaryDirectory()
        let file = try folder.write(Self.openAPI, to: "shop.json")
        let rest = ["call", "\(server.url)/v1", "--protocol", "rest"]
        for arguments in [
            [
                "order", "--param", "id=a/b", "--params", #"{"tags":["x","y"]}"#, "--description",
                file,
            ],
            ["PUT /orders/{id}", "--param", "id=7", "--param", "note=a b", "--description", file],
            ["GET /orders/{id}", "--param", "id=../x", "--param", "n=1"],
        ] {
            let output = try await SignetTool.run(rest + arguments + ["--json"])
            #expect(output.exit == 0, "\(output.stderr)")
            #expect(output.text == "{\"result\":{},\"status\":200}\n")
        }
        let requests = try await server.requests(count: 3).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(requests[0].hasPrefix("GET /v1/orders/a%2Fb?tags=x%7Cy HTTP/1.1\r\n"))
        #expect(requests[1].hasPrefix("PUT /v1/orders/7 HTTP/1.1\r\n"))
        #expect(requests[1].hasSuffix("\r\n\r\nnote=a+b"))
        #expect(requests[2].hasPrefix("GET /v1/orders/..%2Fx?n=1 HTTP/1.1\r\n"))
        try await server.stop()
    }

    @Test func methodsAreListed() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Self.document, to: "tea.json")
        let lines = try await SignetTool.run([
            "call", "http://localhost:1", "--list", "--description", file,
        ])
        #expect(lines.exit == 0)
        #expect(lines.text == "order(item: string, cups?: integer)  Orders tea\nrpc.discover()\n")
        let shop = try folder.write(Self.openAPI, to: "shop.json")
        let object = try await SignetTool.run([
            "call", "http://localhost:1", "--list", "--description", shop, "--protocol", "rest",
            "--json",
        ])
        #expect(object.exit == 0)
        #expect(
            try json(object)["methods"]?.array?.map { $0["name"] } == ["order", "PUT /orders/{id}"])
        #expect(try json(object)["title"] == "Shop")
    }

    @Test func aServiceIsAskedForItsMethods() async throws {
        let document = try JSONValue(parsing: Array(Self.document.utf8)).text
        let server = try await CaptureServer(
            response: #"{"jsonrpc":"2.0","id":1,"result":\#(document)}"#)
        let listed = try await SignetTool.run(["call", server.url, "--list"])
        #expect(listed.exit == 0 && listed.text.hasPrefix("order(item: string"), "\(listed.stderr)")
        let wrong = try await SignetTool.run([
            "call", server.url, "order", "--param", "cups=1", "--discover", "--json",
        ])
        #expect(wrong.exit == 2)
        #expect(try json(wrong)["error"]?["code"] == "invalid-params")
        // Both times the service was asked, and no method called.
        let requests = try await server.requests(count: 2)
        #expect(requests.count == 2)
        for request in requests { #expect(try body(request)["method"] == "rpc.discover") }
        try await server.stop()
    }

    @Test func aListHasTheWarningsOfItsQuestion() async throws {
        let document = try JSONValue(parsing: Array(Self.document.utf8)).text
        let server = try await CaptureServer(
            response: #"{"jsonrpc":"2.0","id":1,"error":null,"result":\#(document)}"#)
        let listed = try await SignetTool.run(["call", server.url, "--list", "--json"])
        #expect(listed.exit == 0 && listed.stderr.contains("warning: "), "\(listed.stderr)")
        #expect(try json(listed)["warnings"]?.array?.count == 1)
        #expect(try json(listed)["methods"]?.array?.isEmpty == false)
        try await server.stop()
    }

    @Test func anUndescribedServiceIsAnError() async throws {
        for (response, exit, code) in [
            (
                #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#, 1 as Int32,
                "rpc-error"
            ),
            (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 3, "malformed-response"),
            ("<html>", 3, "malformed-response"),
        ] {
            let server = try await CaptureServer(response: response)
            let output = try await SignetTool.run(["call", server.url, "--list", "--json"])
            #expect(output.exit == exit)
            #expect(try json(output)["error"]?["code"]?.string == code)
            try await server.stop()
        }
    }

    @Test(
        arguments: [
            (["tea"], "unknown-method", "\"tea\", expected one of order"),
            (["order"], "invalid-params", "\"item\": found nothing, expected string"),
            (
                ["order", "--params", "[1]"], "invalid-params",
                "\"item\": found number 1, expected string"
            ),
            (
                ["order", "--param", "item=a", "--param", "cups=x"], "invalid-params",
                "\"cups\": found string, expected integer"
            ),
            (
                ["order", "--param", "item=a", "--param", "cups=10"], "invalid-params",
                "found 10, expected at most 9"
            ),
            (
                ["order", "--param", "item=a", "--param", "cup=1"], "invalid-params",
                "expected one of item, cups"
            ),
            (["order", "--param", "item=a", "--protocol", "rest"], "usage", "openrpc"),
        ] as [([String], String, String)])
    func aDescriptionRefusesBeforeAnythingIsSent(
        _ arguments: [String], _ code: String, _ words: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Self.document, to: "tea.json")
        let output = try await SignetTool.run(
            ["call", "http://localhost:1"] + arguments + ["--description", file, "--json"])
        #expect(output.exit == 2)
        #expect(try json(output)["error"]?["code"]?.string == code)
        #expect(
            try json(output)["error"]?["message"]?.string?.contains(words) == true, "\(output.text)"
        )
    }
}
