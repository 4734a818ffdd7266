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

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func asksOnceMoreAfter421(_ method: HTTPRequest.Method) async throws {
        let server = try await ScriptedServer("misdirected", "1")
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
        let server = try await ScriptedServer("misdirected", "9")
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
        let server = try await ScriptedServer([
            .head, .say("REQUEST"), .send("HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno"), .drain,
        ])
        let engine = try engine()
        var request = post(server)
        request.request.headerFields[.expect] = "100-continue"
        let (response, body) = try await engine.fetch(request)
        #expect(response.response.status.code == 417 && body.isEmpty)
        #expect(count(server) == 1)
        await engine.shutdown()
    }

    @Test func saysThatAServerNeedsHTTP1() async throws {
        let server = try await ScriptedServer.http2(
            "frame(3, 0, stream, bytes([0, 0, 0, 13]))", whole: true)
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
        let server = try await ScriptedServer(
            "complete-before-the-end", response, tls: TestAuthority.trusted.get().leaf)
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
