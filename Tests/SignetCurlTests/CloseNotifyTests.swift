import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Bodies that end with their connection: only TLS's close_notify shows that the body is complete.
@Suite struct CloseNotifyTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// How a server ends a TLS connection without close_notify: at once, or within a record.
    private static let fin: [ServerStep] = []
    private static let halfARecord: [ServerStep] = [
        .raw("\u{17}\u{3}\u{3}\u{1}\0" + String(repeating: "x", count: 20))
    ]

    private func server(
        _ end: [ServerStep], version: String = "", response: String = "HTTP/1.1 200 OK\r\n\r\nabcd"
    ) async throws -> ScriptedServer {
        try await ScriptedServer(
            [.head, .send(response)] + end, tls: authority.leaf, version: version)
    }

    private func request(_ port: Int) -> EngineRequest {
        EngineRequest(get(port), timeout: .seconds(300))
    }

    @Test(arguments: [fin, [.reset], halfARecord], ["TLSv1_2", "TLSv1_3"])
    func isCutOffWithoutCloseNotify(end: [ServerStep], version: String) async throws {
        let server = try await server(end, version: version)
        let engine = try engine()
        let error = await engine.failure(request(server.port))
        #expect(error?.code == .cutOff, "\(error?.message ?? "no error")")
        await engine.shutdown()
    }

    @Test(arguments: [
        "HTTP/1.0 200 OK", "HTTP/1.1 200 OK\r\nConnection: close",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: binary",
    ])
    func isCutOffWithAnyHeader(head: String) async throws {
        let server = try await server(Self.fin, response: head + "\r\n\r\nabcd")
        let engine = try engine()
        #expect(await engine.failure(request(server.port))?.code == .cutOff)
        await engine.shutdown()
    }

    /// The connection was made for another call, whose response had a length.
    @Test(arguments: [false, true])
    func looksAtAPooledConnectionToo(isNotified: Bool) async throws {
        let server = try await ScriptedServer(
            [.head, .ok("full"), .head, .send("HTTP/1.1 200 OK\r\n\r\nrest")]
                + (isNotified ? [.notify] : []), tls: authority.leaf)
        let engine = try engine()
        let (_, first) = try await engine.fetch(request(server.port))
        #expect(first == Array("full".utf8))
        let response = try await engine.send(request(server.port))
        #expect(response.timings.reusedConnection)
        if isNotified {
            #expect(try await response.body.collect() == Array("rest".utf8))
        } else {
            let error = await #expect(throws: TransportError.self) {
                try await response.body.collect()
            }
            #expect(error?.code == .cutOff)
        }
        await engine.shutdown()
    }

    @Test(arguments: ["http", "https"])
    func looksAtTheHostsTLSBehindAProxy(kind: String) async throws {
        let proxy = try await ProxyServer(tls: kind == "https" ? authority.leaf : nil)
        let engine = try engine()
        for (end, code) in [(Self.fin, TransportError.Code.cutOff), ([.notify], nil)] {
            let server = try await server(end)
            var request = request(server.port)
            request.proxy = try Proxy(parsing: "\(kind)://localhost:\(proxy.port)")
            request.proxy?.caFile = authority.caFile
            let error = await engine.failure(request)
            #expect(error?.code == code, "\(error?.message ?? "no error")")
        }
        await engine.shutdown()
    }

    @Test(arguments: ["TLSv1_2", "TLSv1_3"])
    func isCompleteWithCloseNotify(version: String) async throws {
        let server = try await server([.notify], version: version)
        let engine = try engine()
        let (_, body) = try await engine.fetch(request(server.port))
        #expect(body == Array("abcd".utf8))
        await engine.shutdown()
    }

    /// A length or chunks say where the body ends, and in cleartext there is no close_notify.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    ])
    func needsNoCloseNotifyElsewhere(response: String) async throws {
        let server = try await server(Self.fin, response: response)
        let engine = try engine()
        _ = try await engine.fetch(request(server.port))
        var headRequest = request(server.port)
        if !response.contains("chunked") { headRequest.request.method = .head }
        _ = try await engine.fetch(headRequest)
        let plain = try await ScriptedServer([.head, .send("HTTP/1.1 200 OK\r\n\r\nabcd")])
        let (_, body) = try await engine.fetch(
            EngineRequest(get(plain.port, scheme: "http"), timeout: .seconds(300)))
        #expect(body == Array("abcd".utf8))
        await engine.shutdown()
    }
}
