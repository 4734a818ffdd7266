import HTTPTypes
import SignetClient
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// Cases that every HTTP client meets, as calls of a whole system over TCP and over TLS. The others
/// are `HTTPCaseTests` of the engine; content codings are in `DecodingCallTests`.
@Suite struct HTTPCaseCallTests {
    private static func system(_ url: String) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.caFile = try TestAuthority.trusted.get().caFile
        return try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: url, payloadProtocol: .rest, timeout: .seconds(300), attempts: 1)
            ], policy: .allowingAll(), options: options)
    }

    private static func leaf(_ tls: Bool) throws -> TestAuthority.Certificate? {
        tls ? try TestAuthority.trusted.get().leaf : nil
    }

    /// RFC 9110, section 15.4: 301 turns POST into GET, 308 keeps method and body.
    @Test(
        arguments: [
            (301, HTTPRequest.Method.get, "GET"), (308, .get, "GET"), (301, .post, "GET"),
            (308, .post, "POST"), (301, .put, "PUT"), (308, .put, "PUT"),
        ], [false, true])
    func aRedirectIsFollowed(
        _ one: (status: Int, method: HTTPRequest.Method, then: String), overTLS tls: Bool
    ) async throws {
        let server = try await RouteServer(
            [
                "/old": "\(one.status) Moved\r\nLocation: /new?x=1#part\r\n\r\ngone",
                "/new": "200 OK\r\n\r\nhere",
            ], tls: Self.leaf(tls))
        let system = try await Self.system(server.url)
        let body = one.method == .get ? [] : Array("tea".utf8)
        let response = try await system.exchange(
            "a", method: one.method, target: "/old", fields: [.contentType: "text/plain"],
            body: body)
        #expect(response.status == 200 && response.body == Array("here".utf8))
        await system.shutdown()
        let last = try #require(server.requests.last)
        #expect(server.requests.count == 2)
        // The fragment stays here.
        #expect(last.hasPrefix("\(one.then) /new?x=1 HTTP/1.1\r\n"))
        #expect(last.hasSuffix("\r\n\r\n" + (one.then == "GET" ? "" : "tea")))
    }

    @Test(arguments: [false, true])
    func twoPathsThatRedirectToEachOtherEndTheCall(overTLS tls: Bool) async throws {
        let server = try await RouteServer(
            [
                "/ping": "301 Moved\r\nLocation: /pong\r\n\r\n",
                "/pong": "301 Moved\r\nLocation: /ping\r\n\r\n",
            ], tls: Self.leaf(tls))
        let system = try await Self.system(server.url)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.exchange("a", method: .get, target: "/ping", fields: [:], body: [])
        }
        #expect(code == .tooManyRedirects && server.requests.count == 6)
        await system.shutdown()
    }

    @Test(arguments: [false, true])
    func aGetAndAPostOfOneLineArrive(overTLS tls: Bool) async throws {
        let server = try await CaptureServer(tls: Self.leaf(tls))
        let system = try await Self.system(server.url)
        _ = try await system.call(RESTRequest(.get, "/tea", query: ["limit": 2]), on: "a")
        _ = try await system.call(
            RPCCall("POST", parameters: .object(["item": "tea"])), on: "a", path: "/orders")
        await system.shutdown()
        let requests = try await server.requests(count: 2).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(requests[0].hasPrefix("GET /tea?limit=2 HTTP/1.1\r\n"))
        #expect(requests[1].hasPrefix("POST /orders HTTP/1.1\r\n"))
        #expect(requests[1].hasSuffix(#"{"item":"tea"}"#))
    }

    /// A target with a fragment is refused, so it is never sent.
    @Test func aTargetWithAFragmentIsRefused() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.exchange(
                "a", method: .get, target: "/a?x=1#part", fields: [:], body: [])
        }
        #expect(code == .refusedURL && engine.count == 0)
        await system.shutdown()
    }
}
