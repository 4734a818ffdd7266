import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Endpoints whose responses are streams of records.
@Suite(.timeLimit(.minutes(2))) struct TypedStreamTests {
    private struct Watch: RESTEndpoint {
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/feeds/{feed}" }
        var feed: String
        var since: Int
        struct Success: Decodable, Sendable, Equatable { var priceInCents: Int }

        var callOptions: RequestOptions {
            var options = RequestOptions(tags: ["feed"])
            options.json = JSONConventions(keys: .snakeCase)
            return options
        }

        func validate() throws {
            if since < 0 { throw PayloadError(.invalidParameters, "since is below zero") }
        }
    }

    private let engine = FeedingEngine()

    @Test(.features("002-30")) func recordsArriveOneByOne() async throws {
        let system = try await Pipeline.system(engine)
        let records = try await system.records(of: Watch(feed: "a/b", since: 7), in: .lines)
        let sent = try #require(engine.requests.first).request
        #expect(sent.path == "/v1/feeds/a%2Fb?since=7" && sent.headerFields[.accept] == "*/*")
        #expect(system.runningCalls.first?.tags == ["feed"])
        var iterator = records.makeAsyncIterator()
        for price in [1, 2] {
            engine.feed("{\"price_in_cents\":\(price)}\n")
            #expect(try await iterator.next() == Watch.Success(priceInCents: price))
        }
        engine.end()
        #expect(try await iterator.next() == nil)
        await system.shutdown()
    }

    @Test func theCallEndsWithItsRecords() async throws {
        let system = try await Pipeline.system(engine)
        do {
            let records = try await system.records(of: Watch(feed: "x", since: 0), in: .lines)
            #expect(system.runningCalls.count == 1)
            _ = records
        }
        #expect(try await eventually { system.runningCalls.isEmpty && engine.abandoned == 1 })
        await system.shutdown()
    }

    @Test func anyTypedCallIsAStream() async throws {
        let recording = RecordingEngine(responses: [.init(body: "one")])
        let system = try await Pipeline.system(recording, payload: .jsonRPC2)
        let response = try await system.stream(
            .procedure("feed", on: "a", parameters: ["since": 7]))
        #expect(try await response.body.collect(limit: 9) == Array("one".utf8))
        let sent = try JSONValue(parsing: recording.requests[0].bytes)
        #expect(sent["method"] == "feed" && sent["params"] == ["since": 7])
        await system.shutdown()
    }

    @Test func invalidValuesSendNothing() async throws {
        let system = try await Pipeline.system(engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.records(of: Watch(feed: "x", since: -1), in: .lines)
        }
        #expect(error?.code == .invalidParameters && error?.identity?.method == "GET")
        #expect(engine.requests.isEmpty)
        await system.shutdown()
    }

    @Test(arguments: [
        (ServiceConfiguration.PayloadProtocol.rest, "http-status"), (.jsonRPC2, "rpc-error"),
    ])
    func aRefusalIsNoStream(
        _ payload: ServiceConfiguration.PayloadProtocol, _ code: String
    ) async throws {
        let body = #"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#
        let recording = RecordingEngine(responses: [.init(status: 404, body: body)])
        let system = try await Pipeline.system(recording, payload: payload)
        let error = await #expect(throws: ClientError.self) {
            payload == .rest
                ? try await system.stream(Watch(feed: "x", since: 0))
                : try await system.stream(.procedure("feed", on: "a"))
        }
        #expect(error?.code.name == code && error?.status == 404)
        await system.shutdown()
    }

    /// The orders host signs nothing that it can't verify, and is pinned.
    @Test func areSignedAndPinned() async throws {
        struct Read: RESTEndpoint {
            var service: ServiceName { "catalog" }
            var httpMethod: HTTPRequest.Method { .get }
            var path: PathTemplate { "/orders/{id}" }
            var id: Int
            struct Success: Decodable, Sendable { var item: String }
        }
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let order = try await system.send(CreateOrder(item: "tea", quantity: 2))
        var items: [String] = []
        for try await read in try await system.records(of: Read(id: order.id), in: .lines) {
            items.append(read.item)
        }
        #expect(items == ["tea"])
        await system.shutdown()
        let log = try await host.requests(count: 2)
        #expect(log.allSatisfy { $0.contains(#""verdict":"verified""#) })
        let rogue = try TestAuthority.rogue.get()
        let other = try await Shop.system(for: host, pins: [rogue.root.pin, rogue.leaf.pin])
        let code = await Pipeline.code { () async throws(ClientError) in
            try await other.records(of: Read(id: order.id), in: .lines)
        }
        #expect(code == .pinMismatch)
        await other.shutdown()
        try await host.stop()
    }
}
