import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// The numbers of bytes in timings, compared with the bytes that the server and the test counted.
@Suite struct TimingsTests {
    private static let response = "200 OK\r\nX-Field: value\r\n\r\nthe body"

    /// The bytes that RouteServer sends.
    private static let sentBack =
        "HTTP/1.1 200 OK\r\nX-Field: value\r\nContent-Length: 8\r\nConnection: close\r\n\r\nthe body"

    /// Direct calls, and calls through proxies, whose own bytes don't count as the host's.
    @Test(
        .features("000-55", "002-11"), arguments: ["", "http", "https", "socks5h"], [true, false])
    func countTheBytesOfRequestAndResponse(_ kind: String, isSecure: Bool) async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await RouteServer(
            ["/a": Self.response], tls: isSecure ? authority.leaf : nil)
        let engine = try engine(http2: false)
        var proxy: Proxy?
        let way = try await ProxyServer(
            login: "u:p", tls: kind == "https" ? authority.leaf : nil)
        if !kind.isEmpty {
            var parsed = try Proxy(parsing: "\(kind)://localhost:\(way.port)")
            try parsed.setCredentials(Array("u:p".utf8))
            parsed.caFile = authority.caFile
            proxy = parsed
        }
        let bodies: [HTTPRequestBody] = [
            [], HTTPRequestBody(Array("some bytes".utf8)),
            HTTPRequestBody([UInt8](repeating: 0x37, count: 70_005)),
            HTTPRequestBody([UInt8](repeating: 0x38, count: 40_000)),
        ]
        for (number, body) in bodies.enumerated() {
            var head = get(server.port, "/a?\(number)", scheme: isSecure ? "https" : "http")
            if isSecure == false, proxy?.kind.isHTTP == true { head.path = "/b" }
            head.method = number == 0 ? .get : .put
            head.headerFields[.authorization] = "secret"
            var request = EngineRequest(head, timeout: .seconds(300))
            request.body = body
            request.proxy = proxy
            let (response, bytes) = try await engine.fetch(request)
            let timings = response.finalTimings
            guard response.response.status == .ok else {
                // The server has no such path for an absolute URL; the sent bytes are counted
                // anyway. Only the bytes that libcurl adds for an HTTPS proxy are not counted, if
                // the body is larger than a TLS record.
                let sent = Int64(server.requests[number].utf8.count)
                #expect(abs(timings.bytesSent - sent) < (kind == "https" && number == 3 ? 100 : 1))
                continue
            }
            #expect(bytes == Array("the body".utf8))
            #expect(
                timings.bytesSent == Int64(server.requests[number].utf8.count),
                "\(kind) \(number)")
            #expect(timings.bytesReceived == Int64(Self.sentBack.utf8.count), "\(kind) \(number)")
            #expect(response.timings.bytesReceived <= timings.bytesReceived)
        }
        await engine.shutdown()
    }

    @Test func aSlowBodyIsCountedAtItsEnd() async throws {
        let host = try await OrdersHost.start(
            directives: "location /plain { return 200 '0123456789'; }")
        for http2 in [false, true] {
            let engine = try engine(http2: http2)
            var sizes: [Int64] = []
            for _ in 0..<2 {
                let (response, _) = try await engine.fetch(
                    EngineRequest(get(host.port, "/plain"), timeout: .seconds(300)))
                let timings = response.finalTimings
                #expect(timings.bytesReceived > 10 && timings.bytesSent > 0)
                sizes += [timings.bytesSent, timings.bytesReceived]
            }
            // On the pooled connection as on the new one.
            #expect(sizes[0] == sizes[2] && sizes[1] == sizes[3])
            await engine.shutdown()
        }
    }
}
