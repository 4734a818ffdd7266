import Foundation
import SignetClient
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// The conventions of JSON that a service, an endpoint or a call chooses.
@Suite struct ConventionTests {
    private struct Order: Codable, Sendable, Equatable {
        var orderID: Int
        var createdAt: Date
    }

    private struct CreateOrder: Endpoint {
        typealias Success = Order
        var service: ServiceName { "a" }
        var method: RPCMethod { "orders.create" }
        var itemName: String
        var notBefore: Date
    }

    private struct ReadOrder: RESTEndpoint {
        typealias Success = Order
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/orders/{order_id}" }
        var orderID: Int
        var changedAfter: Date
    }

    private static let time = Date(timeIntervalSince1970: 1_700_000_000)

    private static func system(
        _ values: JSONObject, _ engine: RecordingEngine
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        return try await NetworkSystem.start(Settings.configuration(values), options: options)
    }

    private static func engine(_ result: String) -> RecordingEngine {
        RecordingEngine(responses: [.init(body: #"{"jsonrpc":"2.0","id":1,"result":\#(result)}"#)])
    }

    private static func parameters(_ engine: RecordingEngine) throws -> String {
        let body = try #require(engine.requests.last?.bytes)
        return try #require(JSONValue(parsing: body)["params"]).text
    }

    @Test(
        arguments: [
            (
                [:], #""itemName":"tea","notBefore":"2023-11-14T22:13:20Z""#,
                #""orderID":7,"createdAt":"2023-11-14T22:13:20Z""#
            ),
            (
                ["services.a.json.keys": "snake-case"],
                #""item_name":"tea","not_before":"2023-11-14T22:13:20Z""#,
                #""order_id":7,"created_at":"2023-11-14T23:13:20+01:00""#
            ),
            (
                ["services.a.json.keys": "snake-case", "services.a.json.dates": "unix-seconds"],
                #""item_name":"tea","not_before":1700000000"#,
                #""order_id":7,"created_at":1700000000"#
            ),
            (
                ["services.a.json.dates": "unix-milliseconds", "services.a.json.keys": "as-is"],
                #""itemName":"tea","notBefore":1700000000000"#,
                #""orderID":7,"createdAt":1700000000000"#
            ),
            (
                ["services.a.json.dates": "http-date"],
                #""itemName":"tea","notBefore":"Tue, 14 Nov 2023 22:13:20 GMT""#,
                #""orderID":7,"createdAt":"Tue, 14 Nov 2023 22:13:20 GMT""#
            ),
        ] as [(JSONObject, String, String)])
    func aServiceChooses(_ values: JSONObject, _ sent: String, _ result: String) async throws {
        let engine = Self.engine("{\(result)}")
        let system = try await Self.system(values, engine)
        let order = try await system.send(CreateOrder(itemName: "tea", notBefore: Self.time))
        #expect(order == Order(orderID: 7, createdAt: Self.time))
        #expect(try Self.parameters(engine) == "{\(sent)}")
        let response = try await system.call(RPCCall("orders.read"), on: "a")
        #expect(try response.result?.decode(Order.self) == order)
        await system.shutdown()
    }

    @Test func aBatchsResultsFollowTheService() async throws {
        let engine = RecordingEngine(responses: [
            .init(body: #"[{"jsonrpc":"2.0","id":1,"result":{"order_id":7,"created_at":0}}]"#)
        ])
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
        service.options.json = JSONConventions(dates: .unixSeconds, keys: .snakeCase)
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            services: ["a": service], policy: .allowingAll(), options: options)
        let batch = try await system.batch([RPCCall("orders.read")], on: "a")
        guard case .result(let result)? = batch.outcomes.first else {
            Issue.record("\(batch)")
            return
        }
        #expect(
            try result.decode(Order.self)
                == Order(orderID: 7, createdAt: Date(timeIntervalSince1970: 0)))
        await system.shutdown()
    }

    /// The data of an RPC error, alone and in a batch, an error body of its own and a problem's
    /// members are decoded as results are, unless the caller says otherwise.
    @Test func errorsFollowTheService() async throws {
        let order = Order(orderID: 7, createdAt: Date(timeIntervalSince1970: 0))
        let sent = #"{"order_id":7,"created_at":0}"#
        let refusal = #"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":\#(sent)}}"#
        func failure(
            _ response: RecordingEngine.Response, _ payload: ServiceConfiguration.PayloadProtocol
        ) async throws -> ClientError {
            let system = try await Pipeline.system(
                RecordingEngine(responses: [response]), payload: payload
            ) {
                _ in
            } changeService: {
                $0.options.json = JSONConventions(dates: .unixSeconds, keys: .snakeCase)
            }
            let error = await #expect(throws: ClientError.self) {
                try await system.call(RPCCall("GET"), on: "a", path: "/orders")
            }
            await system.shutdown()
            return try #require(error)
        }
        let server = try await failure(.init(body: refusal), .jsonRPC2).serverError
        #expect(try server?.decodeData(Order.self) == order)
        let own = try await failure(.init(status: 409, body: sent), .rest)
        #expect(try own.decodeResponse(Order.self) == order)
        #expect(throws: JSONError.self) {
            try own.decodeResponse(Order.self, conventions: JSONConventions())
        }
        let body = #"{"title":"t","order":\#(sent)}"#
        let problem = try await failure(
            .init(status: 409, body: body, fields: [.contentType: "application/problem+json"]),
            .rest
        ).problem
        #expect(try problem?.decode(Order.self, named: "order") == order)

        let system = try await Pipeline.system(
            RecordingEngine(responses: [.init(body: "[\(refusal)]")]), payload: .jsonRPC2
        ) {
            _ in
        } changeService: {
            $0.options.json = JSONConventions(dates: .unixSeconds, keys: .snakeCase)
        }
        let batch = try await system.batch([RPCCall("orders.read")], on: "a")
        guard case .failure(let error)? = batch.outcomes.first else {
            Issue.record("\(batch)")
            return
        }
        #expect(try error.server?.decodeData(Order.self) == order)
        await system.shutdown()
    }

