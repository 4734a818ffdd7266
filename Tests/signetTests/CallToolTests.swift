import Foundation
import SignetJSON
import TestSupport
import Testing

/// What `signet call` and `signet send` print as JSON, and what they refuse before any connection.
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

    @Test func aReplyThatIsNot2xxIsPrintedAndExit1() async throws {
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
