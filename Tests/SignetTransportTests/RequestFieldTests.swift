import HTTPTypes
import SignetTransport
import Testing

/// Fields of a request that an engine or its connection makes itself.
@Suite struct RequestFieldTests {
    private static func sends(
        _ name: String, _ value: String, body: HTTPRequestBody = [1, 2, 3]
    ) throws -> Bool {
        let request = EngineRequest(
            HTTPRequest(
                method: .post, scheme: "https", authority: "api.example.com:8443", path: "/"),
            body: body)
        return try request.sends(HTTPField(name: try #require(.init(name)), value: value))
    }

    @Test(arguments: [
        ("Accept", "text/plain", true), ("Connection", "Close", true), ("TE", "trailers", true),
        ("Host", "api.example.com:8443", false), ("Content-Length", "3", false),
    ])
    func areSentUnlessTheEngineMakesThem(
        _ name: String, _ value: String, _ isSent: Bool
    ) throws {
        #expect(try Self.sends(name, value) == isSent)
    }

    @Test(arguments: [
        ("Host", "other.example.com"), ("host", "api.example.com"), ("Host", ""),
        ("Host", "API.example.com:8443"), ("Content-Length", "4"), ("Content-Length", "03"),
        ("Content-Length", "3, 3"), ("Proxy-Authorization", "Basic eDp5"),
        ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABk"),
        ("Proxy-Connection", "close"), ("Trailer", "X-Sum"), ("Keep-Alive", "timeout=5"),
        ("Connection", "upgrade"), ("Connection", "close, X-Secret"),
    ])
    func areRefusedIfTheyDifferOrDirectTheConnection(_ name: String, _ value: String) {
        let error = #expect(throws: TransportError.self) { try Self.sends(name, value) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func dependOnTheBody() throws {
        let stream = HTTPRequestBody.stream(AsyncStream<[UInt8]> { $0.finish() })
        #expect(throws: TransportError.self) { try Self.sends("Content-Length", "3", body: stream) }
        let trailing = HTTPRequestBody([1]).withTrailers { [:] }
        #expect(try Self.sends("Trailer", "X-Sum", body: trailing))
    }
}
