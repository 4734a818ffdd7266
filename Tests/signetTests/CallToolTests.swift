import Foundation
import SignetJSON
import TestSupport
import Testing

/// The JSON output of `signet call` and `signet send`, and requests that they refuse before they
/// connect.
@Suite struct CallToolTests {
    private func json(_ output: ProcessOutput) throws -> JSONValue {
        try JSONValue(parsing: output.stdout)
    }

    @Test func aBatchIsOneRequestWithAnOutcomeForEachCall() async throws {
        let host = try await OrdersHost.start(
            directives: """
                location = /batch {
                    return 200 '[{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}},{"jsonrpc":"2.0","id":1,"result":1e400}]';
                }
                """)
        let folder = try TemporaryDirectory()
        let authority = try TestAuthority.trusted.get()
        let file = try folder.write(
            #"[{"method":"a"},{"method":"b","params":[1]},{"method":"c","notify":true}]"#,
            to: "batch.json")
        let output = try await SignetTool.run([
            "call", "\(host.url)/batch", "--batch", file, "--ca-file", authority.caFile, "--json",
        ])
        #expect(output.exit == 1, "\(output.stderr)")
        let batch = try json(output)["batch"]?.array
        #expect(batch?.count == 2)
        #expect(batch?.first?["result"]?.number?.text == "1e400")
        #expect(batch?.last?["error"]?["rpc"]?["code"] == -32601)
        try await host.stop()
    }

