import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Servers that send a complete response before the request's body has ended, and read no more of
/// it. Without an early end, these calls would wait for their deadline, which is after the time
/// limit.
@Suite struct EarlyResponseTests {
    private static func head(_ fields: String) -> String {
        "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n"
    }

    /// The bytes that a server sends after a request's header, over HTTP/1.1.
    private static let complete = [
        head("Content-Length: 4") + "done",
        head("Transfer-Encoding: chunked") + "4\r\ndone\r\n0\r\n\r\n",
    ]

    private static func http1(
        _ response: String, tls: Bool = false, then end: [ServerStep] = []
    ) async throws -> ScriptedServer {
        try await ScriptedServer(
            [.say("CONNECTION"), .head, .send(response)] + end + [.stall],
            tls: tls ? TestAuthority.trusted.get().leaf : nil)
    }

    private static func request(
        _ port: Int, _ scheme: String, _ body: HTTPRequestBody, seconds: Int = 3600
    ) -> EngineRequest {
        var request = EngineRequest(get(port, scheme: scheme), body: body)
        request.request.method = .post
        request.timeout = .seconds(seconds)
        return request
    }

    private static func endless() -> Producer {
        Producer { _ in [UInt8](repeating: 1, count: 65_536) }
    }

    @Test(.timeLimit(.minutes(5)), arguments: complete.indices, [false, true])
    func endsWithTheResponseOverHTTP1(_ index: Int, _ tls: Bool) async throws {
        let server = try await Self.http1(Self.complete[index], tls: tls)
        let engine = try engine(http2: false)
        let scheme = tls ? "https" : "http"
        let producer = Self.endless()
        for body in [
            HTTPRequestBody([UInt8](repeating: 1, count: 40_000_000)), .stream(producer),
            .stream(length: 1 << 40, Producer { _ in [UInt8](repeating: 1, count: 65_536) }),
        ] {
            let (response, text) = try await engine.fetch(
                Self.request(server.port, scheme, body))
            #expect(response.response.status.code == 200)
            #expect(text == Array("done".utf8))
        }
        #expect(try await eventually { producer.log.hasEnded })
        // No connection was used twice.
        #expect(
            try await eventually {
                server.server.stdout.split(separator: "\n").count { $0 == "CONNECTION" } == 3
            })
        await engine.shutdown()
    }

    @Test(.timeLimit(.minutes(5))) func endsWithTheResponseOverHTTP2() async throws {
        let server = try await ScriptedServer.http2("response(stream, b'done', length=4)")
        let engine = try engine()
        let producer = Self.endless()
        for body in [HTTPRequestBody([UInt8](repeating: 1, count: 1_000_000)), .stream(producer)] {
            let (response, text) = try await engine.fetch(
                Self.request(server.port, "https", body))
            #expect(response.response.status.code == 200)
            #expect(text == Array("done".utf8))
        }
        #expect(try await eventually { producer.log.hasEnded })
        #expect(try await eventually { server.server.stdout.contains("RESET") })
        await engine.shutdown()
    }

    /// A source that waits does not keep the call.
    @Test(.timeLimit(.minutes(5))) func endsWithTheResponseIfTheSourceWaits() async throws {
        let server = try await Self.http1(Self.complete[0])
        let engine = try engine(http2: false)
        let (_, text) = try await engine.fetch(
            Self.request(
                server.port, "http", .stream(Producer.stalling(after: [[1], [2]]))))
        #expect(text == Array("done".utf8))
        await engine.shutdown()
    }

    private static let incomplete: [(String, [ServerStep])] = [
        (head("Content-Length: 5") + "done", []),
        (head("Transfer-Encoding: chunked") + "4\r\ndone\r\n", []),
        (head("Transfer-Encoding: chunked") + "4\r\ndone\r\n0\r\n", []),
        (head("A: b") + "done", []),
        (head("Content-Length: 5") + "done", [.fin]),
        (head("Transfer-Encoding: chunked") + "4\r\ndone\r\n", [.fin]),
    ]

    /// The error with which the body ends, of which the server sends `done`.
    private static func failure(
        of engine: CurlEngine, _ request: EngineRequest
    ) async throws -> TransportError? {
        let response = try await engine.send(request)
        #expect(response.response.status.code == 200)
        do throws(TransportError) {
            _ = try await response.body.collect()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: incomplete.indices)
    func refusesAnIncompleteResponseOverHTTP1(_ index: Int) async throws {
        let server = try await Self.http1(
            Self.incomplete[index].0, then: Self.incomplete[index].1)
        let engine = try engine(http2: false)
        let error = try await Self.failure(
            of: engine, Self.request(server.port, "http", .stream(Self.endless()), seconds: 5))
        #expect(error?.code == .timeout, "\(error?.message ?? "no error")")
        await engine.shutdown()
    }

    @Test func doesNotTakeAnInterimResponseForTheResponse() async throws {
        let server = try await Self.http1("HTTP/1.1 100 Continue\r\n\r\n")
        let engine = try engine(http2: false)
        let error = await engine.failure(
            Self.request(server.port, "http", .stream(Self.endless()), seconds: 5))
        #expect(error?.code == .timeout, "\(error?.message ?? "no error")")
        #expect(server.gotBytes)
        await engine.shutdown()
    }

    @Test(arguments: ["b'done', ends=False, length=5", "b'done', ends=False"])
    func refusesAnIncompleteResponseOverHTTP2(_ arguments: String) async throws {
        let server = try await ScriptedServer.http2("response(stream, \(arguments))")
        let engine = try engine()
        let error = try await Self.failure(
            of: engine, Self.request(server.port, "https", .stream(Self.endless()), seconds: 5))
        #expect(error?.code == .timeout, "\(error?.message ?? "no error")")
        await engine.shutdown()
    }
}
