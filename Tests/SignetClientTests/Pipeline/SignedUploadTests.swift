import HTTPTypes
import SignetBase
import SignetClient
import SignetCrypto
import SignetSigning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Signed uploads from a stream: an engine reads exactly the bytes that the signature covers.
@Suite struct SignedUploadTests {
    /// Reads each request's body as an engine does.
    private final class ReadingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "reading", pinsPublicKeys: true, speaksHTTP2: false)
        let taken = Mutex<[(request: HTTPRequest, body: [UInt8], isWhole: Bool)]>([])

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            var body: [UInt8] = []
            do throws(TransportError) {
                var reader = try request.body.makeReader()
                while let chunk = try await reader.next() { body += chunk }
            } catch {
                taken.withLock { $0.append((request.request, body, false)) }
                throw error
            }
            taken.withLock { $0.append((request.request, body, true)) }
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: []),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    /// A sequence of chunks that differs on each pass, if a test wants that.
    private struct Passes: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var chunks: [[UInt8]]
        func makeAsyncIterator() -> Passes { self }
        mutating func next() async throws -> [UInt8]? {
            chunks.isEmpty ? nil : chunks.removeFirst()
        }
    }

    private let keys: KeySet
    private let engine = ReadingEngine()

    init() throws {
        keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"HS","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                    .utf8), source: "test")
    }

    private func send(_ body: HTTPRequestBody, scheme: String = "rfc9421") async -> ClientError? {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.dangerous.allowUnpinnedServices()
        do throws(ClientError) {
            let system = try await NetworkSystem.start(
                services: [
                    "a": ServiceConfiguration(
                        baseURL: "https://api.example.com", payloadProtocol: .rest,
                        signing: .init(scheme: scheme, keyID: "HS"), timeout: .seconds(300))
                ], keys: keys, policy: nil, options: options)
            _ = try await system.exchange(
                "a", method: .put, target: "/a", fields: [:], body: body)
            return nil
        } catch {
            return error
        }
    }

    private static let chunks: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 70_000)]

    @Test(.features("002-05"), arguments: ["rfc9421", "salted-hmac-v1"])
    func theBodyThatTheEngineReadsVerifies(_ scheme: String) async throws {
        let body = HTTPRequestBody.replayable { Passes(chunks: Self.chunks) }
        #expect(await send(body, scheme: scheme) == nil)
        let taken = try #require(engine.taken.withLock { $0.first })
        #expect(taken.isWhole && taken.body == Self.chunks.flatMap { $0 })
        let verifier = try Verifier(scheme: SigningScheme(named: scheme), keys: keys)
        let message = try SignableMessage(request: taken.request, body: taken.body)
        _ = try await verifier.verify(message, now: UnixTime.now())
        var changed = message
        changed.setBody(taken.body + [0])
        await #expect(throws: SigningError.self) {
            try await verifier.verify(changed, now: UnixTime.now())
        }
    }

    @Test func neverSendsTheLastPieceOfAChangedBody() async throws {
        for second: [[UInt8]] in [[[1, 2, 4]], [[1, 2]], [[1, 2, 3], [4]], []] {
            let pass = Mutex(0)
            let body = HTTPRequestBody.replayable {
                let number = pass.withLock { pass in
                    pass += 1
                    return pass
                }
                return Passes(chunks: number == 1 ? [[1, 2, 3]] : second)
            }
            let error = await send(body)
            #expect(["body-changed", "body-length"].contains(error?.code.name ?? ""), "\(second)")
            #expect(error?.kind == .local)
        }
        #expect(engine.taken.withLock { $0.allSatisfy { !$0.isWhole && $0.body.count < 3 } })
    }

    @Test func refusesABodyThatCannotBeReadTwice() async throws {
        let error = await send(.stream(Passes(chunks: Self.chunks)))
        #expect(error?.code.name == "body-not-replayable")
        #expect(engine.taken.withLock { $0.isEmpty })
    }
}
