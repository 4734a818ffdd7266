import Foundation
import SignetClient
import SignetRecording
import SignetTesting
import TestSupport
import Testing

/// The code of the article "Record and replay in tests", exactly as the article shows it.
@Suite struct RecordArticleTests {
    @Test(.features("000-60")) func recordsReplaysAndTests() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "orders.har")
        let services: [ServiceName: ServiceConfiguration] = [
            "orders": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
        ]
        let stub = StubEngine()
        stub.respond(to: .procedure("orders.list"), with: .result(["tea"]))
        var own = NetworkSystem.Options()
        own.runMode = .development
        let system = try await NetworkSystem.start(services: services, stub: stub, options: own)

        let recording = try await system.record {
            _ = try await system.call(RPCCall("orders.list"), on: "orders")
        }
        try recording.write(to: file.path)
        #expect(try folder.mode("orders.har") == 0o600)

        let engine = ReplayEngine(try Recording(har: Array(Data(contentsOf: file))))
        var options = NetworkSystem.Options()
        options.engine = engine
        options.dangerous.allowUnpinnedServices()  // nothing leaves the process
        let replayed = try await NetworkSystem.start(services: services, options: options)
        let response = try await replayed.call(RPCCall("orders.list"), on: "orders")
        precondition(response.result?.value == ["tea"] && engine.unplayed.isEmpty)

        try await check(recording, services)
    }

    private func check(
        _ recording: Recording, _ services: [ServiceName: ServiceConfiguration]
    ) async throws {
        var options = NetworkSystem.Options()
        options.engine = ReplayEngine(recording, repeats: true)
        options.dangerous.allowUnpinnedServices()
        let replayed = try await NetworkSystem.start(services: services, options: options)
        let test = RecordedTest(on: replayed, as: "orders")
        for call in recording.calls { try await test.check(call) }
    }

    @Test func theArticleShowsThisCode() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
            .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let article = try Article(
            "Sources/SignetRecording/SignetRecording.docc/Record-and-replay-in-tests.md")
        for block in article.blocks(in: "swift") {
            for line in block where !line.isEmpty {
                #expect(source.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
            }
        }
    }
}
