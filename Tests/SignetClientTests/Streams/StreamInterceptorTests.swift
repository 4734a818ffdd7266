import HTTPTypes
import SignetClient
import SignetTransport
import TestSupport
import Testing

/// Streams of calls whose interceptors respond themselves, call `next` again or catch failures.
@Suite(.timeLimit(.minutes(2))) struct StreamInterceptorTests {
    private let engine = FeedingEngine()

    private func stream(
        _ system: NetworkSystem, _ options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> StreamedResponse {
        try await system.stream("a", method: .get, target: "/x", options: options)
    }

    /// The code with which the rest of a body ends.
    private func ending(_ response: StreamedResponse) async -> ClientError.Code? {
        await Pipeline.code { () async throws(ClientError) in
            try await response.body.collect(limit: 1 << 20)
        }
    }

    @Test func anInterceptorsOwnResponseIsHandedOut() async throws {
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        options.interceptors = [Responding()]
        let response = try await stream(system, options)
        #expect(response.status == 203 && engine.requests.isEmpty)
        #expect(try await response.body.collect(limit: 9) == [5])
        await system.shutdown()
    }

    private struct Responding: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            UnboxedResponse(RawResponse(status: 203, body: [5]))
        }
    }

    private struct Twice: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            _ = try await next(call)
            return try await next(call)
        }
    }

    @Test func areHandedOutOnce() async throws {
        let recording = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(recording)
        var options = RequestOptions()
        options.interceptors = [Twice()]
        let response = try await stream(system, options)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Array("1".utf8))
        #expect(await ending(response) == .interceptorFailed)
        await system.shutdown()
    }

    /// Takes every failure for a response without a body.
    private struct Calming: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            do {
                return try await next(call)
            } catch {
                return UnboxedResponse(RawResponse(status: 200, body: []))
            }
        }
    }

    @Test(arguments: ["cut", "size", "digest"], [false, true])
    func endWithAFailureThatIsCaught(_ what: String, _ isREST: Bool) async throws {
        let digest = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
        let engine = FeedingEngine(
            fields: what == "digest"
                ? [.contentEncoding: "gzip", .init("Content-Digest")!: digest] : [:])
        let system = try await Pipeline.system(engine) { $0.decoding = ContentDecoding() }
        let events = system.events
        var options = RequestOptions()
        options.interceptors = [Calming()]
        options.maximumResponseSize = 30
        let response =
            isREST
            ? try await system.stream(RESTRequest(.get, "/x"), from: "a", options: options)
            : try await stream(system, options)
        engine.feed(StreamTests.packed)
        if what == "size" { engine.feed(StreamTests.packed) }
        engine.end(what == "cut" ? TransportError(.cutOff, "cut") : nil)
        let wanted: ClientError.Code =
            switch what {
            case "cut": .cutOff
            case "size": .responseTooLarge
            default: .malformedResponse
            }
        #expect(await ending(response) == wanted)
        await system.shutdown()
        for await case .finished(let record) in events { #expect(record.failure == wanted) }
    }

    @Test func endWithAnInterceptorThatLeavesThem() async throws {
        struct Leaving: CallInterceptor {
            let gate: AsyncStream<Void>
            func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
                Task { try await next(call) }
                for await _ in gate { break }
                return UnboxedResponse(RawResponse(status: 200, body: []))
            }
        }
        let system = try await Pipeline.system(engine)
        let (gate, producer) = AsyncStream.makeStream(of: Void.self)
        var options = RequestOptions()
        options.interceptors = [Leaving(gate: gate)]
        let response = try await stream(system, options)
        producer.yield()
        #expect(await ending(response) == .interceptorFailed)
        await system.shutdown()
    }
}
