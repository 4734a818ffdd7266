import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Responses whose fields give the body's length in contradictory ways, or not at all.
@Suite struct FramingTests {
    private static func response(_ fields: String, _ body: String) -> String {
        "HTTP/1.1 200 OK\r\n\(fields)\r\n\(body)"
    }

    private func error(
        _ response: String, head: Bool = false
    ) async throws -> TransportError? {
        let server = try await ScriptedServer([.head, .send(response)])
        let engine = try engine(http2: false)
        var request = EngineRequest(get(server.port, scheme: "http"))
        if head { request.request.method = .head }
        request.timeout = .seconds(300)
        let error = await engine.failure(request)
        await engine.shutdown()
        return error
    }

    private static let chunks = "4\r\nabcd\r\n0\r\n\r\n"

    @Test(arguments: [
        ("Content-Length: 10\r\nContent-Length: 4\r\n", "abcd"),
        ("Content-Length: 4\r\nContent-Length: 10\r\n", "abcd"),
        ("Content-Length: 10, 4\r\n", "abcd"),
        ("Content-Length: 4, 10\r\n", "abcd"),
        ("Content-Length: 4,\r\n", "abcd"),
        ("Content-Length: +1\r\n", "a"),
        ("Content-Length: -1\r\n", "a"),
        ("Content-Length: \r\n", ""),
        ("Content-Length: 0x4\r\n", "abcd"),
        ("Content-Length: 4 bytes\r\n", "abcd"),
        ("Content-Length: 4;a\r\n", "abcd"),
        ("Content-Length: 4.0\r\n", "abcd"),
        ("Content-Length: 1 0\r\n", "a"),
        ("Content-Length: 9223372036854775808\r\n", "a"),
        ("Content-Length: 18446744073709551620\r\n", "abcd"),
        ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", chunks),
        ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", chunks),
        ("transfer-encoding: chunked\r\ncontent-length: 4\r\n", chunks),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks),
        ("Transfer-Encoding: chunked, chunked\r\n", chunks),
        ("Transfer-Encoding: identity\r\n", "abcd"),
        ("Transfer-Encoding: xchunked\r\n", chunks),
        ("Transfer-Encoding: gzip, chunked\r\n", chunks),
        ("Transfer-Encoding: \r\n", "abcd"),
        ("Transfer-Encoding: GZIP\r\n", "abcd"), ("Transfer-Encoding: br\r\n", "abcd"),
        ("Transfer-Encoding: chunke\r\n", chunks), ("Transfer-Encoding: binary,\r\n", "abcd"),
        ("Transfer-Encoding: binary;q=1\r\n", "abcd"),
        ("Transfer-Encoding: b\u{e9}\r\n", "abcd"),
        ("Transfer-Encoding: binary\r\nContent-Length: 4\r\n", "abcd"),
        ("Content-Length: 4\r\nTransfer-Encoding: binary\r\n", "abcd"),
        ("Transfer-Encoding: binary\r\nTransfer-Encoding: chunked\r\n", chunks),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: binary\r\n", chunks),
    ])
    func refusesALengthThatIsDoubtful(fields: String, body: String) async throws {
        let error = try await error(Self.response(fields, body))
        #expect(error?.code == .malformedResponse, "\(fields): \(error?.message ?? "no error")")
    }

    /// A response without a body says nothing credible by a doubtful length, either.
    @Test func refusesADoubtfulLengthOfNoBody() async throws {
        let fields = "Content-Length: 10\r\nContent-Length: 4\r\n"
        let error = try await error(Self.response(fields, ""), head: true)
        #expect(error?.code == .malformedResponse)
    }

    @Test(arguments: ["chunked", "binary"])
    func refusesACodingInHTTP10(coding: String) async throws {
        let error = try await error(
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n" + Self.chunks)
        #expect(error?.code == .malformedResponse)
    }

    @Test(arguments: [
        ("Content-Length: 4\r\n", "abcd"),
        ("content-length:4  \r\n", "abcd"),
        ("Content-Length: 4\r\nContent-Length: 4\r\n", "abcd"),
        ("Content-Length: 4, 4\r\n", "abcd"),
        ("Content-Length: 0004\r\n", "abcd"),
        ("Transfer-Encoding: Chunked\r\n", "4\r\nabcd\r\n0\r\n\r\n"),
        ("", "abcd"),
        // A word that names no coding: the body ends with the connection.
        ("Transfer-Encoding: binary\r\n", "abcd"), ("transfer-encoding:8-bit \r\n", "abcd"),
    ])
    func takesALengthThatIsClear(fields: String, content: String) async throws {
        let server = try await ScriptedServer([.head, .send(Self.response(fields, content))])
        let engine = try engine()
        let (_, body) = try await engine.fetch(EngineRequest(get(server.port, scheme: "http")))
        #expect(body == Array("abcd".utf8), "\(fields)")
        await engine.shutdown()
    }

    @Test(arguments: ["204 No Content", "304 Not Modified"])
    func endsAResponseWithoutBodyAtOnce(status: String) async throws {
        let server = try await ScriptedServer([
            .head, .send("HTTP/1.1 \(status)\r\nContent-Length: 1000\r\n\r\n"), .drain,
        ])
        let engine = try engine()
        let (response, body) = try await engine.fetch(
            EngineRequest(get(server.port, scheme: "http"), timeout: .seconds(300)))
        #expect(response.response.status.code == Int(status.prefix(3)) && body.isEmpty)
        await engine.shutdown()
    }

    @Test(arguments: [
        "FOOBAR\r\n\r\n", "Http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Note: a\r\npreload\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n : a\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n \r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n ,gzip\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n X-Note: a\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Note: a\r\n b\rc\r\nContent-Length: 0\r\n\r\n",
    ])
    func refusesInvalidResponses(text: String) async throws {
        let error = try await error(text)
        #expect(error?.code == .malformedResponse, "\(text): \(error?.message ?? "no error")")
    }

    @Test(arguments: [
        ("first\r\n second", "first second"),
        ("first \r\n\t second\r\n  third", "first second third"),
        ("first\r\n \r\n second", "first  second"), ("\r\n first", "first"),
        ("first\n second", "first second"), ("first\r\n \r\n", "first"),
        ("first\r\n Content-Length: 9", "first Content-Length: 9"),
    ])
    func joinsFoldedFields(value: String, wanted: String) async throws {
        // The last line end of a value that has one of its own.
        let line = value.utf8.last == 0x0a ? "X-Note: \(value)" : "X-Note: \(value)\r\n"
        let server = try await ScriptedServer([
            .head, .send("HTTP/1.1 200 OK\r\n\(line)Content-Length: 0\r\n\r\n"),
        ])
        let engine = try engine()
        let (response, _) = try await engine.fetch(EngineRequest(get(server.port, scheme: "http")))
        let name = try #require(HTTPField.Name("X-Note"))
        #expect(response.response.headerFields[values: name] == [wanted])
        await engine.shutdown()
    }

    /// A load balancer pads the sizes of chunks, and a server writes a blank before a colon.
    @Test func takesBlanksBesideSizesAndColons() async throws {
        let server = try await ScriptedServer([
            .head, .send("HTTP/1.1 200 OK\r\nX-Note \t: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .send("4  \r\nabcd\r\n0   \r\n\r\n"),
        ])
        let engine = try engine()
        let (response, body) = try await engine.fetch(
            EngineRequest(get(server.port, scheme: "http")))
        let name = try #require(HTTPField.Name("X-Note"))
        #expect(response.response.headerFields[name] == "a" && body == Array("abcd".utf8))
        await engine.shutdown()
    }

    @Test func takesAStatusLineWithoutAReason() async throws {
        let server = try await ScriptedServer([
            .head, .send("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
        ])
        let engine = try engine()
        let (response, body) = try await engine.fetch(
            EngineRequest(get(server.port, scheme: "http")))
        #expect(response.response.status.code == 200 && body.isEmpty)
        await engine.shutdown()
    }

    /// The fields of an HTTP/2 response are literals after `:status: 200`; the body has four bytes.
    @Test(arguments: [
        [("content-length", "10"), ("content-length", "4")],
        [("content-length", "4"), ("content-length", "10")],
        [("content-length", "10, 4")], [("content-length", "+4")], [("content-length", "-4")],
        [("content-length", "")], [("content-length", "0x4")], [("content-length", "4 bytes")],
        [("content-length", "9223372036854775808")],
        [("content-length", "3")], [("content-length", "5")],
        [("transfer-encoding", "chunked")],
    ])
    func refusesADoubtfulLengthOverHTTP2(fields: [(String, String)]) async throws {
        let literals = fields.map { "literal(b'\($0.0)', b'\($0.1)')" }.joined(separator: " + ")
        let server = try await ScriptedServer.http2(
            #"frame(1, 4, stream, b'\x88' + \#(literals)) + frame(0, 1, stream, b'abcd')"#)
        let engine = try engine()
        let error = await engine.failure(
            EngineRequest(get(server.port), timeout: .seconds(300)))
        await engine.shutdown()
        #expect(error?.code == .malformedResponse, "\(fields): \(error?.message ?? "no error")")
    }
}
