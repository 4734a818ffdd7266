import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// HTTP/2 connections that the server ends between two calls or during one.
@Suite struct HTTP2ReuseTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// A server of bare frames (RFC 9113, section 4.1). `behaviour` has `c`, `number` (connections
    /// are counted from 0), `request()`, which returns the next complete request's stream,
    /// `respond(stream)`, and `send(type, flags, stream, payload)`.
    private func server(_ behaviour: String) async throws -> ScriptedServer {
        try await ScriptedServer(
            """
            global connections
            number = connections
            connections += 1
            def read(count):
                data = b''
                while len(data) < count:
                    more = c.recv(count - len(data))
                    if not more: raise OSError('gone')
                    data += more
                return data
            def send(type, flags, stream, payload=b''):
                c.sendall(len(payload).to_bytes(3, 'big') + bytes([type, flags])
                    + stream.to_bytes(4, 'big') + payload)
            def request():
                while True:
                    start = read(9)
                    payload = read(int.from_bytes(start[:3], 'big'))
                    type, flags, stream = start[3], start[4], int.from_bytes(start[5:], 'big')
                    if type == 4 and not flags & 1: send(4, 1, 0)
                    if type == 6 and not flags & 1: send(6, 1, 0, payload)
                    if type in (0, 1) and flags & 1:
                        print('REQUEST', number, flush=True)
                        return stream
            def respond(stream):
                send(1, 4, stream, b'\\x88')
                send(0, 1, stream, b'ok')
            read(24)
            send(4, 0, 0)
            try:
            \(behaviour.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
                while True: respond(request())
            except OSError: pass
            """, tls: authority.leaf,
            setup: "context.set_alpn_protocols(['h2'])\nconnections = 0")
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
        let server = try await server(
            """
            respond(request())
            c.settimeout(0.01)
            try: c.unwrap()
            except OSError: pass
            c.settimeout(None)
            wait_until_delivered(c)
            print('READY', flush=True)
            time.sleep(300)
            """)
        let engine = try engine()
        for number in 0..<20 {
            let (response, body) = try await engine.fetch(request(method, server))
            #expect(response.httpVersion.major == 2 && body == Array("ok".utf8))
            #expect(try await eventually { count(server, "READY") == number + 1 })
        }
        #expect(count(server, "REQUEST") == 20)
        await engine.shutdown()
    }

    /// The server takes no request of this connection any more (RFC 9113, section 6.8): its last
    /// stream is 0.
    private static let goaway = "send(7, 0, 0, bytes(8))"

    @Test func repeatsAGetThatAGOAWAYRefuses() async throws {
        let server = try await server(
            """
            if number == 0:
                respond(request())
                request()
                \(Self.goaway)
                c.close()
            """)
        let engine = try engine()
        for _ in 0..<2 {
            let (response, body) = try await engine.fetch(request(.get, server))
            #expect(response.response.status == .ok && body == Array("ok".utf8))
        }
        #expect(count(server, "REQUEST 0") == 2 && count(server, "REQUEST 1") == 1)
        await engine.shutdown()
    }

    @Test func cutsOffAPostThatAGOAWAYMayHaveRefused() async throws {
        let server = try await server(
            """
            if number == 0:
                respond(request())
                request()
                \(Self.goaway)
                c.close()
            """)
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
        let server = try await server(
            """
            respond(request())
            request()
            print('CUT', flush=True)
            c.close()
            """)
        let engine = try engine()
        _ = try await engine.fetch(request(method, server))
        let error = await engine.failure(request(method, server))
        #expect(error?.code == (method == .get ? nil : .cutOff))
        #expect(count(server, "REQUEST") == (method == .get ? 3 : 2))
        await engine.shutdown()
    }

    /// DATA on stream 0 breaks the whole connection (RFC 9113, section 6.1).
    @Test func sendsNoPostAgainAfterABrokenSession() async throws {
        let server = try await server(
            """
            if number == 0:
                respond(request())
                request()
                send(0, 0, 0, b'x')
                time.sleep(300)
            """)
        let engine = try engine()
        _ = try await engine.fetch(request(.post, server))
        let error = await engine.failure(request(.post, server))
        #expect(error != nil)
        #expect(count(server, "REQUEST") == 2)
        await engine.shutdown()
    }

    /// REFUSED_STREAM: the server has not read the request (RFC 9113, section 8.7).
    @Test func resendsAPostThatTheServerDidNotRead() async throws {
        let server = try await server(
            """
            if number == 0:
                respond(request())
                send(3, 0, request(), bytes([0, 0, 0, 7]))
            """)
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
        let server = try await server("request()\n\(Self.goaway)\nc.close()")
        let engine = try engine()
        let error = await engine.failure(request(.get, server))
        #expect(error?.code == .cutOff, "\(error?.message ?? "")")
        #expect((1...2).contains(count(server, "REQUEST")))
        await engine.shutdown()
    }
}
