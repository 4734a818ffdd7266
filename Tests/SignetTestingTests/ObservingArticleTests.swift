import Foundation
import SignetClient
import SignetTesting
import TestSupport
import Testing

func watch(_ system: NetworkSystem) -> Task<[String: Int], Never> {
    let events = system.events  // before the first call
    return Task {
        var counts: [String: Int] = [:]
        for await event in events {
            switch event {
            case .started(let call): print("\(call.service) \(call.method) runs")
            case .finished(let record):
                counts["\(record.identity.method) \(record.outcome)", default: 0] += 1
            default: break
            }
        }
        return counts  // after the system's shutdown
    }
}

func follow(_ system: NetworkSystem) async throws {
    let trace = CallTrace()
    let events = trace.events
    Task { for await event in events { print(event) } }
    let orders = try await system.call(
        RPCCall("orders.list"), on: "orders", options: RequestOptions(trace: trace))
    print(orders.status, trace.record?.response?.bodySize ?? 0)
}

func explain(_ error: ClientError) {
    guard let record = error.record else { return }
    print(record)
    for stage in record.work.stages { print(stage.start, stage.name, stage.duration) }
    for hop in record.attempts.flatMap(\.hops) { print(hop.url, hop.failure ?? "", hop.timings) }
}

/// The code of the article "Observing", exactly as the article shows it.
@Suite struct ObservingArticleTests {
    @Test func theExamplesWork() async throws {
        let stub = StubEngine()
        stub.respond(to: .procedure("orders.list"), with: .result(["tea"]))
        stub.respond(to: .procedure("orders.pay"), with: .rpcError(code: 1, message: "no"))
        let system = try await NetworkSystem.start(
            services: [
                "orders": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
            ], stub: stub)
        let counts = watch(system)
        try await follow(system)
        let error = try #require(
            await #expect(throws: ClientError.self) {
                _ = try await system.call(RPCCall("orders.pay"), on: "orders")
            })
        explain(error)
        #expect(error.record?.attempts.first?.hops.first?.status == 200)
        await system.shutdown()
        let ended = await counts.value
        #expect(ended.count == 2 && ended["orders.list success"] == 1)
    }

    /// Every word of the article's code is in this file, in the same order.
    @Test func theArticleShowsThisCode() throws {
        let source = ArticleWords.words(in: try String(contentsOfFile: #filePath, encoding: .utf8))
        let blocks = try Article("Sources/SignetClient/SignetClient.docc/Observing.md")
            .blocks(in: "swift")
        #expect(blocks.count == 3)
        var rest = source[...]
        for block in blocks {
            let code = ArticleWords.words(in: block.joined(separator: "\n"))
            let range = try #require(rest.range(of: code), "\(code)")
            rest = rest[range.upperBound...]
        }
    }
}

/// Takes the place of Swift's `print` in the article's code.
private func print(_: Any..., separator: String = " ", terminator: String = "\n") {}
