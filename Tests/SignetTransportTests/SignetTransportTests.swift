import SignetPinning
import SignetTransport
import TestSupport
import Testing

@Suite struct ResponseBodyTests {
    private func buffer(_ capacity: Int) -> BodyBuffer {
        BodyBuffer(capacity: capacity, drained: {}, abandoned: {})
    }

    @Test func givesChunksInOrderAndThenTheEnd() async throws {
        let buffer = buffer(100)
        #expect(buffer.offer([1, 2]) && buffer.offer([3]))
        buffer.finish()
        var chunks: [[UInt8]] = []
        for try await chunk in HTTPResponseBody(buffer) { chunks.append(chunk) }
        #expect(chunks == [[1, 2], [3]])
    }

    @Test func refusesMoreThanItHolds() async throws {
        let told = AsyncStream.makeStream(of: Void.self)
        let buffer = BodyBuffer(
            capacity: 4, drained: { told.continuation.yield() }, abandoned: {})
        #expect(buffer.offer([1, 2, 3, 4]))
        #expect(!buffer.offer([5]))
        let body = HTTPResponseBody(buffer)
        var iterator = body.makeAsyncIterator()
        #expect(try await iterator.next() == [1, 2, 3, 4])
        for await _ in told.stream { break }
        #expect(buffer.offer([5]))
        buffer.finish()
        #expect(try await body.collect() == [5])
    }

    @Test func throwsItsErrorAfterTheReceivedChunks() async throws {
        let buffer = buffer(100)
        _ = buffer.offer([1])
        buffer.finish(TransportError(.cutOff, "cut"))
        buffer.finish()
        var iterator = HTTPResponseBody(buffer).makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        let error = await #expect(throws: TransportError.self) { try await iterator.next() }
        #expect(error?.code == .cutOff)
    }

    @Test func failsBeforeTheReceivedChunks() async throws {
        let buffer = buffer(100)
        _ = buffer.offer([1])
        #expect(buffer.fail(TransportError(.cancelled, "cancelled")))
        #expect(!buffer.fail(TransportError(.cutOff, "cut")))
        var iterator = HTTPResponseBody(buffer).makeAsyncIterator()
        let error = await #expect(throws: TransportError.self) { try await iterator.next() }
        #expect(error?.code == .cancelled)
    }

    @Test func doesntFailOnceItIsComplete() async throws {
        let buffer = buffer(100)
        _ = buffer.offer([1])
        buffer.finish()
        #expect(!buffer.fail(TransportError(.cancelled, "cancelled")))
        #expect(try await HTTPResponseBody(buffer).collect() == [1])
    }

    @Test func wakesAReaderThatWaits() async throws {
        let buffer = buffer(100)
        let body = HTTPResponseBody(buffer)
        async let whole = body.collect()
        _ = buffer.offer([1])
        _ = buffer.offer([2])
        buffer.finish()
        #expect(try await whole == [1, 2])
    }

    @Test func limitsACollectedBody() async throws {
        #expect(try await HTTPResponseBody(bytes: [1, 2, 3]).collect(limit: 3) == [1, 2, 3])
        let error = await #expect(throws: TransportError.self) {
            try await HTTPResponseBody(bytes: [1, 2, 3]).collect(limit: 2)
        }
        #expect(error?.code == .responseTooLarge)
        #expect(try await HTTPResponseBody(bytes: []).collect() == [])
    }

    @Test func endsWhenItsReaderIsCancelled() async throws {
        let told = AsyncStream.makeStream(of: Void.self)
        let buffer = BodyBuffer(
            capacity: 4, drained: {}, abandoned: { told.continuation.yield() })
        let body = HTTPResponseBody(buffer)
        let reader = Task { try await body.collect() }
        reader.cancel()
        let error = await #expect(throws: TransportError.self) { try await reader.value }
        #expect(error?.code == .cancelled)
        for await _ in told.stream { break }
    }

    @Test func reportsACancelledReader() async throws {
        let told = AsyncStream.makeStream(of: Void.self)
        let buffer = BodyBuffer(
            capacity: 4, drained: {}, abandoned: { told.continuation.yield() })
        _ = buffer.offer([1])
        do { _ = HTTPResponseBody(buffer) }
        for await _ in told.stream { break }
    }

    @Test(
        arguments: [
            ("example.com:443:127.0.0.1:8443", "example.com", 443, "127.0.0.1", 8443),
            ("Example.com:443:[::1]:8443", "example.com", 443, "::1", 8443),
            (":::8443", nil, nil, nil, 8443), ("a.b::c.d:", "a.b", nil, "c.d", nil),
        ] as [(String, String?, Int?, String?, Int?)])
    func readsConnectTo(
        _ text: String, _ host: String?, _ port: Int?, _ address: String?, _ addressPort: Int?
    ) throws {
        let to = try EngineRequest.ConnectTo(parsing: text)
        #expect(to.host?.text == host && to.port == port)
        #expect(to.address?.text == address && to.addressPort == addressPort)
    }

    @Test(arguments: [
        "", "a", "a:1", "a:1:b", "a:1:b:2:3", "a:0:b:1", "a:1:b:x", "a:1:b:65536", "a b:1:c:2",
        "[::1:1:b:2", "u@a:1:b:2", "::1:1:b:2",
    ])
    func refusesConnectTo(_ text: String) {
        let error = #expect(throws: TransportError.self) {
            try EngineRequest.ConnectTo(parsing: text)
        }
        #expect(error?.code == .invalidRequest)
    }
}

/// An engine that says nothing of probes and threads.
@Suite struct HTTPEngineTests {
    private struct SilentEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "silent/1", pinsPublicKeys: true, speaksHTTP2: false)

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            throw TransportError(.connect, "silent")
        }

        func shutdown() async {}
    }

    @Test(.features("000-44", "004-03")) func itShakesNoHandsAndHasNoThread() async throws {
        let engine: any HTTPEngine = SilentEngine()
        let error = await #expect(throws: TransportError.self) {
            try await engine.probe(Authority(parsing: "api.example.com"))
        }
        #expect(error?.code == .unsupportedProbe)
        #expect(error?.message.contains("silent/1") == true)
        #expect(engine.executor == nil)
    }
}
