import Foundation
import HTTPTypes
import SignetClient
import SignetJSON
import SignetTesting
import SignetTransport
import TestSupport
import Testing

/// The code of the article "Testing your client", exactly as the article shows it.
@Suite struct TestingArticleTests {
    @Test func fiveLinesAreEnough() async throws {
        struct CreateOrder: Endpoint {
            var service: ServiceName { "orders" }
            var method: RPCMethod { "orders.create" }
            var item: String
            struct Success: Decodable, Sendable { var id: Int }
        }

        let services: [ServiceName: ServiceConfiguration] = [
            "orders": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
        ]

        let stub = StubEngine()
        stub.respond(to: .procedure("orders.create"), with: .result(["id": 7]))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let order = try await system.send(CreateOrder(item: "tea"))
        precondition(order.id == 7 && stub.requests.map(\.procedure) == ["orders.create"])

        #expect(order.id == 7 && stub.requests.count == 1)
        await system.shutdown()
    }

    @Test func failuresAndRetriesAreTestedWithoutATimeout() async throws {
        let services: [ServiceName: ServiceConfiguration] = [
            "shop": .init(baseURL: "https://shop.example.com", payloadProtocol: .rest)
        ]
        let stub = StubEngine()
        stub.respond(
            to: .request(.get, path: "/orders"), with: .failure(.connect), .status(503),
            .json([1, 2]))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let response = try await system.call(RESTRequest(.get, "/orders"), on: "shop")
        precondition(response.result?.value == [1, 2] && stub.requests.count == 3)
        await system.shutdown()

        #expect(response.result?.value == [1, 2] && stub.requests.count == 3)
    }

    @Test func anErrorIsTyped() async throws {
        let stub = StubEngine()
        stub.respond(with: .rpcError(code: -32601, message: "no such procedure"))
        let system = try await NetworkSystem.start(
            services: [
                "orders": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
            ], stub: stub)
        do throws(ClientError) {
            _ = try await system.call(RPCCall("orders.list"), on: "orders")
        } catch {
            precondition(error.code == .rpcError && error.serverError?.kind == .methodNotFound)
        }
        await system.shutdown()

        #expect(stub.requests.count == 1)
    }

