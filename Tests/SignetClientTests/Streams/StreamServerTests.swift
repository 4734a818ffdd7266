import HTTPTypes
import SignetClient
import SignetJSON
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Streamed responses from real servers, and trailers through the whole pipeline.
@Suite(.timeLimit(.minutes(2))) struct StreamServerTests {
    private let sum = HTTPField.Name("X-Sum")!

    @Test(arguments: ["https://api.example.com/y", "https://other.example.com/y"])
    func trailersStayWithinTheirOrigin(_ place: String) async throws {
        let recording = RecordingEngine(responses: [
            .init(status: 307, body: "", fields: [.location: place]), .init(body: "1"),
        ])
        let system = try await Pipeline.system(recording)
        var options = RequestOptions()
        var redirects = RedirectPolicy()
        redirects.dangerous.sendBodyAcrossOrigins()
        options.redirects = redirects
        let sum = sum
        let body = HTTPRequestBody([1]).withTrailers { [sum: "1"] }
        let response = try await system.stream(
            "a", method: .put, target: "/x", body: body, options: options)
        #expect(response.status == 200)
        let stays = place.contains("api")
        #expect(recording.requests.map(\.body.hasTrailers) == [true, stays])
        #expect(try await response.body.collect(limit: 1) == Array("1".utf8))
        await system.shutdown()
    }

    // MARK: Real servers

    @Test func areSignedAndPinned() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let order = try await system.send(CreateOrder(item: "tea", quantity: 2))
        let response = try await system.stream(
            RESTRequest(.get, "/orders/\(order.id)"), from: "catalog")
        let body = try await response.body.collect(limit: 1 << 16)
        #expect(try JSONValue(parsing: body)["item"] == "tea")
        await system.shutdown()
        let rogue = try TestAuthority.rogue.get()
        let other = try await Shop.system(for: host, pins: [rogue.root.pin, rogue.leaf.pin])
        let code = await Pipeline.code { () async throws(ClientError) in
            try await other.stream(
                "catalog", method: HTTPRequest.Method.get, target: "/orders/\(order.id)")
        }
        #expect(code == .pinMismatch)
        await other.shutdown()
        try await host.stop()
    }

    @Test func sendAndReceiveAtOnceWithTrailersBothWays() async throws {
        let (server, port) = try await SocketServer.start("full-duplex", ["echo"])
        var options = NetworkSystem.Options()
        options.dangerous.allowUnpinnedServices()
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "http://127.0.0.1:\(port)", payloadProtocol: .rest)
            ], policy: .allowingAll(), options: options)
        let (bytes, producer) = AsyncStream.makeStream(of: [UInt8].self)
        let sum = sum
        let response = try await system.stream(
            "a", method: .post, target: "/",
            body: .stream(bytes).withTrailers { [sum: "3"] })
        var echoed = response.body.makeAsyncIterator()
        for byte in UInt8(65)..<68 {
            producer.yield([byte])
            #expect(try await echoed.next() == [byte])
        }
        producer.finish()
        #expect(try await echoed.next() == nil)
        #expect(response.trailers == [sum: "3"])
        await system.shutdown()
        try await server.stop()
    }
}
