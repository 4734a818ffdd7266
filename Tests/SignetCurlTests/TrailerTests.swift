import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Trailers of responses and requests, over HTTP/1.1 and HTTP/2.
@Suite struct TrailerTests {
    private let one = HTTPField.Name("X-One")!
    private let two = HTTPField.Name("X-Two")!

    // MARK: Responses

    /// A server whose chunked response ends with these lines.
    private func server(
        _ trailers: String, times: Int = 1, of body: String = "3\r\nabc\r\n"
    ) async throws -> ScriptedServer {
        let head = "HTTP/1.1 200 OK\r\nX-One: head\r\nTransfer-Encoding: chunked\r\n\r\n"
        return try await ScriptedServer([
            .head, .send(head + body + "0\r\n"), .send(trailers, times: times), .send("\r\n"),
            .stall,
        ])
    }

    @Test func arriveAfterTheBodyOverHTTP1() async throws {
        let server = try await server("X-One: 1\r\nX-Two: 2\r\nx-one:3\r\n")
        let engine = try engine()
        let response = try await engine.send(EngineRequest(get(server.port, scheme: "http")))
        #expect(try await response.body.collect() == Array("abc".utf8))
        #expect(response.trailers?[values: one] == ["1", "3"])
        #expect(response.trailers?[values: two] == ["2"])
        #expect(response.response.headerFields[values: one] == ["head"])
        #expect(response.response.headerFields[two] == nil)
        await engine.shutdown()
    }

    @Test func arriveAfterTheBodyOverHTTP2() async throws {
        let server = try await ScriptedServer.http2(
            "response(stream, b'abc', ends=False) + frame(1, 5, stream,"
                + " literal(b'x-one', b'1') + literal(b'x-two', b'2') + literal(b'x-one', b'3'))")
        let engine = try engine()
        let (response, body) = try await engine.fetch(EngineRequest(get(server.port)))
        #expect(body == Array("abc".utf8) && response.httpVersion.major == 2)
        #expect(response.trailers?[values: one] == ["1", "3"])
        #expect(response.trailers?[values: two] == ["2"])
        #expect(response.response.headerFields[one] == nil)
        await engine.shutdown()
    }

    @Test(arguments: ["3\r\nabc\r\n", ""])
    func areMissingIfTheServerSendsNone(_ body: String) async throws {
        let server = try await server("", of: body)
        let engine = try engine()
        let (response, _) = try await engine.fetch(
            EngineRequest(get(server.port, scheme: "http")))
        #expect(response.trailers == nil)
        await engine.shutdown()
    }

    @Test func leaveOutForbiddenTrailers() async throws {
        let server = try await server(
            "Content-Length: 9\r\nContent-Type: a/b\r\nSet-Cookie: a=b\r\n"
                + "Authorization: Basic eDp5\r\nTransfer-Encoding: gzip\r\nLocation: /x\r\n"
                + "Content-Digest: sha-256=:AA==:\r\n")
        let engine = try engine()
        let (response, body) = try await engine.fetch(
            EngineRequest(get(server.port, scheme: "http")))
        #expect(body == Array("abc".utf8))
        #expect(response.trailers?.map(\.name.canonicalName) == ["content-digest"])
        #expect(response.response.headerFields.count == 2)
        await engine.shutdown()
    }

    @Test(arguments: [
        ("A: b\r\n", 300, TransportError.Code.responseTooLarge),
        ("A: \(String(repeating: "x", count: 1000))\r\n", 100, .responseTooLarge),
        ("no colon\r\n", 1, .malformedResponse), ("A b: c\r\n", 1, .malformedResponse),
        ("A: b\u{1}c\r\n", 1, .malformedResponse),
    ])
    func refusesATrailerSection(_ line: String, times: Int, _ code: TransportError.Code)
        async throws
    {
        let server = try await server(line, times: times)
        let engine = try engine()
        let error = await engine.failure(EngineRequest(get(server.port, scheme: "http")))
        #expect(error?.code == code, "\(error?.message ?? "no error")")
        await engine.shutdown()
    }

    @Test func endBeforeTheirEmptyLineIsACutOff() async throws {
        let server = try await ScriptedServer([
            .head, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n"),
        ])
        let engine = try engine()
        let error = await engine.failure(EngineRequest(get(server.port, scheme: "http")))
        #expect(error?.code == .cutOff, "\(error?.message ?? "no error")")
        await engine.shutdown()
    }

