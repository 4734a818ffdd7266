import SignetClient
import TestSupport
import Testing

/// Enums as endpoints: each case has a method, a path and parameters of its own.
@Suite struct EnumEndpointTests {
    private enum Orders: Endpoint {
        case create(item: String, quantity: Int, note: String? = nil)
        case move(Int, Int)
        case swap(Int?, [Int]?)
        case find(Int?)
        case store(Order)
        case delete([Int])
        case ping
        case broken(Int, to: Int)
        case endless(Double)

        var service: ServiceName { "a" }
        var method: RPCMethod {
            switch self {
            case .create: "orders.create"
            case .move: "orders.move"
            case .swap: "orders.swap"
            case .find: "orders.find"
            case .store: "orders.store"
            case .delete: "orders.delete"
            case .ping: "ping"
            case .broken: "broken"
            case .endless: "endless"
            }
        }
    }

    private struct Order: Codable, Equatable {
        var item: String
    }

    private enum Resource: RESTEndpoint {
        case order(id: Int)
        case orders(limit: Int?)
        case change(id: Int, item: String)

        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method {
            if case .change = self { .put } else { .get }
        }
        var path: PathTemplate {
            if case .orders = self { "/orders" } else { "/orders/{id}" }
        }
    }

    private enum Health: String, Endpoint {
        case live, ready
        var service: ServiceName { "a" }
        var method: RPCMethod { RPCMethod("health.\(rawValue)") }
    }

    private enum Level: Int, Endpoint {
        case low, high
        var service: ServiceName { "a" }
        var method: RPCMethod { "level" }
    }

    /// Parameters that aren't the values.
    private enum Renamed: Endpoint {
        case search(text: String, limit: Int?)
        case add(Int, Int)
        case twice
        case null

        var service: ServiceName { "a" }
        var method: RPCMethod { "m" }
        func parameters() throws(PayloadError) -> RPCParameters? {
            switch self {
            case .search(let text, let limit):
                try .named(["q": text, "max": limit, "order": "asc"])
            case .add(let left, let right): try .positional([left, right, Int?.none])
            case .twice: try .named(["a": 1, "a": 2])
            case .null: try .named(["a": JSONValue.null, "b": JSONValue?.none])
            }
        }
    }

    private func sent(_ call: some Endpoint) async throws -> (body: JSONValue?, code: String?) {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let response = await system.response(to: call)
        await system.shutdown()
        let body = try engine.requests.first.map { try JSONValue(parsing: $0.bytes) }
        guard case .failure(let error) = response.result else { return (body, nil) }
        return (body, error.code.name)
    }

    @Test(.features("002-29")) func aCaseHasItsMethodAndItsValuesByName() async throws {
        let full = try await sent(Orders.create(item: "tea", quantity: 2, note: "hot"))
        #expect(full.body?["method"] == "orders.create")
        #expect(full.body?["params"] == ["item": "tea", "quantity": 2, "note": "hot"])
        let short = try await sent(Orders.create(item: "tea", quantity: 2))
        #expect(short.body?["params"] == ["item": "tea", "quantity": 2])
        #expect(try await sent(Orders.ping).body?["params"] == nil)
    }

    @Test func valuesWithoutLabelsAreByPosition() async throws {
        #expect(try await sent(Orders.move(7, 8)).body?["params"] == [7, 8])
        #expect(try await sent(Orders.swap(7, [8])).body?["params"] == [7, [8]])
        #expect(try await sent(Orders.find(7)).body?["params"] == [7])
        #expect(try await sent(Orders.find(nil)).body?["params"] == nil)
        #expect(try await sent(Orders.store(Order(item: "tea"))).body?["params"] == ["item": "tea"])
        #expect(try await sent(Orders.delete([3, 4])).body?["params"] == [3, 4])
    }

    @Test func rawValuesAreNoParameters() async throws {
        let live = try await sent(Health.live)
        #expect(live.body?["method"] == "health.live" && live.body?["params"] == nil)
        let high = try await sent(Level.high)
        #expect(high.code == nil && high.body?["params"] == nil)
    }

    @Test func refusesValuesThatAreNoParameters() async throws {
        let calls: [Orders] = [
            .broken(1, to: 2), .endless(.infinity), .endless(.nan), .swap(nil, [8]), .swap(7, nil),
            .swap(nil, nil),
        ]
        for call in calls {
            let refused = try await sent(call)
            #expect(refused.code == "invalid-params" && refused.body == nil)
        }
    }

