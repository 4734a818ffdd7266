import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Cases that every HTTP client meets, each over TCP and over TLS: responses that are odd, wrong or
/// cut, and requests as they arrive.
///
/// Doubtful lengths are tested in `FramingTests`, ends of TLS connections in `CloseNotifyTests`,
/// content codings, redirects and the calls of a whole system in `HTTPCaseCallTests`.
@Suite struct HTTPCaseTests {
    /// One server over TCP and one over TLS serve all cases.
    private static let plain = Task { try await SocketServer.start("http-cases") }
    private static let secure = Task {
        try await SocketServer.start("http-cases", tls: TestAuthority.trusted.get().leaf)
    }

    private func request(
        _ path: String, _ tls: Bool, method: HTTPRequest.Method = .get, body: HTTPRequestBody = []
    ) async throws -> EngineRequest {
        let port = try await (tls ? Self.secure : Self.plain).value.port
        var request = EngineRequest(
            get(port, path, scheme: tls ? "https" : "http"), body: body, timeout: .seconds(300))
        request.request.method = method
        return request
    }

    /// The status and body of a response; the error's code in place of a body that does not end.
    private func fetch(
        _ path: String, _ tls: Bool, method: HTTPRequest.Method = .get, body: HTTPRequestBody = [],
        change: (inout EngineRequest) -> Void = { _ in }
    ) async throws -> (fields: HTTPFields, outcome: String) {
        let engine = try engine(http2: false)
        var request = try await request(path, tls, method: method, body: body)
        change(&request)
        var (fields, outcome) = (HTTPFields(), "")
        do throws(TransportError) {
            let response = try await engine.send(request)
            fields = response.response.headerFields
            outcome = "\(response.response.status.code) "
            outcome += String(decoding: try await response.body.collect(), as: UTF8.self)
        } catch {
            outcome += error.code.name
        }
        await engine.shutdown()
        return (fields, outcome)
    }

    @Test(
        arguments: [
            ("/nonsense", "malformed-response"), ("/other-case", "malformed-response"),
            ("/no-reason", "200 "), ("/204", "204 "), ("/304", "304 "), ("/short", "200 cut-off"),
            ("/two-lengths", "malformed-response"), ("/until-close", "200 1234"),
            ("/empty", "200 "),
            ("/empty-chunks", "200 "), ("/404", "404 "), ("/999", "999 "),
            ("/drip", "200 01234567890123456789"),
        ], [false, true])
    func aResponseIs(_ one: (path: String, outcome: String), overTLS tls: Bool) async throws {
        #expect(try await fetch(one.path, tls).outcome == one.outcome)
    }

    @Test(arguments: [false, true])
    func aResponseToHEADHasNoBodyWithAnyLength(overTLS tls: Bool) async throws {
        #expect(try await fetch("/head", tls, method: .head).outcome == "200 ")
    }

    @Test(arguments: [false, true])
    func anEmptyChunkedBodyArrivesEmpty(overTLS tls: Bool) async throws {
        let body = HTTPRequestBody.stream(Producer.of([]))
        #expect(try await fetch("/echo", tls, method: .post, body: body).outcome == "200 ")
        let mirror = HTTPRequestBody.stream(Producer.of([]))
        let head = try await fetch("/mirror", tls, method: .post, body: mirror).outcome
        #expect(head.lowercased().contains("\r\ntransfer-encoding: chunked\r\n"))
    }

