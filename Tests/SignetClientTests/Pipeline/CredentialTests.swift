import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// An engine that accepts one token and responds with 401 to all others.
private final class GuardedEngine: HTTPEngine {
    let capabilities = EngineCapabilities(
        name: "guarded", pinsPublicKeys: true, speaksHTTP2: false)
    private let good: Mutex<String>
    private let seen = Mutex<[String]>([])

    init(good: String) { self.good = Mutex(good) }

    /// The Authorization fields of all requests, `-` for none.
    var tokens: [String] { seen.withLock { $0 } }
    func accept(_ token: String) { good.withLock { $0 = token } }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let token = request.request.headerFields[.authorization] ?? "-"
        seen.withLock { $0.append(token) }
        let isOpen = request.request.path == "/v1/open"
        let isGood = isOpen || token == "Bearer \(good.withLock { $0 })"
        return EngineResponse(
            response: HTTPResponse(status: isGood ? .ok : .unauthorized),
            body: HTTPResponseBody(bytes: Array("1".utf8)), httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}
}

@Suite struct CredentialTests {
    /// Gives numbered tokens, after some work.
    private final class Source: CredentialSource {
        let scope: String
        private let count = Mutex(0)
        private let work: @Sendable () async throws -> Void

        init(scope: String = "", work: @escaping @Sendable () async throws -> Void = {}) {
            self.scope = scope
            self.work = work
        }