    @Test func parametersOfOtherNames() async throws {
        let search = try await sent(Renamed.search(text: "tea", limit: 3))
        #expect(search.body?["params"] == ["q": "tea", "max": 3, "order": "asc"])
        let all = try await sent(Renamed.search(text: "tea", limit: nil))
        #expect(all.body?["params"] == ["q": "tea", "order": "asc"])
        #expect(try await sent(Renamed.add(1, 2)).body?["params"] == [1, 2, nil])
        #expect(try await sent(Renamed.null).body?["params"] == ["a": nil])
        let twice = try await sent(Renamed.twice)
        #expect(twice.code == "invalid-params" && twice.body == nil)
    }

    @Test(.features("002-29", "004-05")) func aRESTCaseHasHTTPMethodAndPath() async throws {
        let engine = RecordingEngine(responses: [.init(body: #"{"item":"tea"}"#)])
        let system = try await Pipeline.system(engine)
        let order: Order = try await system.send(Resource.order(id: 7))
        #expect(order == Order(item: "tea"))
        _ = try await system.send(Resource.orders(limit: 2))
        _ = try await system.send(Resource.orders(limit: nil))
        _ = try await system.send(Resource.change(id: 7, item: "tea"))
        await system.shutdown()
        let paths = engine.requests.map { $0.request.path ?? "" }
        #expect(paths == ["/v1/orders/7", "/v1/orders?limit=2", "/v1/orders", "/v1/orders/7"])
        #expect(engine.requests.map(\.request.method) == [.get, .get, .get, .put])
        #expect(engine.requests[3].bytes == Array(#"{"item":"tea"}"#.utf8))
    }

    /// The type of the value follows from its place, or is named.
    @Test(.features("002-30")) func aCallHasTheTypeThatIsAskedFor() async throws {
        let engine = RecordingEngine(responses: [.init(body: #"{"item":"tea"}"#)])
        let system = try await Pipeline.system(engine)
        let order: Order = try await system.send(Resource.order(id: 7))
        let named = try await system.send(Resource.order(id: 7), as: Order.self)
        let value = try await system.send(Resource.order(id: 7), as: JSONValue.self)
        let whole = try await system.send(Resource.order(id: 7))
        #expect(order == named && value == ["item": "tea"] && whole.result?.value == value)
        let error = await #expect(throws: ClientError.self) {
            try await system.send(Resource.order(id: 7), as: [Order].self)
        }
        #expect(error?.code == .typeMismatch && error?.identity?.service == "a")
        await system.shutdown()
    }
}

/// Values that are checked before anything is sent.
@Suite struct ValidationTests {
    private struct Refusal: Error, CustomStringConvertible {
        var description: String { "ZZZZZZ" }
    }

    private enum Pay: Endpoint {
        case amount(Int)
        case other

        var service: ServiceName { "a" }
        var method: RPCMethod { "pay" }
        func validate() throws {
            switch self {
            case .amount(let amount) where amount < 1:
                throw PayloadError(
                    .invalidParameters, "the amount is \(amount), expected 1 or more")
            case .amount: break
            case .other: throw Refusal()
            }
        }
    }

    @Test(.features("003-18"), arguments: [0, -1, Int.min])
    func invalidValuesSendNothing(_ amount: Int) async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let error = await #expect(throws: ClientError.self) {
            try await system.send(Pay.amount(amount))
        }
        #expect(error?.code == .invalidParameters && error?.kind == .local)
        #expect(error?.message == "the amount is \(amount), expected 1 or more")
        #expect(error?.identity?.method == "pay" && error?.attempts == 0)
        #expect(engine.count == 0)
        _ = try await system.send(Pay.amount(1))
        #expect(engine.count == 1)
        await system.shutdown()
    }

    @Test func anErrorOfTheProgramsOwnIsNotRepeated() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let error = await #expect(throws: ClientError.self) { try await system.send(Pay.other) }
        #expect(error?.code == .invalidParameters && engine.count == 0)
        #expect(error?.message == "the call refused its values: Refusal")
        await system.shutdown()
        let stopped = await #expect(throws: ClientError.self) { try await system.send(Pay.other) }
        #expect(stopped?.code == .notRunning)
    }

    @Test func pagesOfInvalidValuesSendNothing() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        var pages = system.pages(of: Pay.other, by: .offset()).makeAsyncIterator()
        let error = await #expect(throws: ClientError.self) { try await pages.next() }
        #expect(error?.code == .invalidParameters && engine.count == 0)
        await system.shutdown()
    }
}
