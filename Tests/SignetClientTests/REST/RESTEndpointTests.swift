import SignetClient
import Testing

/// The place of each property of a REST endpoint: path, query or body.
@Suite struct RESTEndpointTests {
    private struct Read: RESTEndpoint {
        typealias Success = [String: Int]
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/orders/{id}/{part}" }
        var id: String
        var part: Int?
        var size: Int?
    }

    private struct Write: RESTEndpoint {
        typealias Success = [String: Int]
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .put }
        var path: PathTemplate { "/orders/{order-id}" }
        var id: Int
        var item: String?
        private enum CodingKeys: String, CodingKey {
            case id = "order-id"
            case item
        }
    }

    private struct Repeat: RESTEndpoint {
        typealias Success = [String: Int]
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .post }
        var path: PathTemplate { "/orders/{id}" }
        var repeatsPathProperties: Bool { true }
        var id: Int
    }

    private struct Plain: RESTEndpoint {
        typealias Success = [String: Int]
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .delete }
        var path: PathTemplate { "" }
        var id: Int
    }

    private struct Broken: RESTEndpoint {
        typealias Success = [String: Int]
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/orders/{id" }
        var id: Int
    }

    private func send(
        _ endpoint: some RESTEndpoint
    ) async throws -> (target: String?, body: String, code: String?) {
        let engine = RecordingEngine(responses: [.init(body: #"{"id":2}"#)])
        var options = NetworkSystem.Options()
        options.engine = engine
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
        let system = try await NetworkSystem.start(
            services: ["a": service], policy: .allowingAll(), options: options)
        var code: String?
        do throws(ClientError) {
            _ = try await system.send(endpoint)
        } catch {
            code = error.code.name
        }
        await system.shutdown()
        let sent = engine.requests.first
        return (
            sent?.request.path, String(decoding: sent?.bytes ?? [], as: UTF8.self), code
        )
    }

    @Test func aPropertyOfThePathIsNotInTheQuery() async throws {
        let bare = try await send(Read(id: "2", part: 1))
        #expect(bare.target == "/v1/orders/2/1" && bare.body.isEmpty && bare.code == nil)
        let sized = try await send(Read(id: "a/b?c", part: 1, size: 3))
        #expect(sized.target == "/v1/orders/a%2Fb%3Fc/1?size=3")
    }

    @Test func aPropertyOfThePathIsNotInTheBody() async throws {
        let sent = try await send(Write(id: 2, item: "tea"))
        #expect(sent.target == "/v1/orders/2" && sent.body == #"{"item":"tea"}"#)
        let bare = try await send(Write(id: 2))
        #expect(bare.target == "/v1/orders/2" && bare.body.isEmpty)
    }

    @Test func aPathPropertyIsRepeatedIfAskedFor() async throws {
        let sent = try await send(Repeat(id: 2))
        #expect(sent.target == "/v1/orders/2" && sent.body == #"{"id":2}"#)
    }

    @Test func anEmptyPathTakesNoProperty() async throws {
        #expect(try await send(Plain(id: 2)).target == "/v1?id=2")
    }

    @Test func refusesAPathWithoutItsValues() async throws {
        let missing = try await send(Read(id: "2"))
        #expect(missing.target == nil && missing.code == "invalid-params")
        for id in ["", ".", ".."] {
            let sent = try await send(Read(id: id, part: 1))
            #expect(sent.target == nil && sent.code == "invalid-path")
        }
    }

    @Test func refusesALiteralThatIsNoTemplate() async throws {
        let sent = try await send(Broken(id: 2))
        #expect(sent.target == nil && sent.code == "invalid-path")
    }
}
