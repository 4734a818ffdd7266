import HTTPTypes
import InMemoryTracing
import SignetAsyncHTTPClient
import SignetClient
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing
import Tracing

/// The engine on async-http-client: requests, bodies, limits and shutdown.
@Suite struct AsyncHTTPClientEngineTests {
    /// A server that reads and prints a request, and then does what the steps say.
    private static func server(
        _ steps: ServerStep..., tls: TestAuthority.Certificate? = nil
    ) async throws -> (server: ServerProcess, port: Int) {
        try await SocketServer.start([.request] + steps, tls: tls)
    }

    /// The first request that arrived.
    private static func got(_ server: ServerProcess) throws -> String {
        text(try #require(server.received.first))
    }

    private static func request(
        _ port: Int, _ path: String = "/", method: HTTPRequest.Method = .get,
        scheme: String = "http", body: HTTPRequestBody = []
    ) -> EngineRequest {
        EngineRequest(
            HTTPRequest(
                method: method, scheme: scheme,
                authority: "\(scheme == "http" ? "127.0.0.1" : "localhost"):\(port)", path: path),
            body: body, timeout: .seconds(300))
    }

    /// The code of a call that fails, in its response's header or body.
    private static func code(
        _ engine: AsyncHTTPClientEngine, _ request: EngineRequest
    ) async -> TransportError.Code? {
        do throws(TransportError) {
            _ = try await engine.send(request).body.collect()
            return nil
        } catch {
            return error.code
        }
    }

    private static let ok = ServerStep.send(
        "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 5\r\n\r\nhello")

    @Test(.features("000-44", "002-12")) func itSendsAndReceives() async throws {
        let (server, port) = try await Self.server(Self.ok)
        let engine = try AsyncHTTPClientEngine()
        var request = Self.request(
            port, "/a%20b?c=%2F", method: .post, body: HTTPRequestBody([1, 2, 3]))
        request.request.headerFields[.accept] = "text/plain"
        let response = try await engine.send(request)
        #expect(response.response.status.code == 200)
        #expect(response.response.headerFields[try #require(.init("A"))] == "1")
        #expect(response.httpVersion == .init(major: 1, minor: 1))
        #expect(try await response.body.collect() == Array("hello".utf8))
        #expect(response.finalTimings.total >= response.timings.firstByte)
        let got = try Self.got(server)
        #expect(got.hasPrefix("POST /a%20b?c=%2F HTTP/1.1\r\n"))
        #expect(got.hasSuffix("\r\n\r\n\u{1}\u{2}\u{3}"))
        #expect(!engine.capabilities.pinsPublicKeys)
        await engine.shutdown()
    }

    @Test(arguments: [Int64?.some(300_000), nil]) func itStreamsARequestsBody(_ length: Int64?)
        async throws
    {
        let (server, port) = try await SocketServer.start("uploads", ["mirror"])
        let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
        for _ in 0..<30 { producer.yield([UInt8](repeating: 7, count: 10_000)) }
        producer.finish()
        let engine = try AsyncHTTPClientEngine()
        let body = HTTPRequestBody.stream(length: length, chunks)
        let response = try await engine.send(Self.request(port, method: .put, body: body))
        #expect(response.response.status == .ok)
        _ = try await response.body.collect(limit: 1 << 20)
        let sent = try #require(server.lines("BODY").first)
        #expect(sent.hasPrefix("300000 ") && sent.hasSuffix(" whole"))
        await engine.shutdown()
    }

    @Test(arguments: [4, 6]) func aBodyOfAnotherLengthIsRefused(_ length: Int64) async throws {
        let (server, port) = try await SocketServer.start([.hello, .stall])
        let engine = try AsyncHTTPClientEngine()
        let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
        producer.yield([1, 2, 3, 4, 5])
        producer.finish()
        let body = HTTPRequestBody.stream(length: length, chunks)
        #expect(
            await Self.code(engine, Self.request(port, method: .put, body: body)) == .bodyLength)
        await engine.shutdown()
        try await server.stop()
    }