    private static func response(_ id: String, _ content: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),\#(content)}"#
    }

    private static let result = response("1", #""result":1"#)
    private static let otherResult = response("2", #""result":2"#)
    private static let refusal = response("1", #""error":{"code":7,"message":"no"}"#)
    private static let otherRefusal = response("2", #""error":{"code":7,"message":"no"}"#)
    private static let malformed = response("1", #""error":"s3cr3t""#)
    private static let otherMalformed = response("2", #""result":"s3cr3t","error":{}"#)
    private static let rejection = response("null", #""error":{"code":7,"message":"no"}"#)

    /// 3 if a call has no response, else 1 if one has an error, in any order.
    @Test(
        arguments: [
            ("[\(otherResult),\(result)]", 0, nil, ["result", "result"]),
            ("[\(result),\(otherRefusal)]", 1, "rpc-error", ["result", "rpc-error"]),
            (
                "[\(malformed),\(otherRefusal)]", 1, "rpc-error",
                ["malformed-response", "rpc-error"]
            ),
            (
                "[\(refusal),\(otherMalformed)]", 1, "rpc-error",
                ["rpc-error", "malformed-response"]
            ),
            (
                "[\(malformed),\(otherResult)]", 1, "malformed-response",
                ["malformed-response", "result"]
            ),
            (
                "[\(malformed),\(otherMalformed)]", 1, "malformed-response",
                ["malformed-response", "malformed-response"]
            ),
            (rejection, 1, "rpc-error", ["rpc-error", "rpc-error"]),
            ("[\(rejection),\(result)]", 1, "rpc-error", ["result", "rpc-error"]),
            ("[\(rejection),\(malformed)]", 1, "rpc-error", ["malformed-response", "rpc-error"]),
            ("[]", 3, "batch-incomplete", ["unanswered", "unanswered"]),
            ("[1]", 3, "batch-incomplete", ["unanswered", "unanswered"]),
            ("[\(result)]", 3, "batch-incomplete", ["result", "unanswered"]),
            ("[\(otherRefusal)]", 3, "batch-incomplete", ["unanswered", "rpc-error"]),
            ("[\(malformed)]", 3, "batch-incomplete", ["malformed-response", "unanswered"]),
        ] as [(String, Int32, String?, [String])])
    func aBatchExitsByItsWorst(
        _ response: String, _ exit: Int32, _ code: String?, _ outcomes: [String]
    ) async throws {
        let server = try await CaptureServer(response: response)
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            #"[{"method":"a"},{"method":"n","notify":true},{"method":"b"}]"#, to: "batch.json")
        let call = ["call", server.url, "--batch", file]
        let output = try await SignetTool.run(call + ["--json"])
        #expect(output.exit == exit, "\(output.text)")
        let object = try json(output)
        #expect(object["error"]?["code"]?.string == code)
        #expect((object["error"]?["rpc"] != nil) == (code == "rpc-error"))
        let told = object["batch"]?.array?.map { entry in
            entry["error"]?["code"]?.string
                ?? (entry["unanswered"] == true
                    ? "unanswered" : entry["result"].map { _ in "result" })
        }
        #expect(told == outcomes)
        #expect(object["batch"]?.array?.map { $0["id"] } == [1, 2])
        let words = try await SignetTool.run(call)
        #expect(words.exit == exit)
        #expect(try json(words)["batch"] == object["batch"])
        #expect(words.stderr.contains("signet: ") == (exit != 0))
        for text in [output.stderr, words.stderr, output.text] {
            #expect(!text.contains("s3cr3t"))
        }
        try await server.stop()
    }

    /// Warnings about a good response go to standard error, without a value of it.
    @Test(
        arguments: [
            (
                #"[{"method":"a"}]"#,
                #"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":1,"result":"s3cr3t"}]"#,
                "warning: "
            ),
            (
                #"[{"method":"a"}]"#,
                #"[{"jsonrpc":"2.0","id":"s3cr3t","result":"s3cr3t"},{"jsonrpc":"2.0","id":1,"result":1}]"#,
                "warning: "
            ),
            (
                #"[{"method":"a","notify":true}]"#, #"["s3cr3t"]"#,
                "warning: the response to a notification has a body"
            ),
        ])
    func warningsAreNotesAndHoldNoValue(
        _ batch: String, _ response: String, _ words: String
    ) async throws {
        let server = try await CaptureServer(response: response)
        let folder = try TemporaryDirectory()
        let file = try folder.write(batch, to: "batch.json")
        let output = try await SignetTool.run(["call", server.url, "--batch", file])
        #expect(output.exit == 0, "\(output.text)")
        #expect(output.stderr.contains(words), "\(output.stderr)")
        #expect(!output.stderr.contains("s3cr3t"))
        #expect(!String(decoding: output.stdout, as: UTF8.self).contains("s3cr3t"))
        try await server.stop()
    }

    /// An error's data is the caller's, on standard output as JSON, and never a log's.
    @Test func anErrorsDataNeverReachesStandardError() async throws {
        let server = try await CaptureServer(
            response:
                #"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no\u001b[2J","data":{"key":"s3cr3t"}}}"#
        )
        for options in [[], ["--json"]] {
            let output = try await SignetTool.run(["call", server.url, "m"] + options)
            #expect(output.exit == 1)
            #expect(!output.stderr.contains("s3cr3t"), "\(output.stderr)")
            #expect(!output.stderr.contains("\u{1B}"))
            if options == ["--json"] {
                #expect(try json(output)["error"]?["rpc"]?["data"] == ["key": "s3cr3t"])
            }
        }
        try await server.stop()
    }

    /// A policy that pins a host allows no http to it, and nothing is sent.
    @Test func noPlainCallToAPinnedHost() async throws {
        let server = try await CaptureServer(response: Self.result)
        let folder = try TemporaryDirectory()
        let pin = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let policy = try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(pin)"]}},"unlisted":"allow"}"#, to: "pins.json")
        let output = try await SignetTool.run([
            "call", "http://localhost:\(server.port)/", "m", "--policy", policy, "--json",
        ])
        #expect(output.exit == 1, "\(output.text)")
        #expect(try json(output)["error"]?["code"]?.string == "cleartext-to-pinned-host")
        // The only request the server ever has is the one to a name that is not pinned.
        let open = try await SignetTool.run([
            "call", "http://127.0.0.1:\(server.port)/", "m", "--policy", policy, "--json",
        ])
        #expect(open.exit == 0, "\(open.text)")
        let requests = try await server.requests(count: 1)
        #expect(requests.count == 1)
        try await server.stop()
    }

    @Test(arguments: [
        ("502 Bad Gateway", "[1]", 1 as Int32, "http-status"),
        ("502 Bad Gateway", "<html>", 1, "http-status"),
        ("200 OK", "<html>", 3, "malformed-response"),
    ])
    func aBatchWithoutAResponseHasNoOutcomes(
        _ status: String, _ response: String, _ exit: Int32, _ code: String
    ) async throws {
        let server = try await CaptureServer(status: status, response: response)
        let folder = try TemporaryDirectory()
        let file = try folder.write(#"[{"method":"a"}]"#, to: "batch.json")
        let output = try await SignetTool.run([
            "call", server.url, "--batch", file, "--json",
        ])
        #expect(output.exit == exit)
        #expect(try json(output)["error"]?["code"]?.string == code)
        #expect(try json(output)["batch"] == nil)
        try await server.stop()
    }

    @Test func aResponseThatIsNot2xxIsPrintedAndExit1() async throws {
        let host = try await OrdersHost.start()
        let options = [
            "--ca-file", try TestAuthority.trusted.get().caFile, "--scheme", "rfc9421", "--keys",
            host.keyFile,
        ]
        let missing = "GET /orders/77 HTTP/1.1\nHost: localhost:\(host.port)\n\n"
        let refused = try await SignetTool.run(
            ["send", "--json"] + options, stdin: Array(missing.utf8))
        #expect(refused.exit == 1)
        #expect(try json(refused)["status"] == 404)
        #expect(try json(refused)["error"]?["code"] == "http-status")
        try await host.stop()
    }

    @Test(
        arguments: [
            (["call"], 2, "usage"),
            (["call", "https://localhost:1/"], 2, "usage"),
            (["call", "https://localhost:1/", "m", "--batch", "f"], 2, "usage"),
            (["call", "https://localhost:1/", "m", "--protocol", "soap"], 2, "usage"),
            (["call", "https://localhost:1/", "m", "--timeout", "0"], 2, "usage"),
            (["call", "https://localhost:1/", "m", "--key-id", "x"], 2, "usage"),
            (["call", "https:///", "m"], 2, "refused-url"),
            (["call", "localhost", "m"], 2, "refused-url"),
            (["call", "https://user:s3cr3t@localhost:1/", "m"], 2, "refused-url"),
            (["call", "https://localhost:1/", "m", "--params", "3"], 2, "invalid-params"),
            (
                ["call", "https://localhost:1/", "m", "--params", "{\"a\":1,\"a\":2}"], 2,
                "invalid-params"
            ),
            (["call", "https://localhost:1/", "rpc.x"], 2, "reserved-method"),
            (["call", "https://localhost:1/", "m", "--policy", "/nothing"], 2, "unreadable-file"),
            (["call", "https://localhost:1/", "m", "--connect-to", "x"], 2, "invalid-request"),
            (["call", "https://localhost:1/", "m"], 3, "connect"),
            (["call", "https://nothing.invalid/", "m"], 3, "name"),
            (["send", "/nothing"], 2, "unreadable-file"),
        ] as [([String], Int32, String)])
    func refuses(_ arguments: [String], _ exit: Int32, _ code: String) async throws {
        let output = try await SignetTool.run(arguments + ["--json"])
        #expect(output.exit == exit)
        #expect(try json(output)["error"]?["code"]?.string == code, "\(output.text)")
        #expect(!output.text.contains("s3cr3t"))
    }

}
