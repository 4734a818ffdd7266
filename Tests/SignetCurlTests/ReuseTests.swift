import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Pooled connections that the server has ended, or has written to, since the last response.
@Suite struct ReuseTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// Responds to a request on each connection, then does what `behaviour` says. It prints the
    /// line `READY` when it is done, and `REQUEST …` for each request.
    private func server(_ behaviour: String, secure: Bool = true) async throws -> ScriptedServer {
        try await ScriptedServer(
            "reuse", behaviour, tls: secure ? authority.leaf : nil)
    }

    /// Tells the server that the client has read its response, and waits until `behaviour` is done.
    private func goOn(_ server: ScriptedServer, _ number: Int, secure: Bool = true) async throws {
        let other = try engine(http2: false)
        _ = try await other.fetch(
            EngineRequest(get(server.port, "/go", scheme: secure ? "https" : "http")))
        #expect(try await eventually { lines(server, "READY").count == number })
        await other.shutdown()
    }

    private func lines(_ server: ScriptedServer, _ prefix: String) -> [Substring] {
        server.server.stdout.split(separator: "\n").filter { $0.hasPrefix(prefix) }
    }

    private func post(_ server: ScriptedServer, _ number: Int, secure: Bool = true)
        -> EngineRequest
    {
        var request = get(server.port, "/\(number)", scheme: secure ? "https" : "http")
        request.method = .post
        return EngineRequest(request, body: Array("body \(number)".utf8))
    }

    @Test(arguments: ["close_notify", "fin", "rst"])
    func postsOnANewConnectionAfterTheServerClosed(_ end: String) async throws {
        let server = try await server(end)
        let engine = try engine(http2: false)
        for number in 0..<10 {
            let (response, body) = try await engine.fetch(post(server, number))
            #expect(response.response.status == .ok && body == Array("ok".utf8))
            try await goOn(server, number + 1)
        }
        let requests = lines(server, "REQUEST POST")
        #expect(requests.count == 10)
        for number in 0..<10 {
            #expect(requests.contains { $0.hasSuffix("POST /\(number) HTTP/1.1 body \(number)") })
        }
        await engine.shutdown()
    }

    @Test(arguments: [true, false])
    func neverUsesAnUnsolicitedResponse(secure: Bool) async throws {
        let server = try await server("poison", secure: secure)
        let engine = try engine(http2: false)
        for number in 0..<5 {
            let (_, body) = try await engine.fetch(post(server, number, secure: secure))
            #expect(body == Array("ok".utf8))
            try await goOn(server, number + 1, secure: secure)
        }
        await engine.shutdown()
    }

    @Test(.features("002-32"), arguments: [true, false])
    func keepsAQuietConnection(secure: Bool) async throws {
        let server = try await server("quiet", secure: secure)
        let engine = try engine(http2: false)
        for number in 0..<5 {
            let (response, _) = try await engine.fetch(post(server, number, secure: secure))
            #expect(response.timings.reusedConnection == (number > 0))
        }
        #expect(lines(server, "READY").count == 1)
        await engine.shutdown()
    }

    /// The server reads all of the second request and ends, so that libcurl can't open another
    /// connection.
    @Test(arguments: [true, false])
    func takesNoReadRequestForUnsent(secure: Bool) async throws {
        let server = try await server("end_of_the_server", secure: secure)
        let engine = try engine(http2: false)
        #expect(await engine.failure(post(server, 0, secure: secure)) == nil)
        let error = await engine.failure(post(server, 1, secure: secure))
        #expect(error?.code == .cutOff, "\(error?.message ?? "")")
        await engine.shutdown()
    }

    /// The server's close is on its way when the request leaves.
    @Test func reportsACloseAfterTheRequest() async throws {
        let server = try await server("close_after_the_head")
        let engine = try engine(http2: false)
        _ = try await engine.fetch(post(server, 0))
        let error = await engine.failure(post(server, 1))
        #expect(error?.code == .cutOff)
        #expect(lines(server, "REQUEST ").count == 1)
        await engine.shutdown()
    }

    /// nginx ends an idle connection with close_notify and FIN.
    @Test(arguments: [false, true])
    func postsAfterNginxClosedAnIdleConnection(http2: Bool) async throws {
        let host = try await OrdersHost.start(
            directives: """
                keepalive_timeout 1s;
                location /plain { return 200 $connection; }
                location /status { stub_status; }
                """)
        let engine = try engine(http2: http2)
        var connections: Set<[UInt8]> = []
        for _ in 0..<3 {
            var request = get(host.port, "/plain")
            request.method = .post
            let (response, body) = try await engine.fetch(
                EngineRequest(request, body: Array("x".utf8)))
            #expect(response.response.status == .ok)
            connections.insert(body)
            try await waitUntilAlone(host)
        }
        #expect(connections.count == 3)
        await engine.shutdown()
    }

    /// Waits until nginx has no connection but the one that asks.
    private func waitUntilAlone(_ host: OrdersHost) async throws {
        for _ in 0..<600 {
            let other = try engine(http2: false)
            let (_, body) = try await other.fetch(EngineRequest(get(host.port, "/status")))
            await other.shutdown()
            if String(decoding: body, as: UTF8.self).hasPrefix("Active connections: 1 ") { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("nginx still has the connection after 600 looks")
    }

    /// libcurl counts the retries of a handle and never forgets them.
    @Test func retriesAsOftenAsConnectionsDie() async throws {
        let server = try await server("death")
        let engine = try engine(http2: false)
        for number in 0..<20 {
            let (response, _) = try await engine.fetch(
                EngineRequest(get(server.port, "/\(number)")))
            #expect(response.response.status == .ok)
        }
        #expect(lines(server, "DIED").count == 19)
        await engine.shutdown()
    }
}
