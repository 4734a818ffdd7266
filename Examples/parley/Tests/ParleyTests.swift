import Foundation
import ParleyExample
import SignetClient
import TestSupport
import Testing

/// The example's adapter against the example's host, and against responses that no good host gives.
struct ParleyTests {
    private struct Order: Endpoint {
        var service: ServiceName { "tea" }
        var method: RPCMethod { "tea.order" }
        var cups: Int
        struct Success: Decodable, Sendable, Equatable {
            var cups: Int
            var told: [String]
        }
    }

    private func withSystem(_ work: (NetworkSystem) async throws -> Void) async throws {
        let port = freePort()
        let server = try await ServerProcess.start(
            "python3", ["-I", PackageLayout.url("Examples/parley/server.py").path, "\(port)"],
            ready: .listening(port: port))
        var service = ServiceConfiguration(
            baseURL: "http://127.0.0.1:\(port)/parley", payloadProtocol: .jsonRPC2)
        service.adapter = ParleyAdapter()
        var options = NetworkSystem.Options()
        options.dangerous.allowUnpinnedServices()
        let system = try await NetworkSystem.start(
            services: ["tea": service], policy: nil, options: options)
        do {
            try await work(system)
        } catch {
            await system.shutdown()
            throw error
        }
        await system.shutdown()
        try await server.stop()
    }

    @Test(.features("004-09", "004-15")) func asksTellsAndIsRegretted() async throws {
        try await withSystem { system in
            let told = try await system.call(RPCCall("kettle.on", isNotification: true), on: "tea")
            #expect(told.result == nil)
            let order = try await system.send(Order(cups: 2))
            #expect(order == Order.Success(cups: 2, told: ["kettle.on"]))
            let regret = await #expect(throws: ClientError.self) {
                try await system.send(Order(cups: 10))
            }
            #expect(regret?.kind == .refused)
            #expect(regret?.serverError?.textCode == "OUT_OF_TEA")
            #expect(regret?.serverError?.data == ["cups": 9])
            #expect(regret?.status == 409)
            let other = await #expect(throws: ClientError.self) {
                try await system.call(RPCCall("wrong.ticket"), on: "tea")
            }
            #expect(other?.code.name == "malformed-response")
        }
    }

    @Test(arguments: [
        (200, "<html>", "malformed-response"), (500, "<html>", "http-status"),
        (200, "", "malformed-response"),
        (200, #"{"parley":1,"ticket":"T"}"#, "malformed-response"),
        (200, #"{"parley":1,"ticket":"T","answer":1,"regret":{}}"#, "malformed-response"),
        (200, #"{"parley":1,"ticket":"T","answer":1,"regret":null}"#, "malformed-response"),
        (200, #"{"parley":1,"ticket":"T","answer":1,"answer":2}"#, "malformed-response"),
        (200, #"{"parley":2,"ticket":"T","answer":1}"#, "malformed-response"),
        (200, #"{"parley":1,"answer":1}"#, "malformed-response"),
        (200, #"{"parley":1,"ticket":null,"answer":1}"#, "malformed-response"),
        (500, #"{"parley":1,"ticket":"T","answer":1}"#, "malformed-response"),
        (200, #"{"parley":1,"ticket":"T","regret":{"why":"X"}}"#, "rpc-error"),
    ])
    func refusesTheResponse(_ status: Int, _ body: String, _ code: String) throws {
        let adapter = ParleyAdapter()
        let request = try adapter.box(RPCCall("a"))
        let ticket = try #require(try JSONValue(parsing: request.body)["ticket"]?.string)
        let response = RawResponse(
            status: status, body: Array(body.replacing("\"T\"", with: "\"\(ticket)\"").utf8))
        let error = #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) }
        #expect(error?.code.name == code)
    }

    @Test func parametersByPositionAreRefused() {
        let error = #expect(throws: PayloadError.self) {
            try ParleyAdapter().box(RPCCall("a", parameters: .array([1])))
        }
        #expect(error?.code == .invalidParameters)
    }

    @Test(.features("000-61")) func aConfigurationNamesTheAdapter() async throws {
        let schema = try Schema(parsing: Array(Self.schema.utf8))
        func start(_ name: String) async throws -> NetworkSystem {
            var options = NetworkSystem.Options()
            options.adapters = ["parley-1": ParleyAdapter()]
            options.dangerous.allowUnpinnedServices()
            return try await NetworkSystem.start(
                GlobalConfiguration(
                    schema: schema,
                    defaults: .values([
                        "services.tea.baseURL": "https://tea.example/",
                        "services.tea.protocol": .string(name),
                    ])), options: options)
        }
        await (try start("parley-1")).shutdown()
        let error = await #expect(throws: ClientError.self) { try await start("parley-2") }
        #expect(error?.message.contains("jsonrpc-2.0, rest, parley-1") == true)
    }

    private static let schema = """
        {"keys":{"services.tea.baseURL":{"type":"string","visibility":"public"},
        "services.tea.protocol":{"type":"string","visibility":"public"}}}
        """

    /// The documentation shows the adapter as it is.
    @Test func theArticleShowsTheAdapter() throws {
        let article = try Article("Sources/SignetRPC/SignetRPC.docc/Writing-an-adapter.md")
        let source = try String(
            contentsOf: PackageLayout.url("Examples/parley/Sources/ParleyAdapter.swift"),
            encoding: .utf8)
        let lines = Set(
            source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        let shown = article.blocks(in: "swift").flatMap { $0 }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter {
                !$0.isEmpty && $0 != "// …" && !$0.hasPrefix("options.")
                    && !$0.hasPrefix("var options")
            }
        #expect(shown.count > 20)
        for line in shown { #expect(lines.contains(line), "\(line)") }
    }
}
