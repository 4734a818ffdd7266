import HTTPTypes
import SignetClient
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Downloads whose interceptors call `next` more than once.
@Suite(.timeLimit(.minutes(2))) struct DownloadInterceptorTests {
    /// Sends half of a body of its own for each request, and the other half after `sendRest()`.
    private final class HalvingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "halving", pinsPublicKeys: true, speaksHTTP2: false)
        private let bodies = Mutex<[BodyBuffer]>([])
        var count: Int { bodies.withLock { $0.count } }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let body = BodyBuffer(capacity: 100, drained: {}, abandoned: {})
            let number = bodies.withLock { bodies in
                bodies.append(body)
                return bodies.count
            }
            _ = body.offer([UInt8](repeating: UInt8(number), count: 4))
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(body),
                httpVersion: .init(major: 1, minor: 1))
        }

        func finish() {
            for (index, body) in bodies.withLock({ $0 }).enumerated() {
                _ = body.offer([UInt8](repeating: UInt8(index + 1), count: 4))
                body.finish()
            }
        }

        func shutdown() async {}
    }

    private struct Hedging: CallInterceptor {
        let refused: AsyncStream<ClientError.Code>.Continuation

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            await withTaskGroup(of: UnboxedResponse?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do throws(ClientError) {
                            return try await next(call)
                        } catch {
                            refused.yield(error.code)
                            return nil
                        }
                    }
                }
                return await group.reduce(nil) { $0 ?? $1 }
                    ?? UnboxedResponse(RawResponse(status: 500, body: []))
            }
        }
    }

    @Test func neverMixTwoBodies() async throws {
        let engine = HalvingEngine()
        let system = try await Pipeline.system(engine)
        let folder = try TemporaryDirectory()
        let (refusals, refused) = AsyncStream.makeStream(of: ClientError.Code.self)
        var options = RequestOptions()
        options.interceptors = [Hedging(refused: refused)]
        let given = options
        let path = folder.path("file")
        let download = Task {
            try await system.download("a", target: "/x", to: path, options: given)
        }
        for await code in refusals {
            #expect(code == .interceptorFailed)
            break
        }
        engine.finish()
        #expect(try await download.value.byteCount == 8)
        let bytes = try folder.read("file")
        #expect(bytes == [UInt8](repeating: bytes[0], count: 8))
        await system.shutdown()
    }

    private struct Twice: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            _ = try await next(call)
            return try await next(call)
        }
    }

    @Test func areFetchedOnce() async throws {
        let engine = RecordingEngine(responses: [.init(body: "tea")])
        let system = try await Pipeline.system(engine)
        let folder = try TemporaryDirectory()
        var options = RequestOptions()
        options.interceptors = [Twice()]
        let given = options
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.download("a", target: "/x", to: folder.path("file"), options: given)
        }
        #expect(code == .interceptorFailed && engine.count == 1)
        await system.shutdown()
    }
}
