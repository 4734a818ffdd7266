import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet call` and `signet send` against the orders host, as scripts run them.
@Suite struct CallToolTests {
    private static func policy(_ pins: [String], in folder: TemporaryDirectory) throws -> String {
        let list = JSONValue.array(pins.map(JSONValue.string))
        let policy: JSONValue = ["hosts": ["localhost": ["pins": list]]]
        return try folder.write(policy.text, to: "policy.json")
    }

    private static func options(
        for host: OrdersHost, in folder: TemporaryDirectory, pins: [String]? = nil
    ) throws -> [String] {
        let authority = try TestAuthority.trusted.get()
        let pins = pins ?? [authority.intermediate.pin, authority.root.pin]
        return [
            "--policy", try policy(pins, in: folder), "--ca-file", authority.caFile,
            "--scheme", "rfc9421", "--keys", host.keyFile,
        ]
    }

    private static let create = ["orders.create", "--params", #"{"item":"tea","quantity":2}"#]

    private func json(_ output: ProcessOutput) throws -> JSONValue {
        try JSONValue(parsing: output.stdout)
    }

    @Test func aCallPrintsItsResult() async throws {
        let host = try await OrdersHost.start()
        let folder = try TemporaryDirectory()
        let options = try Self.options(for: host, in: folder)
        let plain = try await SignetTool.run(["call", "\(host.url)/rpc"] + Self.create + options)
        #expect(plain.exit == 0, "\(plain.stderr)")
        #expect(plain.text == #"{"id":1,"item":"tea","quantity":2,"status":"created"}"# + "\n")
        let told = try await SignetTool.run(
            ["call", "\(host.url)/rpc"] + Self.create + options + ["--json"])
        #expect(try json(told)["result"]?["id"] == 2)
        let rest = try await SignetTool.run(
            ["call", "\(host.url)/orders/1", "GET", "--protocol", "rest", "--json"] + options)
        #expect(try json(rest)["status"] == 200)
        #expect(try json(rest)["result"]?["item"] == "tea")
        let notified = try await SignetTool.run(
            ["call", "\(host.url)/rpc"] + Self.create + options + ["--notify", "--json"])
        #expect(notified.text == "{\"notified\":true}\n")
        try await host.stop()
    }

    @Test func anErrorOfTheServiceIsExit1() async throws {
        let host = try await OrdersHost.start()
        let folder = try TemporaryDirectory()
        let options = try Self.options(for: host, in: folder)
        let output = try await SignetTool.run(
            ["call", "\(host.url)/rpc", "orders.nothing", "--json"] + options)
        #expect(output.exit == 1)
        #expect(try json(output)["error"]?["code"] == "rpc-error")
        #expect(try json(output)["error"]?["rpc"]?["code"] == -32601)
        let plain = try await SignetTool.run(
            ["call", "\(host.url)/rpc", "orders.nothing"] + options)
        #expect(plain.exit == 1)
        #expect(plain.stdout.isEmpty)
        #expect(plain.stderr.hasPrefix("signet: "))
        try await host.stop()
    }

    @Test func withoutASignatureTheHostSaysNo() async throws {
        let host = try await OrdersHost.start()
        let authority = try TestAuthority.trusted.get()
        let output = try await SignetTool.run(
            ["call", "\(host.url)/rpc"] + Self.create + ["--ca-file", authority.caFile, "--json"])
        #expect(output.exit == 1)
        #expect(try json(output)["error"]?["code"] == "http-status")
        try await host.stop()
    }

    @Test func aWrongPinIsExit1AndSendsNothing() async throws {
        let host = try await OrdersHost.start()
        let folder = try TemporaryDirectory()
        let rogue = try TestAuthority.rogue.get()
        let wrong = try Self.options(for: host, in: folder, pins: [rogue.root.pin, rogue.leaf.pin])
        let output = try await SignetTool.run(
            ["call", "\(host.url)/rpc"] + Self.create + wrong + ["--json"])
        #expect(output.exit == 1)
        #expect(try json(output)["error"]?["code"] == "pin-mismatch")
        let message = try json(output)["error"]?["message"]?.string ?? ""
        #expect(message.contains(rogue.root.pin))
        #expect(message.contains(try TestAuthority.trusted.get().leaf.pin))
        let right = try Self.options(for: host, in: folder)
        _ = try await SignetTool.run(["call", "\(host.url)/rpc"] + Self.create + right)
        #expect(try await host.requests(count: 1).count == 1)
        try await host.stop()
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

    @Test func aRawMessageGoesTheSameWay() async throws {
        let host = try await OrdersHost.start()
        let folder = try TemporaryDirectory()
        let options = try Self.options(for: host, in: folder)
        _ = try await SignetTool.run(["call", "\(host.url)/rpc"] + Self.create + options)
        let message = "GET /orders/1 HTTP/1.1\r\nHost: localhost:\(host.port)\r\n\r\n"
        let output = try await SignetTool.run(
            ["send"] + options, stdin: Array(message.utf8))
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(output.text.hasPrefix("HTTP/1.1 200 \r\n"))
        #expect(
            output.text.hasSuffix(#"{"id":1,"item":"tea","quantity":2,"status":"created"}"# + "\n"))
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

    @Test func aServerThatStallsIsATimeout() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity, answers: false)
        let output = try await SignetTool.run([
            "call", "https://localhost:\(server.port)/", "m", "--timeout", "1", "--ca-file",
            authority.caFile, "--json",
        ])
        #expect(output.exit == 3)
        #expect(try json(output)["error"]?["code"] == "timeout", "\(output.text)")
        try await server.stop()
    }
}
