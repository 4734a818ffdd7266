import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// HTTP/2 connections that the server ends between two calls or during one.
@Suite struct HTTP2ReuseTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    private func server(_ behaviour: String) async throws -> ScriptedServer {
        try await ScriptedServer("http2-endings", behaviour, tls: authority.leaf)
    }

    private func request(_ method: HTTPRequest.Method, _ server: ScriptedServer) -> EngineRequest {
        var request = get(server.port)
        request.method = method
        return EngineRequest(request, body: method == .post ? Array("body".utf8) : [])
    }

    private func count(_ server: ScriptedServer, _ prefix: String) -> Int {
        server.server.stdout.split(separator: "\n").count { $0.hasPrefix(prefix) }
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func sendsOnANewConnectionAfterCloseNotify(_ method: HTTPRequest.Method) async throws {
        let server = try await server("close_notify")
        let engine = try engine()
        for number in 0..<20 {
            let (response, body) = try await engine.fetch(request(method, server))
            #expect(response.httpVersion.major == 2 && body == Array("ok".utf8))
            #expect(try await eventually { count(server, "READY") == number + 1 })
        }
        #expect(count(server, "REQUEST") == 20)
        await engine.shutdown()
    }

    @Test func repeatsAGetThatAGOAWAYRefuses() async throws {
        let server = try await server("goaway")
        let engine = try engine()
        for _ in 0..<2 {
            let (response, body) = try await engine.fetch(request(.get, server))
            #expect(response.response.status == .ok && body == Array("ok".utf8))
        }
        #expect(count(server, "REQUEST 0") == 2 && count(server, "REQUEST 1") == 1)
        await engine.shutdown()
    }

    @Test func cutsOffAPostThatAGOAWAYMayHaveRefused() async throws {
        let server = try await server("goaway")
        let engine = try engine()
        _ = try await engine.fetch(request(.post, server))
        let error = await engine.failure(request(.post, server))
        #expect(error?.code == .cutOff, "\(error?.message ?? "")")
        #expect(count(server, "REQUEST") == 2)
        await engine.shutdown()
    }

    /// Each connection dies under its second request.
    @Test(arguments: [HTTPRequest.Method.get, .post])
    func repeatsOnlyIdempotentCalls(_ method: HTTPRequest.Method) async throws {
        let server = try await server("cut")
        let engine = try engine()
        _ = try await engine.fetch(request(method, server))
        let error = await engine.failure(request(method, server))
        #expect(error?.code == (method == .get ? nil : .cutOff))
        #expect(count(server, "REQUEST") == (method == .get ? 3 : 2))
        await engine.shutdown()
    }

    /// DATA on stream 0 breaks the whole connection (RFC 9113, section 6.1).
    @Test func sendsNoPostAgainAfterABrokenSession() async throws {
        let server = try await server("broken")
        let engine = try engine()
        _ = try await engine.fetch(request(.post, server))
        let error = await engine.failure(request(.post, server))
        #expect(error != nil)
        #expect(count(server, "REQUEST") == 2)
        await engine.shutdown()
    }

    /// REFUSED_STREAM: the server has not read the request (RFC 9113, section 8.7).
    @Test func resendsAPostThatTheServerDidNotRead() async throws {
        let server = try await server("refused")
        let engine = try engine()
        for _ in 0..<2 {
            let (response, _) = try await engine.fetch(request(.post, server))
            #expect(response.response.status == .ok)
        }
        #expect(count(server, "REQUEST") == 3)
        await engine.shutdown()
    }

    /// Retries end for a server that ends every connection this way.
    @Test func endsAfterTwoGOAWAYs() async throws {
        let server = try await server("goaway_always")
        let engine = try engine()
        let error = await engine.failure(request(.get, server))
        #expect(error?.code == .cutOff, "\(error?.message ?? "")")
        #expect((1...2).contains(count(server, "REQUEST")))
        await engine.shutdown()
    }
}
