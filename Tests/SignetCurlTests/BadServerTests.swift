import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Servers that stall, cut the connection, send slowly or send garbage, and callers that cancel
/// their calls.
@Suite struct BadServerTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let responses: [(String, [ServerStep], TransportError.Code)] = [
        ("nothing", [], .cutOff),
        ("half a header", [.send(ok + "A: b")], .cutOff),
        ("half a body", [.send(ok + "Content-Length: 10\r\n\r\nabc")], .cutOff),
        ("half a chunk", [.send(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nab")], .cutOff),
        ("garbage", [.send(everyByte, times: 8)], .malformedResponse),
        ("HTTP/0.9", [.send("<html>hello</html>")], .malformedResponse),
        ("a banner", [.send("220 smtp.example ESMTP\r\n")], .malformedResponse),
        (
            "a field that is none", [.send(ok + "A b: c\r\nContent-Length: 0\r\n\r\n")],
            .malformedResponse
        ),
        (
            "an upgrade", [.send("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nrest")],
            .malformedResponse
        ),
        (
            "endless fields",
            [.send(ok), .flood("A: \(String(repeating: "b", count: 100))\r\n")], .responseTooLarge
        ),
        ("one endless field", [.send(ok + "A: "), .flood("b")], .responseTooLarge),
        (
            "endless interim responses", [.flood("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")],
            .responseTooLarge
        ),
        (
            "a body that says it is too large",
            [.send(ok + "Content-Length: 1000001\r\n\r\n"), .stall], .responseTooLarge
        ),
        (
            "a body that becomes too large", [.send(ok + "\r\n"), .flood("x")], .responseTooLarge
        ),
        ("a stall", [.stall], .timeout),
        ("a stalled body", [.send(ok + "Content-Length: 10\r\n\r\nabc"), .stall], .timeout),
        ("a drip", [.send(ok + "Content-Length: 10000\r\n\r\n"), .drip("x")], .timeout),
    ]

    @Test(.features("002-10"), arguments: responses.indices)
    func namesTheFailure(_ index: Int) async throws {
        let (name, behaviour, code) = Self.responses[index]
        for leaf in [nil, try TestAuthority.trusted.get().leaf] {
            let server = try await ScriptedServer([.head] + behaviour, tls: leaf)
            let engine = try engine(http2: false)
            var request = EngineRequest(get(server.port, scheme: leaf == nil ? "http" : "https"))
            request.timeout = code == .timeout ? .seconds(1) : .seconds(300)
            request.maximumBodySize = 1_000_000
            let error = await engine.failure(request)
            #expect(error?.code == code, "\(name): \(error?.message ?? "no error")")
            await engine.shutdown()
        }
    }

    /// The fields of HTTPTypes end a program that gives them more than 65,534.
    @Test func limitsTheFieldsEvenWithoutALimit() async throws {
        let server = try await ScriptedServer([
            .head, .send(Self.ok), .send("A:\r\n", times: 70_000),
            .send("Content-Length: 0\r\n\r\n"),
        ])
        var settings = EngineSettings()
        settings.maximumHeaderFields = .max
        settings.maximumHeaderSize = 1 << 20
        let engine = try CurlEngine(settings)
        let error = await engine.failure(EngineRequest(get(server.port, scheme: "http")))
        #expect(error?.code == .responseTooLarge)
        await engine.shutdown()
    }

    @Test func acceptsInterimResponsesAndTrailers() async throws {
        let server = try await ScriptedServer([
            .head, .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\n\n"),
            .send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n y\r\n\r\nHTTP/1.1 100 \r\nB: 2\r\n\r\n"),
            .send("HTTP/1.1 200 Fine\r\nA: 1\r\na: 2\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .send("2\r\nab\r\n1\r\nc\r\n0\r\nTrailer-Field: t\r\n\r\n"),
        ])
        let engine = try engine()
        let (response, body) = try await engine.fetch(
            EngineRequest(get(server.port, scheme: "http")))
        #expect(response.response.status.code == 200)
        #expect(response.response.status.reasonPhrase == "Fine")
        #expect(response.response.headerFields[values: try #require(.init("A"))] == ["1", "2"])
        #expect(response.response.headerFields[try #require(.init("Link"))] == nil)
        #expect(response.interim.map(\.status.code) == [102, 103])
        let link = try #require(HTTPField.Name("Link"))
        #expect(response.interim.last?.headerFields == [link: "x y"])
        #expect(body == Array("abc".utf8))
        await engine.shutdown()
    }

    @Test(.features("002-10")) func namesFailuresBeforeTheRequest() async throws {
        let engine = try engine()
        #expect(await engine.failure(EngineRequest(get(freePort())))?.code == .connect)
        var nowhere = EngineRequest(get(443, host: "nowhere.invalid"))
        nowhere.timeout = .seconds(5)
        let error = await engine.failure(nowhere)
        #expect(error?.code == .unresolvedHost || error?.code == .timeout)
        let plain = try await ScriptedServer([.send(Self.ok + "\r\n")])
        #expect(await engine.failure(EngineRequest(get(plain.port)))?.code == .tls)
        let silent = try await ScriptedServer([.stall])
        var request = EngineRequest(get(silent.port))
        request.timeout = .milliseconds(300)
        #expect(await engine.failure(request)?.code == .timeout)
        request.timeout = .seconds(30)
        request.connectTimeout = .milliseconds(300)
        #expect(await engine.failure(request)?.code == .timeout)
        await engine.shutdown()
    }

    /// The second call waits for the connection that the first one opens.
    @Test func endsInTimeWhileAnotherHandshakeStalls() async throws {
        let server = try await ScriptedServer([.hello, .say("HELLO"), .stall])
        let engine = try engine()
        var request = EngineRequest(get(server.port))
        request.timeout = .seconds(30)
        request.connectTimeout = .seconds(30)
        let first = request
        let stalled = Task { await engine.failure(first) }
        #expect(try await eventually { server.server.stdout.contains("HELLO") })
        request.timeout = .milliseconds(300)
        #expect(await engine.failure(request)?.code == .timeout)
        // The first call is still under way.
        stalled.cancel()
        #expect(await stalled.value?.code == .cancelled)
        await engine.shutdown()
    }

    /// A TLS 1.2 server that responds to the ClientHello with HelloRequests without end: OpenSSL
    /// reads them all before SSL_connect returns, and libcurl's own timeouts wait for it.
    @Test func survivesAFloodOfHandshakeRecords() async throws {
        let server = try await ScriptedServer([
            .hello, .flood("\u{16}\u{3}\u{3}\0\u{4}\0\0\0\0"),
        ])
        let engine = try engine()
        var request = EngineRequest(get(server.port))
        request.timeout = .seconds(1)
        // Without our limit, the flood would keep this call running without end.
        let error = await engine.failure(request)
        #expect(error?.code == .timeout || error?.code == .tls, "\(error?.message ?? "")")
        let good = try await OpenSSLServer(TestAuthority.trusted.get().identity)
        #expect(await engine.failure(EngineRequest(get(good.port))) == nil)
        await engine.shutdown()
    }

    @Test(.features("001-06", "004-07")) func endsACancelledCallAtOnce() async throws {
        let server = try await ScriptedServer([.head, .stall])
        let engine = try engine()
        let port = server.port
        let calls = (0..<20).map { _ in
            Task { await engine.failure(EngineRequest(get(port, scheme: "http"))) }
        }
        #expect(try await eventually { server.gotBytes })
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.value?.code == .cancelled) }
        let gate = AsyncStream.makeStream(of: Void.self)
        let early = Task {
            for await _ in gate.stream { break }
            return await engine.failure(EngineRequest(get(port, scheme: "http")))
        }
        early.cancel()
        gate.continuation.finish()
        #expect(await early.value?.code == .cancelled)
        await engine.shutdown()
    }

    @Test func endsABodyWhoseReaderIsCancelled() async throws {
        let server = try await ScriptedServer([
            .head, .send(Self.ok + "Content-Length: 10\r\n\r\nabc"), .stall,
        ])
        let engine = try engine()
        let response = try await engine.send(EngineRequest(get(server.port, scheme: "http")))
        let reader = Task { try await response.body.collect() }
        reader.cancel()
        let error = await #expect(throws: TransportError.self) { try await reader.value }
        #expect(error?.code == .cancelled)
        await engine.shutdown()
    }

    @Test func endsEveryCallAtShutdown() async throws {
        let server = try await ScriptedServer([.head, .stall])
        let engine = try engine()
        let port = server.port
        let calls = (0..<100).map { index in
            Task {
                await engine.failure(
                    EngineRequest(get(port, scheme: index % 2 == 0 ? "http" : "https")))
            }
        }
        #expect(try await eventually { server.gotBytes })
        await engine.shutdown()
        for call in calls { #expect(await call.value?.code == .notRunning) }
        #expect(await engine.failure(EngineRequest(get(port)))?.code == .notRunning)
        await engine.shutdown()
    }

    @Test func endsCallsCancelledAtRandomMoments() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'hello'; }")
        let engine = try engine()
        let port = host.port
        let ended = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let call = Task {
                        await engine.failure(EngineRequest(get(port, "/plain")))
                    }
                    for _ in 0..<(index % 37) { await Task.yield() }
                    if index % 3 != 0 { call.cancel() }
                    let error = await call.value
                    return error == nil || (index % 3 != 0 && error?.code == .cancelled)
                }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(ended)
        #expect(await engine.failure(EngineRequest(get(port, "/plain"))) == nil)
        await engine.shutdown()
    }
}