    @Test func aStreamsRecordsFollowTheService() async throws {
        let engine = RecordingEngine(responses: [
            .init(body: "{\"order_id\":7,\"created_at\":0}\n")
        ])
        let system = try await Pipeline.system(engine) {
            _ in
        } changeService: {
            $0.options.json = JSONConventions(dates: .unixSeconds, keys: .snakeCase)
        }
        let response = try await system.stream("a", method: .get, target: "/feed")
        var orders: [Order] = []
        for try await order in response.records(of: Order.self, in: .lines) { orders.append(order) }
        #expect(orders == [Order(orderID: 7, createdAt: Date(timeIntervalSince1970: 0))])
        await system.shutdown()
    }

    @Test func aCallChoosesOtherwise() async throws {
        let engine = Self.engine(#"{"orderID":7,"createdAt":1700000000}"#)
        let system = try await Self.system(["services.a.json.keys": "snake-case"], engine)
        var options = RequestOptions()
        options.json = JSONConventions(dates: .unixSeconds)
        let order = try await system.send(
            CreateOrder(itemName: "tea", notBefore: Self.time), options: options)
        #expect(order == Order(orderID: 7, createdAt: Self.time))
        #expect(try Self.parameters(engine) == #"{"itemName":"tea","notBefore":1700000000}"#)
        let error = await #expect(throws: ClientError.self) {
            try await system.send(CreateOrder(itemName: "tea", notBefore: Self.time))
        }
        #expect(error?.code == .typeMismatch)
        #expect(error?.message.contains("$.order_id") == true, "\(error?.message ?? "")")
        await system.shutdown()
    }

    @Test func aPathNamesMembersAsTheyAreSent() async throws {
        let engine = RecordingEngine(responses: [
            .init(body: #"{"order_id":7,"created_at":1700000000}"#)
        ])
        let system = try await Self.system(
            [
                "services.a.protocol": "rest", "services.a.json.keys": "snake-case",
                "services.a.json.dates": "unix-seconds",
            ], engine)
        let order = try await system.send(ReadOrder(orderID: 7, changedAfter: Self.time))
        #expect(order == Order(orderID: 7, createdAt: Self.time))
        #expect(engine.requests[0].request.path == "/rpc/orders/7?changed_after=1700000000")
        await system.shutdown()
    }

    @Test func aTimeBeyondTheYearsSendsNothing() async throws {
        let engine = Self.engine("null")
        let system = try await Self.system([:], engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.send(
                CreateOrder(
                    itemName: "tea", notBefore: Date(timeIntervalSince1970: 253_402_300_800)))
        }
        #expect(error?.code.name == "invalid-params")
        #expect(engine.count == 0)
        await system.shutdown()
    }
}