    @Test(arguments: [false, true])
    func theBodyIsEchoedUnchanged(overTLS tls: Bool) async throws {
        let (bytes, stream) = (
            HTTPRequestBody(Array("tea".utf8)), Producer.of([[0x74], [0x65, 0x61]])
        )
        #expect(try await fetch("/echo", tls, method: .post, body: bytes).outcome == "200 tea")
        #expect(
            try await fetch("/echo", tls, method: .put, body: .stream(stream)).outcome == "200 tea")
    }

    @Test(arguments: [false, true])
    func fieldsArriveAsTheyAreWritten(overTLS tls: Bool) async throws {
        let custom = try #require(HTTPField.Name("X-Custom"))
        let empty = try #require(HTTPField.Name("X-Empty"))
        let twice = try #require(HTTPField.Name("X-Twice"))
        let head = try await fetch("/mirror", tls) { request in
            request.request.headerFields = [
                custom: "a, b;c=\"d\"", twice: "1", empty: "", .accept: "*/*",
            ]
            request.request.headerFields.append(HTTPField(name: twice, value: "2"))
        }.outcome
        let lines = head.split(separator: "\r\n").map(String.init)
        #expect(lines.contains("X-Custom: a, b;c=\"d\"") && lines.contains("Accept: */*"))
        #expect(lines.contains { $0 == "X-Empty:" || $0 == "X-Empty: " })
        #expect(lines.filter { $0.hasPrefix("X-Twice") } == ["X-Twice: 1", "X-Twice: 2"])
    }

    @Test(arguments: [false, true])
    func aFieldWithTwoValuesComesInOrder(overTLS tls: Bool) async throws {
        let fields = try await fetch("/two-values", tls).fields
        #expect(fields[values: try #require(HTTPField.Name("A"))] == ["1", "2"])
    }

    @Test(arguments: [false, true])
    func theQueryArrivesAsWrittenAndAFragmentNever(overTLS tls: Bool) async throws {
        let target = "/mirror?a=1&b=%20&&c=/?x+%C3%A9"
        let head = try await fetch(target, tls).outcome
        #expect(head.hasPrefix("200 GET \(target) HTTP/1.1\r\n"))
        #expect(try await fetch("/mirror?a=1#part", tls).outcome == "invalid-request")
    }

    @Test(arguments: [false, true])
    func aHundredRequestsAtOnceGetTheirOwnResponses(overTLS tls: Bool) async throws {
        let engine = try engine(http2: false)
        let good = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<100 {
                let body = Array("\(index)".utf8)
                let request = try await request(
                    "/echo", tls, method: .post, body: HTTPRequestBody(body))
                group.addTask { try await engine.fetch(request).body == body }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 100)
        await engine.shutdown()
    }

    @Test(arguments: [false, true])
    func aMegabyteIsEchoedAndReadInPieces(overTLS tls: Bool) async throws {
        let engine = try engine(http2: false)
        let sent = [UInt8]((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) })
        let response = try await engine.send(
            request("/echo", tls, method: .post, body: HTTPRequestBody(sent)))
        var read: [UInt8] = []
        for try await chunk in response.body { for byte in chunk { read.append(byte) } }
        // Compared first: a failed expectation would look for the differences of the two for
        // minutes.
        let isSame = read == sent
        #expect(isSame, "\(read.count) bytes")
        await engine.shutdown()
    }

    /// The rest is dropped with its connection or read away; neither holds up the next call.
    @Test(arguments: [false, true])
    func aBodyOfWhichOnePieceIsReadEndsItsCall(overTLS tls: Bool) async throws {
        let engine = try engine(http2: false)
        for _ in 0..<3 {
            let response = try await engine.send(request("/large", tls))
            var pieces = response.body.makeAsyncIterator()
            let piece = try await pieces.next()
            #expect(piece?.isEmpty == false)
        }
        let (response, _) = try await engine.fetch(request("/empty", tls))
        #expect(response.response.status == .ok)
        await engine.shutdown()
    }

    /// Cancels a call that never gets a response.
    ///
    /// - Returns: The time until it returned.
    private func cancel(_ path: String, overTLS tls: Bool) async throws -> Duration {
        let engine = try engine(http2: false)
        let request = try await request(path, tls)
        let server = try await (tls ? Self.secure : Self.plain).value.server
        let silent = server.stdout.ranges(of: "SILENT").count
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let call = Task { () async -> TransportError.Code? in
            do throws(TransportError) {
                let response = try await engine.send(request)
                beginning.yield()
                _ = try await response.body.collect()
                return nil
            } catch {
                return error.code
            }
        }
        if path == "/silent" {
            #expect(try await eventually { server.stdout.ranges(of: "SILENT").count > silent })
        } else {
            for await _ in begun { break }
        }
        let start = ContinuousClock.now
        call.cancel()
        let code = await call.value
        let time = ContinuousClock.now - start
        #expect(code == .cancelled)
        await engine.shutdown()
        return time
    }

    /// The best of 20 tries, because a machine with other work may be late.
    @Test(arguments: ["/silent", "/stall"], [false, true])
    func aCancelledCallEndsWithin100Ms(_ path: String, overTLS tls: Bool) async throws {
        var best = Duration.seconds(3600)
        for _ in 0..<20 where best >= .milliseconds(100) {
            best = min(best, try await cancel(path, overTLS: tls))
        }
        #expect(best < .milliseconds(100))
    }
}
