import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Cases of `HTTPCaseTests` over HTTP/2, against nginx. Bytes that are echoed one by one are in
/// `FullDuplexTests`, trailers in `TrailerTests`.
@Suite(.timeLimit(.minutes(2))) struct HTTP2CaseTests {
    private static let bytes = [UInt8]((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) })

    private func request(
        _ host: OrdersHost, _ path: String, body: HTTPRequestBody? = nil
    ) -> EngineRequest {
        var request = EngineRequest(
            get(host.port, path), body: body ?? [], timeout: .seconds(100))
        if body != nil { request.request.method = .post }
        return request
    }

    @Test(arguments: [false, true])
    func aMegabyteIsEchoedAndReadInPieces(isStream: Bool) async throws {
        let echo = try await SocketServer.start("mirror", ["body"])
        defer { withExtendedLifetime(echo.server) {} }
        let host = try await OrdersHost.start(
            directives: """
                location = /echo {
                    proxy_pass http://127.0.0.1:\(echo.port);
                    client_max_body_size 0;
                }
                """)
        let engine = try engine()
        let pieces = stride(from: 0, to: Self.bytes.count, by: 50_000).map {
            Array(Self.bytes[$0..<($0 + 50_000)])
        }
        let body =
            isStream ? HTTPRequestBody.stream(Producer.of(pieces)) : HTTPRequestBody(Self.bytes)
        let response = try await engine.send(request(host, "/echo", body: body))
        #expect(response.httpVersion.major == 2 && response.response.status == .ok)
        var read: [UInt8] = []
        for try await chunk in response.body { for byte in chunk { read.append(byte) } }
        // Compared first: a failed expectation would look for the differences of the two for
        // minutes.
        let isSame = read == Self.bytes
        #expect(isSame, "\(read.count) bytes")
        await engine.shutdown()
    }

    /// Leaving a response ends its stream alone: nginx counts the requests of the connection.
    @Test func aBodyReadInPartLeavesTheConnection() async throws {
        let host = try await OrdersHost.start(
            directives: """
                location = /large { alias large; }
                location = /number { return 200 '$connection $connection_requests'; }
                """)
        try host.folder.write(Self.bytes, to: "large", mode: 0o644)
        let engine = try engine()
        func number() async throws -> [Substring] {
            let (response, body) = try await engine.fetch(request(host, "/number"))
            #expect(response.httpVersion.major == 2)
            return String(decoding: body, as: UTF8.self).split(separator: " ")
        }
        let connection = try await number()[0]
        for count in 1...3 {
            do {
                let response = try await engine.send(request(host, "/large"))
                #expect(response.response.status == .ok)
                var pieces = response.body.makeAsyncIterator()
                let piece = try await pieces.next()
                #expect((1..<Self.bytes.count).contains(piece?.count ?? 0))
            }
            #expect(try await number() == [connection, "\(2 * count + 1)"])
        }
        await engine.shutdown()
    }
}
