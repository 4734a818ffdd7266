import Foundation
import HTTPTypes
import SignetClient
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// The code of the article "Retries", exactly as the article shows it.
@Suite struct RetriesArticleTests {
    @Test func theExamplesWork() async throws {
        let engine = RecordingEngine(responses: [
            .init(status: 503, body: ""), .init(body: #"{"jsonrpc":"2.0","id":1,"result":true}"#),
            .init(status: 500, body: ""), .init(failure: TransportError(.connect, "down")),
            .init(status: 429, body: "", fields: [.retryAfter: "1"]), .init(body: "[]"),
        ])
        var settings = NetworkSystem.Options()
        settings.engine = engine
        settings.clock.sleep = { _ in }
        let host = "https://api.example.com"
        let system = try await NetworkSystem.start(
            services: [
                "payments": .init(baseURL: "\(host)/rpc", payloadProtocol: .jsonRPC2),
                "shop": .init(baseURL: host, payloadProtocol: .rest),
            ], policy: .allowingAll(), options: settings)

        struct Pay: Endpoint {
            var service: ServiceName { "payments" }
            var method: RPCMethod { "orders.pay" }
            var order: Int
            var key: String
            typealias Success = Bool
            var callOptions: RequestOptions { RequestOptions(idempotency: .always) }
        }
        let isPaid = try await system.send(Pay(order: 7, key: "7-1"))
        #expect(isPaid && engine.count == 2)

        var retry = RetryStrategy()
        retry.statusCodes = [429, 500, 502, 503, 504]
        retry.firstPause = .milliseconds(50)
        retry.longestPause = .seconds(2)
        var options = RequestOptions(deadline: .seconds(20))
        options.attempts = 4
        options.retry = retry

        let events = system.events
        let response = try await system.call(
            RESTRequest(.get, "/orders"), on: "shop", options: options)
        await system.shutdown()
        var retries: [String] = []
        for await case .retrying(let call, let reason, _) in events {
            retries.append("\(call.method) after \(reason)")
        }

        #expect(response.result?.value == [] && engine.count == 6)
        #expect(retries == ["GET after 500", "GET after connect", "GET after 429"])
    }

    /// Every word of the article's code is in this file, in the same order.
    @Test func theArticleShowsThisCode() throws {
        func words(_ text: String) -> String {
            text.split { $0.isWhitespace }.joined(separator: " ")
        }
        let source = words(try String(contentsOfFile: #filePath, encoding: .utf8))
        let blocks = try Article("Sources/SignetClient/SignetClient.docc/Retries.md")
            .blocks(in: "swift")
        #expect(blocks.count == 3)
        var rest = source[...]
        for block in blocks {
            let code = words(block.joined(separator: "\n"))
            let range = try #require(rest.range(of: code), "\(code)")
            rest = rest[range.upperBound...]
        }
    }
}