    // MARK: Requests

    private func request(_ server: ScriptedServer, _ body: HTTPRequestBody, scheme: String = "http")
        -> EngineRequest
    {
        var request = EngineRequest(get(server.port, scheme: scheme), body: body)
        request.request.method = .post
        request.timeout = .seconds(300)
        return request
    }

    private func whole(_ server: ScriptedServer) -> [Substring] {
        server.server.stdout.split(separator: "\n").filter { $0.hasPrefix("WHOLE ") }
    }

    @Test(arguments: [false, true])
    func areSentOverHTTP1(_ isStream: Bool) async throws {
        let server = try await ScriptedServer("chunked-requests")
        let engine = try engine(http2: false)
        let plain: HTTPRequestBody =
            isStream ? .stream(Producer.of([[0x61], [0x62]])) : HTTPRequestBody([0x61, 0x62])
        let (one, two) = (one, two)
        let body = plain.withTrailers { [one: "1", two: ""] }
        #expect(try await engine.fetch(request(server, body)).body == Array("ok".utf8))
        // The next request has none, with any handle and connection.
        _ = try await engine.fetch(request(server, .stream(Producer.of([[0x63]]))))
        #expect(try await eventually { whole(server).count == 2 })
        let texts = whole(server)
        #expect(texts.first?.lowercased().contains("transfer-encoding: chunked|") == true)
        #expect(texts.first?.lowercased().contains("content-length") == false)
        #expect(texts.first?.contains("|0|X-One: 1|X-Two: ") == true)
        #expect(texts.last?.hasSuffix("|1|c|0||") == true)
        await engine.shutdown()
    }

    @Test func noFieldsAreNoTrailers() async throws {
        let server = try await ScriptedServer("chunked-requests")
        let engine = try engine(http2: false)
        let body = HTTPRequestBody([0x61]).withTrailers { [:] }
        _ = try await engine.fetch(request(server, body))
        #expect(try await eventually { whole(server).first?.hasSuffix("|1|a|0||") == true })
        await engine.shutdown()
    }

    struct Broken: Error {}

    @Test(arguments: ["forbidden", "broken", "large"])
    func neverCompletesABodyWithWrongTrailers(_ kind: String) async throws {
        let server = try await ScriptedServer("chunked-requests")
        let engine = try engine(http2: false)
        let one = one
        let body = HTTPRequestBody([0x61]).withTrailers {
            switch kind {
            case "forbidden": [.contentLength: "1"]
            case "large": [one: String(repeating: "x", count: 40_000)]
            default: throw Broken()
            }
        }
        let error = await engine.failure(request(server, body))
        #expect(error?.code == (kind == "broken" ? .bodyFailed : .invalidRequest))
        #expect(whole(server).isEmpty)
        await engine.shutdown()
    }

    @Test func areRefusedOverHTTP2BeforeTheRequestLeaves() async throws {
        let server = try await ScriptedServer.http2("response(stream, b'ok', length=2)")
        let engine = try engine()
        let producer = Producer.of([[1]])
        let one = one
        let body = HTTPRequestBody.stream(producer).withTrailers { [one: "1"] }
        let error = await engine.failure(request(server, body, scheme: "https"))
        #expect(error?.code == .unsupportedTrailers)
        #expect(error?.message.contains("HTTP/2") == true)
        #expect(producer.log.asked == 0)
        // Others are not affected.
        let (_, text) = try await engine.fetch(request(server, [1], scheme: "https"))
        #expect(text == Array("ok".utf8))
        #expect(server.server.stdout.split(separator: "\n").count { $0 == "REQUEST" } == 1)
        await engine.shutdown()
    }

    @Test func mayBeAnnounced() async throws {
        let server = try await ScriptedServer("chunked-requests")
        let engine = try engine(http2: false)
        let one = one
        var announced = request(server, HTTPRequestBody([1]).withTrailers { [one: "1"] })
        announced.request.headerFields[.trailer] = "X-One"
        #expect(await engine.failure(announced) == nil)
        announced.body = HTTPRequestBody([1])
        #expect(await engine.failure(announced)?.code == .invalidRequest)
        await engine.shutdown()
    }
}
