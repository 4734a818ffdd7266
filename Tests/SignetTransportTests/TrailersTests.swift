import HTTPTypes
import SignetTransport
import Testing

/// Trailers of bodies, and the observation of bodies.
@Suite struct TrailersTests {
    private let name = HTTPField.Name("X-Sum")!

    @Test func areThereAfterTheBodyHasBeenRead() async throws {
        let buffer = BodyBuffer(capacity: 100, drained: {}, abandoned: {})
        let body = HTTPResponseBody(buffer)
        _ = buffer.offer([1])
        #expect(body.trailers == nil)
        buffer.finish(trailers: [name: "7"])
        #expect(body.trailers == nil)
        #expect(try await body.collect() == [1])
        #expect(body.trailers == [name: "7"])
    }

    @Test func areNotThereWithoutAnEndOrAfterAnError() async throws {
        let whole = HTTPResponseBody(bytes: [1])
        #expect(try await whole.collect() == [1])
        #expect(whole.trailers == nil)
        let buffer = BodyBuffer(capacity: 100, drained: {}, abandoned: {})
        let cut = HTTPResponseBody(buffer)
        buffer.finish(TransportError(.cutOff, "cut"), trailers: [name: "7"])
        await #expect(throws: TransportError.self) { try await cut.collect() }
        #expect(cut.trailers == nil)
    }

    @Test func makeABodyOfUnknownLength() async throws {
        let plain = HTTPRequestBody([1, 2])
        let body = plain.withTrailers { [self.name: "7"] }
        #expect(!plain.hasTrailers && body.hasTrailers && body.isReplayable)
        #expect(body.length == nil && body.bytes == nil)
        var reader = try body.makeReader()
        #expect(try await reader.next() == [1, 2])
        #expect(try await reader.next() == nil)
        #expect(try await body.trailers() == [name: "7"])
        #expect(try await plain.trailers() == nil)
    }

    @Test(arguments: [
        "Content-Length", "Transfer-Encoding", "Trailer", "TE", "Host", "Connection", "Keep-Alive",
        "Upgrade", "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie",
        "WWW-Authenticate", "Content-Type", "Content-Encoding", "Content-Range", "Location",
        "Cache-Control", "Range", "If-Match", "expect", "Retry-After",
    ])
    func refusesAField(_ name: String) async throws {
        let name = try #require(HTTPField.Name(name))
        let body = HTTPRequestBody([1]).withTrailers { [name: "1"] }
        let error = await #expect(throws: TransportError.self) { try await body.trailers() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains(name.rawName) == true)
    }

    @Test(arguments: ["Content-Digest", "Repr-Digest", "Signature", "Server-Timing", "X-Own"])
    func acceptsAField(_ name: String) async throws {
        let name = try #require(HTTPField.Name(name))
        #expect(try await HTTPRequestBody([1]).withTrailers { [name: "1"] }.trailers()?.count == 1)
    }

    @Test func refusesTooMany() async throws {
        let text = String(repeating: "x", count: 33_000)
        let body = HTTPRequestBody([1]).withTrailers { [self.name: text] }
        let error = await #expect(throws: TransportError.self) { try await body.trailers() }
        #expect(error?.code == .invalidRequest)
    }

    struct Broken: Error, CustomStringConvertible {
        var description: String { "ZZZZZZ" }
    }

    private struct BrokenBody: RequestBodySource, RequestBodyReader {
        var length: Int64? { nil }
        var isReplayable: Bool { true }
        func makeReader() -> any RequestBodyReader { self }
        mutating func next() async throws -> [UInt8]? { throw Broken() }
    }

    @Test func aFailureToMakeThemIsABodysFailure() async throws {
        let broken = HTTPRequestBody([1]).withTrailers { throw Broken() }
        let error = await #expect(throws: TransportError.self) { try await broken.trailers() }
        #expect(error?.code == .bodyFailed)
        #expect(error?.message.hasSuffix("could not be made: Broken") == true)
        let failing = HTTPRequestBody(BrokenBody())
        let failure = await #expect(throws: TransportError.self) {
            var reader = try failing.makeReader()
            _ = try await reader.next()
        }
        #expect(failure?.message.hasSuffix("could not be read: Broken") == true)
        let ended = HTTPRequestBody([1]).withTrailers { throw CancellationError() }
        let cancelled = await #expect(throws: TransportError.self) { try await ended.trailers() }
        #expect(cancelled?.code == .cancelled)
    }
}
