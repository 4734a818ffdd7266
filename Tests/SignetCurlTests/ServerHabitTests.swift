import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Responses after which libcurl or the engine sends a request again, and connections that end
/// together with a response.
@Suite struct ServerHabitTests {
    private func post(_ server: ScriptedServer, scheme: String = "http") -> EngineRequest {
        var request = get(server.port, scheme: scheme)
        request.method = .post
        return EngineRequest(request, body: Array("body".utf8), timeout: .seconds(60))
    }

    private func count(_ server: ScriptedServer) -> Int {
        server.server.stdout.split(separator: "\n").count { $0.hasPrefix("REQUEST") }
    }

    /// A server of HTTP/1.1 that numbers its requests from 1 in `number`.
    private func numbered(_ response: String) async throws -> ScriptedServer {
        try await ScriptedServer(
            """
            global number
            while True:
                data = b''
                while b'\\r\\n\\r\\n' not in data or (b'Content-Length: 4' in data and not data.endswith(b'body')):
                    more = c.recv(65536)
                    if not more: return
                    data += more
                number += 1
                print('REQUEST', id(c), flush=True)
                c.sendall(\(response))
            """, setup: "number = 0")
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func asksOnceMoreAfter421(_ method: HTTPRequest.Method) async throws {
        let server = try await numbered(
            #"b'HTTP/1.1 421 No\r\nContent-Length: 2\r\n\r\nno' if number == 1 else b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes'"#
        )
        let engine = try engine()
        var request = post(server)
        if method == .get { request = EngineRequest(get(server.port, scheme: "http")) }
        let (response, body) = try await engine.fetch(request)
        #expect(response.response.status == .ok && body == Array("yes".utf8))
        #expect(count(server) == 2)
        // On another connection.
        #expect(Set(server.server.stdout.split(separator: "\n")).count == 2)
        await engine.shutdown()
    }

    @Test func returnsASecond421() async throws {
        let server = try await numbered(#"b'HTTP/1.1 421 No\r\nContent-Length: 2\r\n\r\nno'"#)
        let engine = try engine()
        let (response, body) = try await engine.fetch(post(server))
        #expect(response.response.status.code == 421 && body == Array("no".utf8))
        #expect(count(server) == 2)
        // A body that can be read only once isn't sent again.
        var once = post(server)
        once.body = .stream(length: 4, Producer.of([Array("body".utf8)]))
        let (single, text) = try await engine.fetch(once)
        #expect(single.response.status.code == 421 && text == Array("no".utf8))
        #expect(count(server) == 3)
        await engine.shutdown()
    }

    /// After a 417, libcurl discards the body and would send the request again without Expect.
    @Test func returnsAStatusThatLibcurlWouldRepeat() async throws {
        let server = try await ScriptedServer(
            """
            head(c)
            print('REQUEST', flush=True)
            c.sendall(b'HTTP/1.1 417 No\\r\\nContent-Length: 2\\r\\n\\r\\nno')
            while c.recv(65536): pass
            """)
        let engine = try engine()
        var request = post(server)
        request.request.headerFields[.expect] = "100-continue"
        let (response, body) = try await engine.fetch(request)
        #expect(response.response.status.code == 417 && body.isEmpty)
        #expect(count(server) == 1)
        await engine.shutdown()
    }

    @Test func saysThatAServerNeedsHTTP1() async throws {
        let server = try await http2Server(
            """
            begin(c)
            for kind, flags, stream, payload in frames(c):
                if flags & 1 and kind in (0, 1):
                    print('REQUEST', flush=True)
                    c.sendall(frame(3, 0, stream, bytes([0, 0, 0, 13])))
            """)
        let engine = try engine()
        let error = await engine.failure(post(server, scheme: "https"))
        #expect(error?.code == .cutOff)
        #expect(error?.message.contains("requires HTTP/1.1") == true, "\(error?.message ?? "")")
        #expect(count(server) == 1)
        await engine.shutdown()
    }

    /// The response has its whole length, or no body, when the session ends.
    @Test(arguments: [
        #"head_of(stream, 2) + frame(0, 0, stream, b'ok')"#,
        #"frame(1, 4, stream, b'\x89')"#,
    ])
    func takesACompleteResponseBeforeTheEnd(_ response: String) async throws {
        let server = try await http2Server(
            """
            begin(c)
            for kind, flags, stream, payload in frames(c):
                if flags & 1 and kind in (0, 1): break
            c.sendall(\(response) + frame(7, 0, 0, bytes([0, 0, 0, 1, 0, 0, 0, 0])))
            wait_until_delivered(c)
            """)
        let engine = try engine()
        let (answer, body) = try await engine.fetch(post(server, scheme: "https"))
        #expect(answer.response.status.code == (body.isEmpty ? 204 : 200))
        await engine.shutdown()
    }

    /// Calls whose bodies aren't read fill connections of their own; all others share one.
    @Test func callsBesideUnreadBodiesShareAConnection() async throws {
        let host = try await OrdersHost.start(
            directives: """
                location = /large { alias large; }
                location = /number { return 200 '$connection'; }
                """)
        try host.folder.write([UInt8](repeating: 1, count: 1_000_000), to: "large", mode: 0o644)
        let engine = try engine()
        var unread: [EngineResponse] = []
        for _ in 0..<12 {
            unread.append(
                try await engine.send(
                    EngineRequest(get(host.port, "/large"), timeout: .seconds(100))))
        }
        var connections: Set<[UInt8]> = []
        for _ in 0..<10 {
            connections.insert(
                try await engine.fetch(EngineRequest(get(host.port, "/number"))).body)
        }
        #expect(connections.count <= 2, "\(connections.count)")
        withExtendedLifetime(unread) {}
        await engine.shutdown()
    }
}