    @Test func itReceivesOnlyAsFastAsTheBodyIsRead() async throws {
        let (server, port) = try await Self.server(
            .send("HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n"),
            .send("x", times: 8_000_000))
        var settings = AsyncHTTPClientEngine.Configuration()
        settings.bodyBufferSize = 1000
        let engine = try AsyncHTTPClientEngine(settings)
        var count = 0
        for try await chunk in try await engine.send(Self.request(port)).body {
            count += chunk.count
            await Task.yield()
        }
        #expect(count == 8_000_000)
        await engine.shutdown()
        try await server.stop()
    }

    // MARK: Errors and limits

    private static let responses: [([ServerStep], TransportError.Code)] = [
        ([], .cutOff),
        ([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")], .cutOff),
        ([.send("<html>hello</html>\r\n\r\n")], .malformedResponse),
        (
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000001\r\n\r\n"), .stall],
            .responseTooLarge
        ),
        (
            [.send("HTTP/1.1 200 OK\r\n\r\n"), .send("x", times: 1_100_000)], .responseTooLarge
        ),
        ([.stall], .timeout),
        ([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .stall], .timeout),
    ]

    @Test(arguments: responses.indices) func namesTheFailure(_ index: Int) async throws {
        let (steps, code) = Self.responses[index]
        let (server, port) = try await SocketServer.start([.request] + steps)
        let engine = try AsyncHTTPClientEngine()
        var request = Self.request(port)
        request.maximumBodySize = 1_000_000
        if code == .timeout { request.timeout = .milliseconds(200) }
        #expect(await Self.code(engine, request) == code)
        await engine.shutdown()
        try await server.stop()
    }

    @Test func namesFailuresBeforeTheRequest() async throws {
        let engine = try AsyncHTTPClientEngine()
        #expect(await Self.code(engine, Self.request(freePort())) == .connect)
        let (server, port) = try await Self.server(
            Self.ok, tls: try TestAuthority.trusted.get().leaf)
        // The machine's CAs don't know this one.
        #expect(await Self.code(engine, Self.request(port, scheme: "https")) == .tls)
        #expect(!server.stdout.contains("GOT"))
        var trusting = Self.request(port, scheme: "https")
        trusting.caFile = try TestAuthority.trusted.get().caFile
        #expect(await Self.code(engine, trusting) == nil)
        trusting.caFile = "/nowhere.pem"
        #expect(await Self.code(engine, trusting) == .trustStore)
        await engine.shutdown()
        #expect(await Self.code(engine, Self.request(port)) == .notRunning)
        var settings = AsyncHTTPClientEngine.Configuration()
        settings.caFile = "/nowhere.pem"
        let error = #expect(throws: TransportError.self) { try AsyncHTTPClientEngine(settings) }
        #expect(error?.code == .trustStore)
    }

    @Test(arguments: [true, false]) func aCallEndsOnce(_ isCancelled: Bool) async throws {
        let (server, port) = try await Self.server(.stall)
        let engine = try AsyncHTTPClientEngine()
        let call = Task { await Self.code(engine, Self.request(port)) }
        #expect(try await eventually { server.stdout.contains("GOT") })
        if isCancelled { call.cancel() } else { await engine.shutdown() }
        #expect(await call.value == (isCancelled ? .cancelled : .notRunning))
        await engine.shutdown()
    }

    /// The tracer that the process has from here on; it can be set only once.
    private static let tracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    @Test func itAddsNothingOfATracer() async throws {
        let (server, port) = try await Self.server(Self.ok)
        let tracer = Self.tracer
        let engine = try AsyncHTTPClientEngine()
        let response = try await tracer.withSpan("program") { _ in
            try await engine.send(Self.request(port, "/?secret=1"))
        }
        #expect(try await response.body.collect() == Array("hello".utf8))
        let fields = try Self.got(server).split(separator: "\r\n").dropFirst().map {
            $0.prefix { $0 != ":" }.lowercased()
        }
        #expect(fields == ["host"])
        // The tests of metrics make spans in this process too.
        let program = try #require(
            tracer.finishedSpans.first { $0.operationName == "program" })
        #expect(tracer.finishedSpans.filter { $0.traceID == program.traceID }.count == 1)
        await engine.shutdown()
    }

    // MARK: What it can't do

    @Test(arguments: [
        "proxy", "connect-to", "target", "trailers", "connect-timeout", "CONNECT *", "Host",
        "Proxy-Authorization", "Content-Length", "Upgrade",
    ])
    func refusesUnsupportedRequests(_ what: String) async throws {
        let (server, port) = try await Self.server(Self.ok)
        let engine = try AsyncHTTPClientEngine()
        var request = Self.request(port)
        switch what {
        case "proxy": request.proxy = try Proxy(parsing: "http://127.0.0.1:\(port)")
        case "connect-to": request.connectTo = [try .init(parsing: "::127.0.0.1:\(port)")]
        case "target": request.request.path = "/a b"
        case "connect-timeout": request.connectTimeout = .seconds(1)
        case "trailers": request.body = HTTPRequestBody([1]).withTrailers { [:] }
        case "CONNECT *": request.request.path = "*"
        default: request.request.headerFields[try #require(.init(what))] = "x"
        }
        #expect(
            await Self.code(engine, request)
                == (what == "trailers" ? .unsupportedTrailers : .invalidRequest))
        #expect(!server.stdout.contains("GOT"))
        await engine.shutdown()
    }

    /// No caller set a time for connecting, and the engine's is longer than most engines'.
    @Test func itsOwnTimeForConnectingHolds() async throws {
        let (server, port) = try await Self.server(Self.ok)
        var settings = AsyncHTTPClientEngine.Configuration()
        settings.connectTimeout = .seconds(60)
        let engine = try AsyncHTTPClientEngine(settings)
        #expect(await Self.code(engine, Self.request(port)) == nil)
        await engine.shutdown()
        try await server.stop()
    }

    @Test(.features("000-44"), arguments: [true, false])
    func nothingIsSentToAPinnedHost(_ throughSystem: Bool) async throws {
        let authority = try TestAuthority.trusted.get()
        let (server, port) = try await Self.server(Self.ok, tls: authority.leaf)
        var settings = AsyncHTTPClientEngine.Configuration()
        settings.caFile = authority.caFile
        let engine = try AsyncHTTPClientEngine(settings)
        let policy = try PinPolicy(rules: [
            PinRule(
                host: "localhost",
                pins: [Pin(parsing: authority.root.pin), Pin(parsing: authority.leaf.pin)])
        ])
        if throughSystem {
            var options = NetworkSystem.Options()
            options.engines["nio"] = engine
            options.callOptions.engine = EngineChoice("nio")
            let system = try await NetworkSystem.start(
                services: [
                    "a": ServiceConfiguration(
                        baseURL: "https://localhost:\(port)/", payloadProtocol: .rest)
                ], policy: policy, options: options)
            let error = await #expect(throws: ClientError.self) {
                try await system.call(RESTRequest(.get, "/"), on: "a")
            }
            #expect(error?.code == .engineCannotPin)
            await system.shutdown()
        } else {
            var request = Self.request(port, scheme: "https")
            request.policy = policy
            #expect(await Self.code(engine, request) == .invalidRequest)
            await engine.shutdown()
        }
        #expect(!server.stdout.contains("GOT"))
    }

    @Test func itSendsForASystemWhereNothingIsPinned() async throws {
        let (server, port) = try await Self.server(.ok("7"))
        var options = NetworkSystem.Options()
        options.engines["nio"] = try AsyncHTTPClientEngine()
        options.callOptions.engine = EngineChoice("nio")
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "http://127.0.0.1:\(port)/", payloadProtocol: .rest)
            ], policy: PinPolicy(rules: [], unlisted: .allow), options: options)
        let response = try await system.call(RESTRequest(.get, "/"), on: "a")
        #expect(response.status == 200)
        await system.shutdown()
        try await server.stop()
    }
}
