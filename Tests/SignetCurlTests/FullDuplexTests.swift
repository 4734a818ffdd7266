import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// A request's body that is still sent while the response's body arrives, over HTTP/1.1 and HTTP/2.
@Suite struct FullDuplexTests {
    /// Sends each byte back as it comes; over HTTP/1.1 with the chunks' framing.
    private func echo(http2: Bool) async throws -> ScriptedServer {
        try await server("echo", http2: http2)
    }

    /// Sends `A`, and after each byte that comes back the next letter, up to `C`.
    private func speakingFirst(http2: Bool) async throws -> ScriptedServer {
        try await server("letters", http2: http2)
    }

    private func server(_ behaviour: String, http2: Bool) async throws -> ScriptedServer {
        try await ScriptedServer(
            "full-duplex", http2 ? behaviour + "_http2" : behaviour,
            tls: http2 ? TestAuthority.trusted.get().leaf : nil)
    }

    private func request(_ port: Int, http2: Bool, _ body: HTTPRequestBody) -> EngineRequest {
        var request = EngineRequest(get(port, scheme: http2 ? "https" : "http"), body: body)
        request.request.method = .post
        request.timeout = .seconds(300)
        return request
    }

    @Test(.timeLimit(.minutes(2)), arguments: [false, true])
    func aByteIsEchoedBeforeTheNextIsWritten(_ http2: Bool) async throws {
        let server = try await echo(http2: http2)
        let engine = try engine()
        let (bytes, producer) = AsyncStream.makeStream(of: [UInt8].self)
        let response = try await engine.send(
            request(server.port, http2: http2, .stream(bytes)))
        #expect(response.httpVersion.major == (http2 ? 2 : 1))
        var echoed = response.body.makeAsyncIterator()
        for byte in UInt8(65)..<75 {
            producer.yield([byte])
            #expect(try await echoed.next() == [byte])
        }
        producer.finish()
        #expect(try await echoed.next() == nil)
        await engine.shutdown()
    }

    @Test(.timeLimit(.minutes(2)), arguments: [false, true])
    func theServerMaySpeakFirst(_ http2: Bool) async throws {
        let server = try await speakingFirst(http2: http2)
        let engine = try engine()
        let (bytes, producer) = AsyncStream.makeStream(of: [UInt8].self)
        let response = try await engine.send(
            request(server.port, http2: http2, .stream(bytes)))
        var heard: [UInt8] = []
        var chunks = response.body.makeAsyncIterator()
        while heard.count < 3, let chunk = try await chunks.next() {
            heard += chunk
            producer.yield(chunk)
        }
        producer.finish()
        #expect(try await chunks.next() == nil)
        #expect(heard == Array("ABC".utf8))
        await engine.shutdown()
    }

    /// Neither side waits for the other.
    @Test(.timeLimit(.minutes(2)), arguments: [false, true])
    func manyBlocksComeBackWhole(_ http2: Bool) async throws {
        let server = try await echo(http2: http2)
        let engine = try engine()
        // The frames' server never opens a window of 64 KiB again.
        let block = [UInt8](repeating: 7, count: http2 ? 1000 : 65_536)
        let (response, body) = try await engine.fetch(
            request(
                server.port, http2: http2,
                .stream(Producer.of([[UInt8]](repeating: block, count: 16)))))
        #expect(response.response.status == .ok)
        #expect(body == [[UInt8]](repeating: block, count: 16).flatMap { $0 })
        await engine.shutdown()
    }

    /// Leaving the response's body ends the upload.
    @Test(.timeLimit(.minutes(2)), arguments: [false, true])
    func leavingTheResponseEndsTheRequest(_ http2: Bool) async throws {
        let server = try await echo(http2: http2)
        let engine = try engine()
        let producer = Producer.stalling(after: [[65]])
        do {
            let response = try await engine.send(
                request(server.port, http2: http2, .stream(producer)))
            var echoed = response.body.makeAsyncIterator()
            #expect(try await echoed.next() == [65])
        }
        #expect(try await eventually { producer.log.hasEnded })
        await engine.shutdown()
    }
}
