import Foundation
import SignetClient
import SignetTesting
import TestSupport
import Testing

struct GetOrder: RESTEndpoint {
    var service: ServiceName { "orders" }
    var httpMethod: HTTPRequest.Method { .get }
    var path: PathTemplate { "/orders/{id}" }
    var id: Int
    struct Success: Decodable, Sendable { var item: String }
}

func item(of id: Int, with system: NetworkSystem) async throws -> String {
    let order: [String: String] = try await system.send(.get("/orders/\(id)", on: "orders"))
    return order["item"] ?? ""
}

func report(_ error: ClientError) {
    print(error.code, error.message)
    if let refusal = error.pinRefusal { print(refusal.host) }
}

/// The code of the article "Your first Swift client", with a stub engine in place of libcurl.
@Suite struct FirstClientArticleTests {
    @Test func theExamplesWork() async throws {
        let stub = StubEngine()
        stub.respond(to: .request(.get, path: "/v1/orders/7"), with: .json(["item": "tea"]))
        stub.respond(to: .request(.get, path: "/v1/orders/8"), with: .status(404))
        let pins = [try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")]
        let orders = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest, pins: pins)
        var options = NetworkSystem.Options()
        options.engine = stub
        let system = try await NetworkSystem.start(
            services: ["orders": orders], policy: nil, options: options)
        #expect(try await system.send(GetOrder(id: 7)).item == "tea")
        #expect(try await item(of: 7, with: system) == "tea")
        let error = await #expect(throws: ClientError.self) {
            _ = try await system.send(GetOrder(id: 8))
        }
        report(try #require(error))
        #expect(error?.code == .httpStatus && error?.pinRefusal == nil)
        await system.shutdown()
    }

    /// The article's endpoint and functions are in this file as the article shows them.
    @Test func theArticleShowsThisCode() throws {
        // Not a literal: Scripts/check-examples still compiles the article's other examples.
        let path = "Sources/SignetClient/SignetClient.docc/Your-first-Swift-client.md"
        let source = ArticleWords.words(in: try String(contentsOfFile: #filePath, encoding: .utf8))
        let blocks = try Article(path).blocks(in: "swift")
            .map { ArticleWords.words(in: $0.joined(separator: "\n")) }
        #expect(blocks.count == 5)
        for name in ["struct GetOrder", "func item", "func report"] {
            let block = try #require(blocks.first { $0.contains(name) }, "\(name)")
            let code = block[try #require(block.range(of: name)).lowerBound...]
            let end = code.range(of: "} let pins")?.lowerBound ?? code.endIndex
            #expect(source.contains(code[..<end]), "\(name)")
        }
    }
}

enum ArticleWords {
    /// The words of a text with single spaces between them.
    static func words(in text: String) -> String {
        text.split { $0.isWhitespace }.joined(separator: " ")
    }
}

/// Takes the place of Swift's `print` in the article's code.
private func print(_: Any...) {}
