import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet pins`, `call` and `send` with the orders host.
@Suite struct NetworkToolTests {
    private static let host = Task { try await OrdersHost.start() }
    private static let create = ["orders.create", "--params", #"{"item":"tea","quantity":2}"#]

    private let folder: TemporaryDirectory
    private let host: OrdersHost
    private let authority: TestAuthority

    init() async throws {
        folder = try TemporaryDirectory()
        host = try await Self.host.value
        authority = try TestAuthority.trusted.get()
    }

    /// A policy file that pins `localhost`, with a second pin that fits nothing.
    private func policy(_ pin: String) throws -> String {
        let spare =
            "sha256/"
            + Data((0..<32).map { _ in UInt8.random(in: 0...255) })
            .base64EncodedString()
        return try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(pin)","\#(spare)"]}}}"#, to: UUID().uuidString)
    }

    private func signet(_ arguments: String...) async throws -> ProcessOutput {
        try await SignetTool.run(arguments + ["--ca-file", authority.caFile, "--json"])
    }

    private var signing: [String] {
        ["--scheme", "rfc9421", "--keys", host.keyFile, "--key-id", OrdersHost.keyID]
    }

    private func call(_ arguments: [String]) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["call"] + arguments + signing + ["--ca-file", authority.caFile, "--json"])
    }

    private func object(_ output: ProcessOutput) throws -> JSONObject {
        try #require(try JSONValue(parsing: output.stdout).object, "\(output.stderr)")
    }

    private func code(_ output: ProcessOutput) throws -> String? {
        try object(output)["error"]?.object?["code"]?.string
    }

    @Test(arguments: ["leaf", "intermediate", "root"])
    func pinsCheckTakesAnyCertificateOfTheChain(_ place: String) async throws {
        let pins = [
            "leaf": authority.leaf.pin, "intermediate": authority.intermediate.pin,
            "root": authority.root.pin,
        ]
        let policy = try policy(#require(pins[place]))
        let output = try await signet("pins", "check", host.url, "--policy", policy)
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(try object(output)["match"]?.bool == true)
    }

    @Test func aWrongPinIsRefusedWithAllPins() async throws {
        // A host of its own, so that its log holds this test's requests alone.
        let host = try await OrdersHost.start()
        let wrong = TestAuthority.rogue
        let policy = try policy(wrong.get().leaf.pin)
        for arguments in [
            ["pins", "check", host.url], ["call", host.url + "/rpc"] + Self.create,
            ["call", host.url + "/rpc"] + Self.create + ["--notify"],
        ] {
            let options = ["--policy", policy, "--ca-file", authority.caFile]
            let output = try await SignetTool.run(arguments + options)
            #expect(output.exit == 1)
            let words = output.text + output.stderr
            for certificate in [authority.leaf, authority.intermediate, authority.root] {
                #expect(words.contains(certificate.pin))
            }
            #expect(words.contains(try wrong.get().leaf.pin))
        }
        let good = try self.policy(authority.root.pin)
        let signed = ["--scheme", "rfc9421", "--keys", host.keyFile, "--key-id", OrdersHost.keyID]
        let control = try await SignetTool.run(
            ["call", host.url + "/rpc"] + Self.create + signed
                + ["--policy", good, "--ca-file", authority.caFile])
        #expect(control.exit == 0, "\(control.stderr)")
        #expect(try await host.requests(count: 1).count == 1)
    }

    @Test func pinsShowPrintsChainsAndKeys() async throws {
        let shown = try await SignetTool.run(
            ["pins", "show", host.url, "--ca-file", authority.caFile])
        let chain = [authority.leaf, authority.intermediate, authority.root].map(\.pin)
        #expect(shown.exit == 0)
        #expect(shown.text.split(separator: "\n").map(String.init) == chain)
        for certificate in [authority.leaf, authority.intermediate, authority.root] {
            let file = try await SignetTool.run(["pins", "show", certificate.pem])
            #expect(file.text == certificate.pin + "\n")
        }
    }

    @Test func callsGetTheirResponses() async throws {
        let policy = try policy(authority.intermediate.pin)
        let rpc = host.url + "/rpc"
        let created = try await call([rpc] + Self.create + ["--policy", policy])
        #expect(created.exit == 0, "\(created.stderr)")
        #expect(try object(created)["result"]?.object?["status"]?.string == "created")
        let notified = try await call([rpc] + Self.create + ["--policy", policy, "--notify"])
        #expect(try object(notified) == ["notified": true])
        let orders = try await call([
            host.url + "/orders", "GET", "--protocol", "rest", "--policy", policy,
        ])
        #expect(try object(orders)["status"] == 200)
    }

    @Test func anErrorOfTheMethodIsExit1() async throws {
        let policy = try policy(authority.leaf.pin)
        for (method, number) in [("orders.none", -32601), ("orders.create", -32602)] {
            let output = try await call([host.url + "/rpc", method, "--policy", policy])
            #expect(output.exit == 1)
            #expect(try code(output) == "rpc-error")
            #expect(output.text.contains("\(number)"))
        }
    }

    @Test func aRequestWithoutASignatureIsRefusedByTheHost() async throws {
        let policy = try policy(authority.leaf.pin)
        let output = try await SignetTool.run(
            ["call", host.url + "/rpc"] + Self.create
                + ["--policy", policy, "--ca-file", authority.caFile, "--json"])
        #expect(output.exit == 1)
        #expect(try code(output) == "http-status")
    }

    @Test func aRawMessageUsesTheSamePipeline() async throws {
        let body = #"{"jsonrpc":"2.0","id":7,"method":"orders.list"}"#
        let message = try folder.write(
            "POST /rpc HTTP/1.1\r\nHost: localhost:\(host.port)\r\n\r\n\(body)", to: "message")
        let output = try await SignetTool.run(
            ["send", message, "--policy", policy(authority.leaf.pin)] + signing
                + ["--ca-file", authority.caFile])
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(output.text.contains(#"{"jsonrpc":"2.0","id":7,"result":["#))
        let noBlankLine = try folder.write("POST /rpc HTTP/1.1\r\nHost: localhost\r\n", to: "bad")
        #expect(try await signet("send", noBlankLine).exit == 2)
    }

    @Test func aHostThatThePolicyDoesNotListIsRefused() async throws {
        let other = try folder.write(
            #"{"hosts":{"other.test":{"pins":["\#(authority.leaf.pin)","\#(authority.root.pin)"]}}}"#,
            to: "other")
        let output = try await call([host.url + "/rpc"] + Self.create + ["--policy", other])
        #expect(output.exit == 1)
        #expect(try code(output) == "unlisted-host")
    }

    @Test func noUsableResponseIsExit3() async throws {
        let down = "https://localhost:\(freePort())/rpc"
        let refused = try await call([down] + Self.create)
        #expect(refused.exit == 3)
        #expect(try code(refused) == "connect")
        let untrusted = try await SignetTool.run(
            ["call", host.url + "/rpc"] + Self.create
                + ["--ca-file", TestAuthority.rogue.get().caFile, "--json"])
        #expect(untrusted.exit == 3)
        #expect(try code(untrusted) == "tls")
        let silent = try await OpenSSLServer(authority.identity, responds: false)
        let late = try await call([silent.url] + Self.create + ["--timeout", "1"])
        #expect(late.exit == 3)
        #expect(try code(late) == "timeout")
    }

    @Test(arguments: [
        ["call", "https://", "m"], ["call", "not a url", "m"], ["call", "/rpc", "m"],
        ["call", "ftp://localhost/", "m"], ["call", "https://localhost:1/", "m", "--params", "1"],
        ["call", "https://localhost:1/", "m", "--params", "{"],
        ["call", "https://localhost:1/", "m", "--policy", "/nonexistent/policy"],
        ["call", "https://localhost:1/", "m", "--policy", "/dev/null"],
        ["call", "https://localhost:1/", "m", "--ca-file", "/nonexistent/ca"],
        ["call", "https://localhost:1/", "m", "--scheme", "rfc9421", "--keys", "/nonexistent/k"],
        ["call", "https://localhost:1/", "m", "--scheme", "none"],
        ["call", "https://localhost:1/"], ["send", "/nonexistent/message"], ["send", "/dev/null"],
        ["pins", "show", "/nonexistent"], ["pins", "show", "/dev/null"],
        ["pins", "check", "https://localhost:1/"],
        ["pins", "check", "http://localhost:1/", "--policy", "/dev/null"],
    ])
    func wrongUsageAndUnusableFilesAreExit2(_ arguments: [String]) async throws {
        let output = try await SignetTool.run(arguments + ["--json"])
        #expect(output.exit == 2, "\(output.text)")
        #expect(try code(output) != nil)
    }

    @Test(.features("001-06")) func anInterruptEndsACallAtOnce() async throws {
        let silent = try await OpenSSLServer(authority.identity, responds: false)
        let child = try SignetTool.start(
            ["call", silent.url] + Self.create + [
                "--ca-file", authority.caFile, "--timeout", "600",
            ])
        #expect(try await eventually { silent.received.contains("orders.create") })
        child.send(signal: SIGINT)
        let output = try await child.outcome()
        #expect(output.exit == 128 + SIGINT)
        #expect(output.stdout.isEmpty)
    }
}
