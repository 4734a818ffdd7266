import HTTPTypes
import SignetCurl
import SignetPinning
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Server-sent events (WHATWG HTML, section 9.2): their lines, and the connections that carry them.
@Suite(.timeLimit(.minutes(2))) struct ServerEventTests {
    // MARK: Lines

    /// The examples of section 9.2.6, and what real servers send.
    @Test(arguments: [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", ["message|YHOO\n+2\n10|"]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
            ["message|first event|1", "message|second event|"]
        ),
        ("data\n\ndata\ndata\n\ndata:", ["message||", "message|\n|"]),
        ("data:test\n\ndata: test\n\n", ["message|test|", "message|test|"]),
        (
            "\u{FEFF}data: a\r\n\r\ndata: b\r\rdata: c\n\n",
            ["message|a|", "message|b|", "message|c|"]
        ),
        ("event: add\ndata: 1\n\nevent: remove\n\ndata: 2\n\n", ["add|1|", "message|2|"]),
        ("id: 7\n\ndata: x\n\n", ["message|x|7"]),
        ("id: a\0b\ndata: x\n\n", ["message|x|"]),
        ("Data: x\n\nunknown: y\n\n data: z\n\n", []),
        ("data: \u{FEFF}x\n\n", ["message|\u{FEFF}x|"]),
        ("data: x", []),
    ])
    func eventsAreReadAsTheStandardSays(_ text: String, _ wanted: [String]) throws {
        // In one piece, and byte by byte.
        for size in [text.utf8.count, 1] {
            var parser = ServerEventParser(limit: 1000)
            var found: [ServerEvent] = []
            let bytes = Array(text.utf8)
            var start = 0
            while start < bytes.count {
                found += try parser.push(Array(bytes[start..<min(start + size, bytes.count)]))
                start += size
            }
            #expect(found.map { "\($0.type)|\($0.data)|\($0.id)" } == wanted)
        }
    }

    @Test(arguments: [("retry: 10000\n", 10_000), ("retry: 1x\n", nil), ("retry:\n", nil)])
    func onlyDigitsAreAReconnectionTime(_ line: String, _ wanted: Int64?) throws {
        var parser = ServerEventParser(limit: 100)
        _ = try parser.push(Array(line.utf8))
        #expect(parser.retry == wanted)
    }

    @Test(arguments: [
        "data: " + String(repeating: "x", count: 200), ": " + String(repeating: "x", count: 200),
    ])
    func aLineBeyondTheLimitIsAnError(_ line: String) {
        var parser = ServerEventParser(limit: 100)
        let error = #expect(throws: ClientError.self) { try parser.push(Array(line.utf8)) }
        #expect(error?.code == .responseTooLarge)
    }

    @Test func anEventBeyondTheLimitIsAnError() {
        var parser = ServerEventParser(limit: 100)
        let lines = String(repeating: "data: xxxxxxxxx\n", count: 11)
        #expect(throws: ClientError.self) { try parser.push(Array(lines.utf8)) }
    }

    // MARK: Connections

    private static let type: HTTPFields = [.contentType: "text/event-stream; charset=utf-8"]

    private static func system(
        _ responses: [RecordingEngine.Response], pauses: InterceptorTests.Notes = .init()
    ) async throws -> (NetworkSystem, RecordingEngine) {
        let engine = RecordingEngine(responses: responses)
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { pauses.add("\($0)") }
        } changeService: {
            $0.attempts = 1
        }
        return (system, engine)
    }

    /// After each connection the next one asks for what follows, until the server says 204.
    @Test func anEndedConnectionIsContinued() async throws {
        let pauses = InterceptorTests.Notes()
        let (system, engine) = try await Self.system(
            [
                .init(body: "id: 1\ndata: a\n\nretry: 20\n\ndata: lost", fields: Self.type),
                .init(failure: TransportError(.connect, "down")),
                .init(body: "data: b\n\nid: 2\ndata: c\n\n", fields: Self.type),
                .init(status: 204, body: ""),
            ], pauses: pauses)
        var found: [String] = []
        for try await event in system.serverEvents(of: .get("/events", on: "a")) {
            found.append("\(event.data)\(event.id)")
        }
        #expect(found == ["a1", "b1", "c2"])
        let ids = engine.requests.map { $0.request.headerFields[.init("Last-Event-ID")!] }
        #expect(ids == [nil, "1", "1", "2"])
        #expect(pauses.all == Array(repeating: "\(Duration.milliseconds(20))", count: 3))
        let first = engine.requests[0].request.headerFields
        #expect(first[.accept] == "text/event-stream" && first[.cacheControl] == "no-store")
        await system.shutdown()
    }

    /// A server that cuts each connection off within an event: what was whole is delivered, and the
    /// next connection asks for what follows.
    @Test func aConnectionThatIsCutIsContinued() async throws {
        let authority = try TestAuthority.trusted.get()
        // The pieces of one event, as chunks of HTTP/1.1 (RFC 9112, section 7.1).
        let chunks = ["retry: 1\nid: 7\nda", "ta: tea\n", "\n", "data: lost"]
        let body = chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }
        let (server, port) = try await SocketServer.start(
            [
                .head,
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n"),
            ] + body.map { .send($0) }, tls: authority.leaf)
        var options = NetworkSystem.Options()
        options.caFile = authority.caFile
        options.engineSettings = EngineSettings()
        options.engineSettings?.offersHTTP2 = false
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://localhost:\(port)", payloadProtocol: .rest)
            ], policy: .allowingAll(), options: options)
        var found: [String] = []
        for try await event in system.serverEvents(of: .get("/events", on: "a")) {
            found.append("\(event.data)\(event.id)")
            if found.count == 3 { break }
        }
        #expect(found == ["tea7", "tea7", "tea7"])
        await system.shutdown()
        let heads = server.received.map { String(decoding: $0, as: UTF8.self).lowercased() }
        #expect(heads.count >= 3 && heads.allSatisfy { $0.contains("get /events http/1.1") })
        #expect(heads.first?.contains("last-event-id") == false)
        #expect(heads.dropFirst().allSatisfy { $0.contains("\r\nlast-event-id: 7\r\n") })
    }

    @Test(arguments: [
        (RecordingEngine.Response(status: 500, body: "{}"), ClientError.Code.httpStatus),
        (.init(status: 200, body: "data: x\n\n"), .malformedResponse),
        (
            .init(status: 200, body: "data: x\n\n", fields: [.contentType: "text/event-streams"]),
            .malformedResponse
        ),
        (.init(failure: TransportError(.tls, "no")), .tls),
    ])
    func aRefusalEndsThem(
        _ response: RecordingEngine.Response, _ code: ClientError.Code
    ) async throws {
        let (system, engine) = try await Self.system([response])
        let found = await Pipeline.code { () async throws(ClientError) in
            for try await _ in system.serverEvents(of: .get("/events", on: "a")) {}
        }
        #expect(found == code && engine.count == 1)
        await system.shutdown()
    }

    @Test func failuresInARowHaveALimit() async throws {
        let (system, engine) = try await Self.system([
            .init(failure: TransportError(.connect, "down"))
        ])
        var events = system.serverEvents(of: .get("/events", on: "a"))
        events.maximumFailures = 3
        let given = events
        let code = await Pipeline.code { () async throws(ClientError) in
            for try await _ in given {}
        }
        #expect(code == .connect && engine.count == 3)
        await system.shutdown()
    }

    /// A connection that the server accepts and that brings no event hasn't failed.
    @Test func aQuietConnectionIsNoFailure() async throws {
        let quiet = RecordingEngine.Response(body: ": nothing new\n\n", fields: Self.type)
        let down = RecordingEngine.Response(failure: TransportError(.connect, "down"))
        let (system, engine) = try await Self.system([
            down, quiet, down, quiet, down, .init(status: 204, body: ""),
        ])
        var events = system.serverEvents(of: .get("/events", on: "a"))
        events.maximumFailures = 2
        for try await _ in events {}
        #expect(engine.count == 6)
        await system.shutdown()
    }

    /// Hands each response out in pieces.
    private final class Pieces: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "pieces", pinsPublicKeys: true, speaksHTTP2: false)
        let rest: Mutex<[[String]]>
        let count = Mutex(0)

        init(_ responses: [[String]]) { rest = Mutex(responses) }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            count.withLock { $0 += 1 }
            let pieces = Mutex(rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
            let body = HTTPResponseBody { () async throws(TransportError) -> [UInt8]? in
                pieces.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) }
            }
            return EngineResponse(
                response: HTTPResponse(status: .ok, headerFields: ServerEventTests.type),
                body: body, httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    /// A connection ends at the limit of a response. Only one without an event is an error.
    @Test func aLongStreamIsContinued() async throws {
        let long = String(repeating: "x", count: 90)
        let engine = Pieces([["id: 1\ndata: a\n\n", ": \(long)"], [": ", long]])
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in }
        } changeService: {
            $0.attempts = 1
        }
        var options = RequestOptions()
        options.maximumResponseSize = 80
        var found: [String] = []
        let events = system.serverEvents(of: .get("/events", on: "a"), options: options)
        let code = await Pipeline.code { () async throws(ClientError) in
            for try await event in events { found.append(event.data) }
        }
        #expect(found == ["a"] && code == .responseTooLarge)
        #expect(engine.count.withLock { $0 } == 2)
        await system.shutdown()
    }

    @Test func aStreamCannotAskForALongPause() async throws {
        let pauses = InterceptorTests.Notes()
        let (system, _) = try await Self.system(
            [
                .init(body: "retry: 9999999999999\n\n", fields: Self.type),
                .init(status: 204, body: ""),
            ], pauses: pauses)
        for try await _ in system.serverEvents(of: .get("/events", on: "a")) {}
        #expect(pauses.all == ["\(Duration.seconds(300))"])
        await system.shutdown()
    }

    @Test func aShutdownEndsThem() async throws {
        let (system, _) = try await Self.system([
            .init(body: "data: a\n\n", fields: Self.type)
        ])
        var events = system.serverEvents(of: .get("/events", on: "a")).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        await system.shutdown()
        let error = await #expect(throws: ClientError.self) {
            while try await events.next() != nil {}
        }
        #expect(error?.code == .notRunning)
    }
}