        var asked: Int { count.withLock { $0 } }

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            let number = count.withLock { count in
                count += 1
                return count
            }
            try await work()
            return .bearer("\(scope)\(number)")
        }
    }

    private static func call(
        _ system: NetworkSystem, _ source: (any CredentialSource)?,
        _ method: HTTPRequest.Method = .get
    ) async -> ClientError.Code? {
        var options = RequestOptions()
        options.credentials = source
        let given = options
        return await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(method, "/x"), on: "a", options: given)
        }
    }

    private static func calls(
        _ count: Int, _ system: NetworkSystem, _ source: any CredentialSource
    ) async -> [ClientError.Code?] {
        await withTaskGroup(of: ClientError.Code?.self) { group in
            for _ in 0..<count { group.addTask { await call(system, source) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(.features("001-02")) func aThousandCallsRefreshOnce() async throws {
        let engine = GuardedEngine(good: "1")
        let system = try await Pipeline.system(engine)
        let source = Source()
        #expect(await Self.calls(1000, system, source).allSatisfy { $0 == nil })
        #expect(source.asked == 1 && engine.tokens.count == 1000)
        engine.accept("2")
        #expect(await Self.calls(1000, system, source).allSatisfy { $0 == nil })
        #expect(source.asked == 2)
        // After the refresh nothing goes out with the old one.
        let tokens = engine.tokens
        #expect(tokens.last == "Bearer 2")
        #expect(tokens.count { $0 == "Bearer 2" } == 1000)
        await system.shutdown()
    }

    /// An administrator's token isn't used for a user whose source has the same scope.
    @Test func sourcesOfTwoTypesShareNoCredential() async throws {
        struct Administrator: CredentialSource {
            let scope = ""
            func credential(
                replacing old: Credential?, for call: CallIdentity
            ) async throws -> Credential { .bearer("ADMIN") }
        }
        let engine = GuardedEngine(good: "1")
        let system = try await Pipeline.system(engine)
        _ = await Self.call(system, Administrator())
        let before = engine.tokens.count
        #expect(await Self.call(system, Source()) == nil)
        #expect(engine.tokens.dropFirst(before) == ["Bearer 1"])
        await system.shutdown()
    }

    @Test func forgetsTheCredentialsOfAScope() async throws {
        let engine = GuardedEngine(good: "any")
        let system = try await Pipeline.system(engine)
        let (ann, bob) = (Source(scope: "ann"), Source(scope: "bob"))
        engine.accept("ann1")
        #expect(await Self.call(system, ann) == nil)
        engine.accept("bob1")
        #expect(await Self.call(system, bob) == nil)
        system.removeCredentials(of: "ann")
        #expect(await Self.call(system, bob) == nil && bob.asked == 1)
        engine.accept("ann2")
        #expect(await Self.call(system, ann) == nil && ann.asked == 2)
        system.removeCredentials()
        engine.accept("bob2")
        #expect(await Self.call(system, bob) == nil && bob.asked == 2)
        // Nothing was sent with a credential that had been forgotten.
        #expect(engine.tokens.suffix(2) == ["Bearer ann2", "Bearer bob2"])
        await system.shutdown()
    }

    @Test func aRejectedNewCredentialIsFinal() async throws {
        let engine = GuardedEngine(good: "none")
        let system = try await Pipeline.system(engine)
        let source = Source()
        #expect(await Self.call(system, source, .post) == .httpStatus)
        #expect(engine.tokens == ["Bearer 1", "Bearer 2"] && source.asked == 2)
        #expect(await Self.call(system, nil) == .httpStatus)
        #expect(engine.tokens.last == "-" && source.asked == 2)
        await system.shutdown()
    }

    @Test func aFailedRefreshSendsNothing() async throws {
        struct Failure: Error { let secret = "ZZZZZZ" }
        let engine = GuardedEngine(good: "1")
        let system = try await Pipeline.system(engine)
        let source = Source { throw Failure() }
        let codes = await Self.calls(100, system, source)
        #expect(codes.count == 100 && codes.allSatisfy { $0 == .credentialFailed })
        #expect(engine.tokens.isEmpty)
        await system.shutdown()
    }

    @Test func aRefreshByTheSameSystemDoesNotDeadlock() async throws {
        struct Renewing: CredentialSource {
            let scope = "user"
            let system: NetworkSystem
            func credential(
                replacing old: Credential?, for call: CallIdentity
            ) async throws -> Credential {
                var options = RequestOptions()
                options.credentials = self
                _ = try await system.call(RESTRequest(.get, "/open"), on: "a", options: options)
                return .bearer("1")
            }
        }
        let engine = GuardedEngine(good: "1")
        let system = try await Pipeline.system(engine)
        #expect(await Self.call(system, Renewing(system: system)) == nil)
        #expect(engine.tokens == ["-", "Bearer 1"])
        await system.shutdown()
    }

    @Test func usersAreSeparate() async throws {
        let engine = GuardedEngine(good: "u1")
        let system = try await Pipeline.system(engine)
        let (one, two) = (Source(scope: "u"), Source(scope: "v"))
        #expect(await Self.call(system, one) == nil)
        #expect(await Self.call(system, two) == .httpStatus)
        #expect(engine.tokens == ["Bearer u1", "Bearer v1", "Bearer v2"])
        #expect(one.asked == 1 && two.asked == 2)
        await system.shutdown()
    }

    @Test func aWaitingCallReturnsAtOnceIfCancelled() async throws {
        let (gate, producer) = AsyncStream.makeStream(of: Void.self)
        let engine = GuardedEngine(good: "1")
        let system = try await Pipeline.system(engine)
        let source = Source { for await _ in gate { break } }
        let first = Task { await Self.call(system, source) }
        #expect(try await eventually { source.asked == 1 })
        let second = Task { await Self.call(system, source) }
        #expect(try await eventually { system.pipeline.attempts.credentials.waitingCount == 2 })
        first.cancel()
        #expect(await first.value == .cancelled)
        producer.yield()
        #expect(await second.value == nil)
        #expect(source.asked == 1)
        await system.shutdown()
    }

    @Test func aSourceThatNeverReturnsEndsWithTheSystem() async throws {
        let (gate, producer) = AsyncStream.makeStream(of: Void.self)
        let engine = GuardedEngine(good: "1")
        let system = try await Pipeline.system(engine)
        let source = Source { for await _ in gate {} }
        let call = Task { await Self.call(system, source) }
        #expect(try await eventually { source.asked == 1 })
        await system.shutdown(gracePeriod: .zero)
        #expect(await call.value == .notRunning)
        #expect(engine.tokens.isEmpty)
        producer.finish()
    }

    @Test func nothingOfACredentialPrints() {
        let credential = Credential.bearer("ZZZZZZ")
        var text = "\(credential) \(String(reflecting: credential))"
        dump(credential, to: &text)
        #expect(!text.contains("ZZZZZZ"))
    }
}
