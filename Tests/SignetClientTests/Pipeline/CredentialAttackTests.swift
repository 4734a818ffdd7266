import HTTPTypes
import SignetRPC
import SignetSystem
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Sources of credentials that change, hang, come too late or are never accepted.
@Suite struct CredentialAttackTests {
    /// Gives tokens that a test makes.
    private final class Source: CredentialSource {
        private let name: Mutex<String>
        private let count = Mutex(0)
        private let make: @Sendable (_ number: Int) async throws -> String

        init(
            _ scope: String = "",
            make: @escaping @Sendable (_ number: Int) async throws -> String = { "\($0)" }
        ) {
            name = Mutex(scope)
            self.make = make
        }

        var asked: Int { count.withLock { $0 } }
        var scope: String {
            get { name.withLock { $0 } }
            set { name.withLock { $0 = newValue } }
        }

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .bearer(try await make(number))
        }
    }

    /// Rejects every token, or accepts every one, and keeps them.
    private final class TokenEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "tokens", pinsPublicKeys: true, speaksHTTP2: false)
        private let accepts: Bool
        private let seen = Mutex<[String]>([])
        var tokens: [String] { seen.withLock { $0 } }

        init(accepts: Bool) { self.accepts = accepts }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let token = request.request.headerFields[.authorization] ?? "-"
            seen.withLock { $0.append(token) }
            return EngineResponse(
                response: HTTPResponse(status: accepts ? .ok : .unauthorized),
                body: HTTPResponseBody(bytes: Array("1".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private static func call(
        _ system: NetworkSystem, _ source: any CredentialSource,
        change: (inout RequestOptions) -> Void = { _ in }
    ) async -> ClientError.Code? {
        var options = RequestOptions()
        options.credentials = source
        change(&options)
        let given = options
        return await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
        }
    }

    private static let someCall = CallIdentity(
        id: .init(number: 1), service: "a", method: "GET", tags: [])

    // MARK: Users

    /// Swift treats both names as equal; a server may not.
    @Test func usersWhoseNamesHaveOtherBytesAreSeparate() async throws {
        let engine = TokenEngine(accepts: true)
        let system = try await Pipeline.system(engine)
        let (one, two) = (
            Source("u\u{E9}") { _ in "one" }, Source("ue\u{301}") { _ in "two" }
        )
        #expect(one.scope == two.scope)
        #expect(await Self.call(system, one) == nil)
        #expect(await Self.call(system, two) == nil)
        #expect(engine.tokens == ["Bearer one", "Bearer two"])
        await system.shutdown()
    }

    @Test func aSourceThatChangesItsUserGivesNothing() async throws {
        let engine = TokenEngine(accepts: true)
        let system = try await Pipeline.system(engine)
        let box = Mutex<Source?>(nil)
        let source = Source("one") { number in
            if number == 1 { box.withLock { $0?.scope = "two" } }
            return "\(number)"
        }
        box.withLock { $0 = source }
        #expect(await Self.call(system, source) == .credentialFailed)
        #expect(engine.tokens.isEmpty)
        // It is asked again for the other user.
        #expect(await Self.call(system, source) == nil)
        #expect(engine.tokens == ["Bearer 2"])
        box.withLock { $0 = nil }
        await system.shutdown()
    }

    /// The user of a call is the one of its beginning.
    @Test func aCallKeepsItsUser() async throws {
        struct Switching: CallInterceptor {
            let source: Source
            func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
                source.scope = "two"
                return try await next(call)
            }
        }
        let engine = TokenEngine(accepts: true)
        let system = try await Pipeline.system(engine)
        let source = Source("one")
        #expect(await Self.call(system, source) == nil)
        let code = await Self.call(system, source) {
            $0.interceptors = [Switching(source: source)]
        }
        #expect(code == nil)
        #expect(engine.tokens == ["Bearer 1", "Bearer 1"] && source.asked == 1)
        await system.shutdown()
    }

    // MARK: Failures

    @Test func aSourceThatThrowsOnceIsAskedAgain() async throws {
        struct Failure: Error {}
        let engine = TokenEngine(accepts: true)
        let system = try await Pipeline.system(engine)
        let source = Source { number in
            if number == 1 { throw Failure() }
            return "\(number)"
        }
        #expect(await Self.call(system, source) == .credentialFailed)
        #expect(engine.tokens.isEmpty)
        #expect(await Self.call(system, source) == nil)
        #expect(engine.tokens == ["Bearer 2"] && source.asked == 2)
        await system.shutdown()
    }

    /// Nobody waits for the first token any more when it comes, after the second one.
    @Test func aTokenThatComesTooLateReplacesNoNewerOne() async throws {
        let engine = TokenEngine(accepts: true)
        let system = try await Pipeline.system(engine)
        let hold = Hold()
        let isLate = Mutex(false)
        let source = Source { number in
            guard number == 1 else { return "new" }
            await hold.wait()
            isLate.withLock { $0 = true }
            return "old"
        }
        let first = Task { await Self.call(system, source) }
        #expect(try await eventually { source.asked == 1 })
        first.cancel()
        #expect(await first.value == .cancelled)
        #expect(await Self.call(system, source) == nil)
        hold.letGo()
        #expect(try await eventually { isLate.withLock { $0 } })
        for _ in 0..<20 { #expect(await Self.call(system, source) == nil) }
        #expect(engine.tokens.allSatisfy { $0 == "Bearer new" } && source.asked == 2)
        await system.shutdown()
    }

    /// The source's own call is the same one as the call that waits for the source.
    @Test(arguments: [DuplicatePolicy.join, .refuse, .replace])
    func aSourcesOwnCallIsAnotherOne(_ policy: DuplicatePolicy) async throws {
        struct Renewing: CredentialSource {
            let scope = "user"
            let system: NetworkSystem
            let policy: DuplicatePolicy
            func credential(
                replacing old: Credential?, for call: CallIdentity
            ) async throws -> Credential {
                var options = RequestOptions()
                options.credentials = self
                options.duplicates = policy
                _ = try await system.call(RESTRequest(.get, "/x"), on: "a", options: options)
                return .bearer("1")
            }
        }
        let engine = TokenEngine(accepts: true)
        let system = try await Pipeline.system(engine)
        let code = await Self.call(system, Renewing(system: system, policy: policy)) {
            $0.duplicates = policy
        }
        #expect(code == nil)
        #expect(engine.tokens == ["-", "Bearer 1"])
        await system.shutdown()
    }

    // MARK: Storms

    /// If a server accepts no token, calls soon stop to ask the server twice and the source again.
    @Test func rejectedTokensCauseNoStorm() async throws {
        let clock = Mutex(MonotonicTime.now)
        let store = CredentialStore { clock.withLock { $0 } }
        let source = Source()
        let key = CredentialKey(of: source, at: "a")
        func renew(_ rejected: NumberedCredential?) async throws -> NumberedCredential? {
            try await store.credential(
                of: source, for: key, replacing: rejected, by: Self.someCall)
        }
        var last = try await renew(nil)
        for number in 2...3 {
            last = try await renew(last)
            #expect(last != nil && source.asked == number)
        }
        for _ in 0..<100 { #expect(try await renew(last) == nil) }
        #expect(source.asked == 3)
        // Calls are still sent, with the last one.
        #expect(try await renew(nil)?.number == last?.number)
        for pause in [1, 2, 4, 8, 16, 32, 64, 64] {
            clock.withLock { $0 = $0 + (.seconds(pause) - .milliseconds(1)) }
            #expect(try await renew(last) == nil)
            clock.withLock { $0 = $0 + .milliseconds(1) }
            let asked = source.asked
            last = try await renew(last)
            #expect(last != nil && source.asked == asked + 1)
        }
        // One that is accepted ends it.
        store.noteAccepted(last, for: key)
        for _ in 0..<2 { last = try await renew(last) }
        #expect(try await renew(last) != nil)
        #expect(try await renew(try await renew(nil)) == nil)
    }

    @Test func aRejectingServerGetsFewRequests() async throws {
        let engine = TokenEngine(accepts: false)
        let system = try await Pipeline.system(engine)
        let source = Source()
        for _ in 0..<100 { #expect(await Self.call(system, source) == .httpStatus) }
        // Three in the first second, and a few in the seconds that the calls take.
        #expect(source.asked < 10 && engine.tokens.count < 110)
        await system.shutdown()
    }

    @Test func theLastUsedCredentialsAreKept() async throws {
        let store = CredentialStore(capacity: 4)
        let sources = (0..<40).map { Source("\($0)") }
        for source in sources {
            for wanted in [source, sources[0]] {
                _ = try await store.credential(
                    of: wanted, for: CredentialKey(of: wanted, at: "a"), by: Self.someCall)
            }
        }
        #expect(sources[0].asked == 1 && store.count <= 4)
        let dropped = sources[1]
        _ = try await store.credential(
            of: dropped, for: CredentialKey(of: dropped, at: "a"), by: Self.someCall)
        #expect(dropped.asked == 2)
    }
}