    @Test func stubsMatchParametersAndBodies() async throws {
        let stub = StubEngine()
        stub.respond(
            to: .procedure("orders.create", parameters: ["item": "tea"]), with: .result(["id": 7]))
        stub.respond(to: .request(.get, path: "/orders", query: ["limit": 2]), with: .json([1, 2]))
        stub.respond(
            to: .request(.post, path: "/orders", body: ["item": "tea"]), with: .status(201))
        let system = try await NetworkSystem.start(
            services: [
                "orders": ServiceConfiguration(
                    baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2),
                "shop": ServiceConfiguration(
                    baseURL: "https://shop.example.com", payloadProtocol: .rest),
            ], stub: stub)
        let order = try await system.call(
            RPCCall("orders.create", parameters: .object(["item": "tea"])), on: "orders")
        #expect(order.result?.value == ["id": 7])
        let list = try await system.call(
            RESTRequest(.get, "/orders", query: ["limit": 2]), on: "shop")
        #expect(list.result?.value == [1, 2])
        await #expect(throws: ClientError.self) {
            try await system.call(RESTRequest(.get, "/orders", query: ["limit": 3]), on: "shop")
        }
        let created = try await system.call(
            RESTRequest(.post, "/orders", body: .json(["item": "tea"])), on: "shop")
        #expect(created.status == 201)
        await system.shutdown()
    }

    @Test func aResponseDependsOnTheRequest() async throws {
        let stub = StubEngine()
        stub.respond(to: .request(.put, path: "/orders/7")) { request in
            .json(["length": .number(JSONNumber(request.body.count))])
        }
        let hasNoToken = StubMatcher.matching { $0.request.headerFields[.authorization] == nil }
        stub.respond(to: hasNoToken, with: .status(401))

        let system = try await NetworkSystem.start(
            services: [
                "shop": .init(baseURL: "https://shop.example.com", payloadProtocol: .rest)
            ], stub: stub)
        func put(_ fields: HTTPFields) async throws -> RawResponse {
            try await system.exchange(
                "shop", method: .put, target: "/orders/7", fields: fields, body: [1, 2, 3])
        }
        #expect(try await put([:]).status == 401)
        let response = try await put([.authorization: "Bearer 1"])
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"length":3}"#)
        await system.shutdown()
    }

    func start(
        _ configuration: GlobalConfiguration, with stubs: StubInterceptor,
        options: NetworkSystem.Options
    ) async throws -> NetworkSystem {
        var options = options
        options.callOptions.attemptInterceptors = [stubs]
        return try await NetworkSystem.start(configuration, options: options)
    }

    func isDownNoticed(by system: NetworkSystem, with stubs: StubInterceptor) async -> Bool {
        stubs.respond(to: .procedure("orders.list"), with: .failure(.timeout))  // from now on
        defer { stubs.removeStubs() }
        do throws(ClientError) {
            _ = try await system.call(RPCCall("orders.list"), on: "orders")
            return false
        } catch {
            return error.code == .timeout
        }
    }

    @Test(arguments: ["production", "staging"])
    func stubsRespondInsideAProgram(_ mode: String) async throws {
        let values: JSONObject = [
            "services.orders.baseURL": "https://api.example.com/rpc",
            "services.orders.protocol": "jsonrpc-2.0", "app.runMode": .string(mode),
        ]
        let rules = values.map { name, _ in
            (name: name, value: ["type": "string", "visibility": "public"] as JSONValue)
        }
        let configuration = try GlobalConfiguration(
            schema: Schema(["keys": .object(JSONObject(rules))]), defaults: .values(values))
        let (network, stubs) = (StubEngine(), StubInterceptor())
        network.respond(with: .result([]))
        var options = NetworkSystem.Options()
        options.engine = network
        options.dangerous.allowUnpinnedServices()
        let system = try await start(configuration, with: stubs, options: options)
        let isOn = mode == "staging" && RunMode.isSwitchable
        #expect(await isDownNoticed(by: system, with: stubs) == isOn)
        // The stub is gone.
        _ = try await system.call(RPCCall("orders.list"), on: "orders")
        #expect(network.requests.count == (isOn ? 1 : 2))
        await system.shutdown()
    }

    func orderAfterAPause() async throws -> Int {
        let (stub, clock) = (StubEngine(), TestClock())
        stub.respond(with: .failure(.connect), .json(7))
        var options = NetworkSystem.Options()
        options.use(clock)
        let system = try await NetworkSystem.start(
            services: ["shop": .init(baseURL: "https://shop.test", payloadProtocol: .rest)],
            stub: stub,
            options: options)
        async let order: Int = system.send(.get("/orders/7", on: "shop"))
        await clock.waitForPauses(1)
        clock.advance(by: .seconds(5))
        let value = try await order
        await system.shutdown()
        return value
    }

    @Test func aPauseEndsWhenTheTestSaysSo() async throws {
        #expect(try await orderAfterAPause() == 7)
    }

    /// Every word of the article's code is in this file, in the same order.
    @Test func theArticleShowsThisCode() throws {
        let source = ArticleWords.words(in: try String(contentsOfFile: #filePath, encoding: .utf8))
        // Not a literal: Scripts/check-examples still compiles the article's examples with their
        // imports.
        let path = "Sources/SignetTesting/SignetTesting.docc/Testing-your-client.md"
        let blocks = try Article(path).blocks(in: "swift")
        #expect(blocks.count == 7)
        var rest = source[...]
        for block in blocks {
            let lines = block.filter { !$0.hasPrefix("import ") }
            let code = ArticleWords.words(in: lines.joined(separator: "\n"))
            let range = try #require(rest.range(of: code), "\(code)")
            rest = rest[range.upperBound...]
        }
    }
}
