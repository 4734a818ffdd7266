import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTesting
import SignetTransport
import Testing

private struct CreateOrder: Endpoint {
    var service: ServiceName { "orders" }
    var method: RPCMethod { "orders.create" }
    var item: String
    var quantity: Int

    struct Success: Decodable, Sendable, Equatable {
        var id: Int
    }
}

@Suite struct StubEngineTests {
    private let services: [ServiceName: ServiceConfiguration] = [
        "orders": ServiceConfiguration(
            baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2, attempts: 1),
        "old": ServiceConfiguration(
            baseURL: "https://old.example.com/rpc", payloadProtocol: .jsonRPC1, attempts: 1),
        "shop": ServiceConfiguration(
            baseURL: "https://shop.example.com", payloadProtocol: .rest, attempts: 1),
    ]

    private func code(_ work: () async throws -> Void) async -> ClientError.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? ClientError)?.code
        }
    }

    @Test func theStubReplacesEveryEngine() async throws {
        let (stub, other) = (StubEngine(), StubEngine())
        stub.respond(to: .procedure("orders.create"), with: .result(["id": 7]))
        var options = NetworkSystem.Options()
        options.engines["other"] = other
        options.callOptions.engine = EngineChoice("other")
        let system = try await NetworkSystem.start(
            services: services, stub: stub, options: options)
        #expect(try await system.send(CreateOrder(item: "tea", quantity: 2)).id == 7)
        #expect(stub.requests.count == 1 && other.requests.isEmpty)
        await system.shutdown()
    }

    @Test func aClientIsTestedInFiveLines() async throws {
        let stub = StubEngine()
        stub.respond(to: .procedure("orders.create"), with: .result(["id": 7]))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let order = try await system.send(CreateOrder(item: "tea", quantity: 2))
        #expect(order.id == 7 && stub.requests.map(\.procedure) == ["orders.create"])
        await system.shutdown()
    }

    @Test func matchesByParametersAndTheLastStubWins() async throws {
        let stub = StubEngine()
        stub.respond(to: .procedure("orders.create"), with: .result(["id": 1]))
        stub.respond(
            to: .procedure("orders.create", parameters: ["item": "tea"]), with: .result(["id": 2]))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        #expect(try await system.send(CreateOrder(item: "tea", quantity: 2)).id == 2)
        #expect(try await system.send(CreateOrder(item: "cake", quantity: 2)).id == 1)
        await system.shutdown()
    }

    @Test(
        arguments: [
            (["limit": 2], nil, true), (["limit": "2"], nil, true), (["limit": 3], nil, false),
            (["name": "a&b =c"], nil, true), (["ids": [1, 2]], nil, true),
            (["ids": [2, 1]], nil, false),
            (["ids": 1], nil, false), (["other": 1], nil, false), (["flag": true], nil, true),
            ([:], ["item": "green tea"], true), (nil, ["item": "green tea", "count": 2], true),
            (nil, ["item": "rum"], false), (nil, ["other": .null], false), (nil, [:], true),
            (["limit": 2], ["item": "rum"], false), (["limit": 3], ["item": "green tea"], false),
        ] as [(JSONObject?, JSONObject?, Bool)])
    func matchesByQueryAndBody(
        _ query: JSONObject?, _ body: JSONObject?, _ matches: Bool
    ) async throws {
        let stub = StubEngine()
        stub.respond(with: .status(404))
        stub.respond(
            to: .request(.post, path: "/orders", query: query, body: body), with: .status(204))
        var options = NetworkSystem.Options()
        options.callOptions.compression = .gzip(minimumSize: 1)
        let system = try await NetworkSystem.start(services: services, stub: stub, options: options)
        let sent: JSONObject = ["limit": 2, "name": "a&b =c", "ids": [1, 2], "flag": true]
        let content: JSONObject = ["item": "green tea", "count": 2]
        for sentBody in [RESTBody.json(.object(content)), try .form(content)] {
            let isForm = sentBody.contentType?.contains("form") == true
            // A form's fields are texts, so that all that JSON compares is there too.
            let code = await code {
                _ = try await system.call(
                    RESTRequest(.post, "/orders", query: sent, body: sentBody), on: "shop")
            }
            #expect((code == nil) == matches, "form: \(isForm)")
        }
        await system.shutdown()
    }

    @Test func respondsInOrderAndRepeatsTheLast() async throws {
        let stub = StubEngine()
        stub.respond(
            to: .request(.get, path: "/orders"), with: .failure(.timeout), .status(404),
            .json(["id": 7]))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let list = RESTRequest(.get, "/orders", query: ["limit": 2])
        #expect(await code { _ = try await system.call(list, on: "shop") } == .timeout)
        #expect(await code { _ = try await system.call(list, on: "shop") } == .httpStatus)
        for _ in 0..<2 {
            #expect(try await system.call(list, on: "shop").result?.value["id"] == 7)
        }
        #expect(stub.requests.count == 4 && stub.requests[0].path == "/orders")
        #expect(stub.requests[0].request.path == "/orders?limit=2")
        await system.shutdown()
    }

    @Test func computesResponses() async throws {
        let stub = StubEngine()
        stub.respond { request in .result(.string(request.procedure ?? "none")) }
        let system = try await NetworkSystem.start(services: services, stub: stub)
        for service in ["orders", "old"] as [ServiceName] {
            let response = try await system.call(RPCCall("a.b"), on: service)
            #expect(response.result?.value == "a.b")
        }
        let batch = try await system.batch([RPCCall("a"), RPCCall("b")], on: "orders")
        #expect(batch.outcomes.count == 2)
        #expect(stub.requests.map(\.procedure) == ["a.b", "a.b", "a", "b"])
        await system.shutdown()
    }

    @Test func knowsCompressedCalls() async throws {
        let stub = StubEngine()
        let text = String(repeating: "tea ", count: 1000)
        stub.respond(
            to: .procedure("a", parameters: ["item": .string(text)]), with: .result(1))
        var options = NetworkSystem.Options()
        options.callOptions.compression = .gzip()
        let system = try await NetworkSystem.start(services: services, stub: stub, options: options)
        let call = RPCCall("a", parameters: .object(["item": .string(text)]))
        #expect(try await system.call(call, on: "orders").result?.value == 1)
        #expect(stub.requests[0].request.headerFields[.contentEncoding] == "gzip")
        #expect(stub.requests[0].body.count < 1000)
        let batch = try await system.batch([call, call], on: "orders")
        #expect(batch.outcomes.count == 2 && stub.requests.count == 3)
        await system.shutdown()
    }

    @Test func takesTrailers() async throws {
        struct Broken: Error {}
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let sum = try #require(HTTPField.Name("X-Sum"))
        _ = try await system.exchange(
            "shop", method: .put, target: "/x", fields: [:],
            body: HTTPRequestBody([1]).withTrailers { [sum: "1"] })
        #expect(stub.requests.map(\.trailers) == [[sum: "1"]])
        let failed = await code {
            _ = try await system.exchange(
                "shop", method: .put, target: "/x", fields: [:],
                body: HTTPRequestBody([1]).withTrailers { throw Broken() })
        }
        #expect(failed == .bodyFailed && stub.requests.count == 1)
        await system.shutdown()
    }

    @Test func takesAndDecodesCodableValues() async throws {
        struct Order: Codable, Equatable, Sendable { var item: String, madeAt: Int }
        struct Odd: Encodable { var price = Double.nan }
        let stub = StubEngine()
        let order = Order(item: "tea", madeAt: 7)
        try stub.respond(
            to: .request(.post, path: "/orders"), with: .json(encoding: order, status: 201))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let reply: Order = try await system.send(
            .post("/orders", on: "shop", query: ["a b": ["c&d", 2], "e": ""], body: order))
        #expect(reply == order)
        let request = stub.requests[0]
        #expect(try request.decode(Order.self) == order)
        #expect(request.query == ["a b": ["c&d", "2"], "e": [""]])
        #expect(throws: JSONError.self) { try request.decode([String].self) }
        #expect(throws: JSONError.self) {
            try request.decode(Order.self, conventions: .init(keys: .snakeCase))
        }
        try stub.respond(to: .procedure("orders.get"), with: .result(encoding: order))
        let result: Order = try await system.send(.procedure("orders.get", on: "orders"))
        #expect(result == order)
        #expect(throws: JSONError.self) { try StubResponse.json(encoding: Odd()) }
        #expect(throws: JSONError.self) { try StubResponse.result(encoding: Odd()) }
        await system.shutdown()
    }

    @Test func respondsWithAProblem() async throws {
        let stub = StubEngine()
        stub.respond(with: .problem(status: 403, ["title": "Too poor", "balance": 30]))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let error = await #expect(throws: ClientError.self) {
            try await system.send(.get("/orders", on: "shop"), as: .nothing)
        }
        #expect(error?.status == 403 && error?.problem?.title == "Too poor")
        #expect(try error?.problem?.decode(Int.self, named: "balance") == 30)
        #expect(stub.requests[0].query.isEmpty)
        await system.shutdown()
    }

    @Test func aServersErrorIsTyped() async throws {
        let stub = StubEngine()
        stub.respond(with: .rpcError(code: -32601, message: "no such procedure"))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("a"), on: "orders")
        }
        #expect(error?.code == .rpcError && error?.serverError?.kind == .methodNotFound)
        await system.shutdown()
    }

    @Test func aRequestWithoutAStubIsNamed() async throws {
        let stub = StubEngine()
        stub.respond(to: .procedure("other"), with: .result(1))
        stub.respond(to: .request(.post, path: "/other"), with: .status(200))
        stub.respond(to: .matching { $0.body.isEmpty }, with: .status(200))
        let system = try await NetworkSystem.start(services: services, stub: stub)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("orders.list"), on: "orders")
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message == "no stub responds to POST /rpc (orders.list)")
        await system.shutdown()
        #expect(await code { _ = try await system.call(RPCCall("a"), on: "orders") } == .notRunning)
    }

    @Test func anUnpinningEngineNeverCallsAPinnedHost() async throws {
        let stub = StubEngine(pinsPublicKeys: false)
        stub.respond(with: .result(1))
        var options = NetworkSystem.Options()
        options.engine = stub
        var service = try #require(services["orders"])
        service.pins = [try Pin(bytes: [UInt8](repeating: 1, count: 32))]
        let system = try await NetworkSystem.start(
            services: ["orders": service], policy: nil, options: options)
        #expect(
            await code { _ = try await system.call(RPCCall("a"), on: "orders") } == .engineCannotPin
        )
        #expect(stub.requests.isEmpty)
        await system.shutdown()
    }
}
