import SignetCrypto
import Synchronization
import TestSupport
import Testing

@testable import SignetSigning

/// Ends the loops of tasks.
private final class Ending: Sendable {
    private let state = Atomic(false)

    var hasCome: Bool { state.load(ordering: .acquiring) }

    func come() { state.store(true, ordering: .releasing) }
}

/// A verifier in a server that runs for long: key rotation, stores and many threads.
@Suite struct ServerVerifierTests {
    private let now = Sample.now
    private static let other = [UInt8](100..<132)

    private func keys(_ keys: String...) throws -> KeySet { try Sample.keySet(keys) }

    private func key(_ id: String, _ members: String = "", _ secret: [UInt8] = Sample.secret)
        -> String
    {
        Sample.jwk(
            id, #""alg":"HS256","use":"sig"\#(members.isEmpty ? "" : ",")\#(members)"#, secret)
    }

    /// The sample request, signed by a key of a set.
    private func signed(
        _ keys: KeySet, _ id: String, nonce: String? = nil, at time: Int64 = Sample.now,
        by scheme: SigningScheme = .rfc9421
    ) throws -> SignableMessage {
        var message = try Sample.message()
        let signer = try MessageSigner(scheme: scheme, key: keys.key(id: id))
        _ = try signer.sign(&message, now: time, nonce: nonce)
        return message
    }

    private func reason(
        _ verifier: Verifier, _ message: SignableMessage, at time: Int64 = Sample.now
    ) -> String {
        code { _ = try verifier.verify(message, now: time) }
    }

    // MARK: Keys

    @Test(
        .features("003-23"),
        arguments: [
            (-1, "no error", "key-not-yet-valid"), (0, "no error", "no error"),
            (99, "no error", "no error"), (100, "key-expired", "no error"),
            (101, "key-expired", "no error"),
        ])
    func acceptsTwoKeysDuringARotation(_ later: Int64, _ old: String, _ new: String) throws {
        let signing = try keys(key("old"), key("new", "", Self.other))
        let verifier = try Verifier(
            keys: keys(
                key("old", #""exp":\#(now + 100)"#),
                key("new", #""nbf":\#(now)"#, Self.other)))
        let time = now + later
        #expect(reason(verifier, try signed(signing, "old", at: time), at: time) == old)
        #expect(reason(verifier, try signed(signing, "new", at: time), at: time) == new)
    }

    @Test func refusesAfterTheKeysExpiration() throws {
        let set = try keys(key("k", #""exp":\#(now + 10)"#))
        let message = try signed(set, "k")
        let verifier = try Verifier(keys: set)
        #expect(reason(verifier, message, at: now + 9) == "no error")
        #expect(reason(verifier, message, at: now + 10) == "key-expired")
    }

    @Test func exchangesKeysAndKeepsNonces() throws {
        let first = try keys(key("a"), key("b", "", Self.other))
        let verifier = try Verifier(keys: first, nonces: MemoryNonceStore())
        let a = try signed(first, "a", nonce: "1")
        #expect(reason(verifier, a) == "no error")
        // Revoked, gone, and of another secret under the same name.
        verifier.replaceKeys(with: try keys(key("a", #""revoked":true"#)))
        #expect(reason(verifier, try signed(first, "a", nonce: "2")) == "key-revoked")
        #expect(reason(verifier, try signed(first, "b", nonce: "1")) == "unknown-key")
        verifier.replaceKeys(with: try keys(key("a", "", Self.other)))
        #expect(reason(verifier, try signed(first, "a", nonce: "2")) == "signature-mismatch")
        verifier.replaceKeys(with: first)
        #expect(reason(verifier, a) == "replayed-nonce")
        #expect(reason(verifier, try signed(first, "a", nonce: "2")) == "no error")
        verifier.replaceKeys(with: try Sample.keySet([]))
        #expect(reason(verifier, try signed(first, "a", nonce: "3")) == "unknown-key")
    }

    @Test(
        arguments: ["standard-webhooks", "salted-hmac-v1", "alibaba-acs3"])
    func exchangesTheKeysOfAScheme(_ name: String) throws {
        let scheme = try SigningScheme(named: name)
        let first = try keys(key("a"))
        let second = try keys(key("a", "", Self.other))
        let verifier = try Verifier(scheme: scheme, keys: first, nonces: MemoryNonceStore())
        for (number, set) in [first, second, first, second].enumerated() {
            verifier.replaceKeys(with: set)
            let good = try signed(set, "a", nonce: "n\(number)", by: scheme)
            #expect(reason(verifier, good) == "no error")
            let bad = try signed(number % 2 == 0 ? second : first, "a", nonce: "m", by: scheme)
            #expect(reason(verifier, bad) == "signature-mismatch")
            #expect(reason(verifier, good) == "replayed-nonce")
        }
    }

    /// Every verification that begins after the exchange uses the new keys.
    @Test func usesNewKeysOnEveryThread() async throws {
        let first = try keys(key("a"))
        let second = try keys(key("a", "", Self.other))
        let messages = [try signed(first, "a"), try signed(second, "a")]
        let verifier = try Verifier(keys: first)
        let ending = Ending()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    while !ending.hasCome {
                        let outcomes = messages.map { message in
                            code { _ = try verifier.verify(message, now: Sample.now) }
                        }
                        #expect(
                            outcomes.allSatisfy { $0 == "no error" || $0 == "signature-mismatch" })
                        await Task.yield()
                    }
                }
            }
            for round in 0..<16 {
                let new = (round + 1) % 2
                verifier.replaceKeys(with: [first, second][new])
                // Each may run on another thread.
                let outcomes = await withTaskGroup(of: [String].self) { inner in
                    for _ in 0..<4 {
                        inner.addTask {
                            messages.map { message in
                                code { _ = try verifier.verify(message, now: Sample.now) }
                            }
                        }
                    }
                    return await inner.reduce(into: []) { $0.append($1) }
                }
                for outcome in outcomes {
                    #expect(outcome[new] == "no error" && outcome[1 - new] == "signature-mismatch")
                }
            }
            ending.come()
            try await group.waitForAll()
        }
    }

    /// The sets have two keys of one name, or a key for another use.
    @Test func refusesUnusableSets() throws {
        #expect(throws: KeyError.self) { try keys(key("a"), key("a", "", Self.other)) }
        let forVault = try keys(Sample.jwk("a", #""use":"enc""#))
        let message = try signed(keys(key("a")), "a")
        #expect(reason(try Verifier(keys: forVault), message) == "wrong-key-use")
        let longer = try keys(Sample.jwk("a", #""alg":"HS512","use":"sig""#, Sample.longSecret))
        #expect(reason(try Verifier(keys: longer), message) == "algorithm-mismatch")
    }

    @Test func limitsAlgorithmsByKey() throws {
        let set = try keys(key("a"), key("b", "", Self.other))
        var policy = VerificationPolicy()
        policy.allow([.ed25519, .rsaPSSSHA512], forKey: "a")
        let verifier = try Verifier(keys: set, policy: policy)
        #expect(reason(verifier, try signed(set, "a")) == "algorithm-not-allowed")
        #expect(reason(verifier, try signed(set, "b")) == "no error")
        policy.allow([], forKey: "b")
        let barred = try Verifier(keys: set, policy: policy)
        #expect(reason(barred, try signed(set, "b")) == "algorithm-not-allowed")
    }

    @Test func refusesAlgorithmsForASchemeWithoutAChoice() throws {
        let set = try keys(key("a"))
        var policies = [VerificationPolicy](repeating: VerificationPolicy(), count: 3)
        policies[0].allow([], forKey: "a")
        policies[1].allow([.hmacSHA256], forKey: "another")
        policies[2].algorithms = []
        for scheme in [.saltedHMAC, try SigningScheme(named: "stripe")] {
            for policy in policies {
                #expect(
                    code { _ = try Verifier(scheme: scheme, keys: set, policy: policy) }
                        == "unsupported-option")
            }
            #expect(code { _ = try Verifier(scheme: scheme, keys: set) } == "no error")
        }
    }

    // MARK: Nonces

    /// A nonce that the signature doesn't cover doesn't protect from a replay.
    @Test func refusesAnUncoveredNonceBeforehand() throws {
        for name in ["github", "stripe", "aws-sigv4"] {
            let scheme = try SigningScheme(named: name)
            var policy = VerificationPolicy()
            if name == "aws-sigv4" { policy.settings = ["region": "r", "service": "s"] }
            #expect(
                code {
                    _ = try Verifier(
                        scheme: scheme, keys: keys(key("a")), policy: policy,
                        nonces: MemoryNonceStore())
                } == "unsupported-option")
            policy.requiresNonce = true
            #expect(
                code { _ = try Verifier(scheme: scheme, keys: keys(key("a")), policy: policy) }
                    == "unsupported-option")
        }
        let carried = try SigningScheme(
            document: document(text: "{method}\\n{host}\\n{target}\\n{time}\\n{body}"))
        #expect(
            code {
                _ = try Verifier(
                    scheme: carried, keys: keys(key("a")), nonces: MemoryNonceStore())
            } == "unsupported-option")
    }

    private func document(text: String) -> [UInt8] {
        Array(
            """
            {"signet-scheme": 1, "name": "own", "about": "A scheme of a test's own.",
             "source": "https://example.com",
             "nonce": {"bytes": 16, "as": "hex"},
             "inject": [
               {"header": "X-Nonce", "value": "{nonce}"}, {"header": "X-Time", "value": "{time}"},
               {"header": "X-Lifetime", "value": "{lifetime}"}, {"header": "X-Key", "value": "{keyid}"}],
             "text": "\(text)", "sign": {"hmac": "sha256"}, "signature": "hex",
             "place": [{"header": "X-Signature", "value": "{signature}"}]}
            """.utf8)
    }

    @Test func remembersANonceUntilTheExpiration() throws {
        let scheme = try SigningScheme(
            document: document(
                text: "{nonce}\\n{lifetime}\\n{method}\\n{host}\\n{target}\\n{time}\\n{body}"))
        let set = try keys(key("a"))
        var message = try Sample.message()
        _ = try MessageSigner(scheme: scheme, key: set.key(id: "a")).sign(
            &message, now: now, expiration: now + 86_400, nonce: "n")
        let verifier = try Verifier(scheme: scheme, keys: set, nonces: MemoryNonceStore())
        #expect(reason(verifier, message) == "no error")
        for later: Int64 in [0, 361, 10_000, 86_399] {
            #expect(reason(verifier, message, at: now + later) == "replayed-nonce")
        }
        #expect(reason(verifier, message, at: now + 86_400) == "expired")
    }

    @Test(arguments: [false, true])
    func passesOneOfTheReplaysOfAStore(_ inFile: Bool) async throws {
        let folder = try TemporaryDirectory()
        let set = try keys(key("a"))
        let memory = MemoryNonceStore()
        let verifiers = try (0..<2).map { _ in
            try Verifier(
                keys: set,
                nonces: inFile ? FileNonceStore(path: folder.path("nonces")) : memory)
        }
        let count = inFile ? 40 : 200
        let messages = try (0..<count).map { try signed(set, "a", nonce: "n\($0)") }
        let passed = try await withThrowingTaskGroup(of: [Int].self) { group in
            for replay in 0..<8 {
                group.addTask {
                    var passed = [Int](repeating: 0, count: count)
                    for (number, message) in messages.enumerated() {
                        do throws(SigningError) {
                            _ = try await verifiers[replay % 2].verify(message, now: Sample.now)
                            passed[number] += 1
                        } catch {
                            #expect(error.code == .replayedNonce)
                        }
                    }
                    return passed
                }
            }
            return try await group.reduce([Int](repeating: 0, count: count)) { zip($0, $1).map(+) }
        }
        #expect(passed == Array(repeating: 1, count: count))
    }

    /// A store that fails.
    private struct BrokenStore: NonceStore {
        let code: SigningError.Code
        func remember(
            _ nonce: String, of keyID: String, expiration: Int64, now: Int64
        ) throws(SigningError) { throw SigningError(code, "broken") }
    }

    @Test func reportsAFailingStoreAsItsOwnFailure() async throws {
        let set = try keys(key("a"))
        let message = try signed(set, "a", nonce: "n")
        for wanted in [
            SigningError.Code.nonceStoreFull, .nonceStoreFailed, .nonceStoreUnavailable,
        ] {
            let verifier = try Verifier(keys: set, nonces: BrokenStore(code: wanted))
            #expect(reason(verifier, message) == wanted.name)
            #expect(await code { _ = try await verifier.verify(message, now: now) } == wanted.name)
            #expect(SigningError(wanted, "").isVerifierFailure)
            // A signature that is invalid anyway never reaches the store.
            let changed = try message.replacing("\"id\":1", with: "\"id\":2")
            #expect(reason(verifier, changed) == "digest-mismatch")
        }
        for wanted in [SigningError.Code.replayedNonce, .signatureMismatch, .unknownKey, .tooOld] {
            #expect(!SigningError(wanted, "").isVerifierFailure)
        }
    }

    /// A failure of OpenSSL under a key, unlike those of the key itself.
    @Test func aFailureOfOpenSSLIsOurOwn() {
        let failed = SigningError(KeyError(.cryptoFailed, "sign: OpenSSL reported a failure"))
        #expect(failed.code == .cryptoFailed && failed.isVerifierFailure)
        #expect(failed.message == "sign: OpenSSL reported a failure")
        for (code, wanted) in [
            (KeyError.Code.unknownKey, SigningError.Code.unknownKey), (.keyRevoked, .keyRevoked),
            (.keyExpired, .keyExpired), (.keyNotYetValid, .keyNotYetValid),
            (.wrongKeyUse, .wrongKeyUse), (.malformedKeys, .wrongKeyUse),
        ] {
            let error = SigningError(KeyError(code, ""))
            #expect(error.code == wanted && !error.isVerifierFailure, "\(code)")
        }
    }

    // MARK: What is proved

    @Test func returnsTheBodyOnlyIfItIsProved() throws {
        let message = try Sample.signed()
        #expect(try Sample.verifier().verify(message, now: now).body == message.body)
        let salted = try Sample.signed(.saltedHMAC)
        #expect(
            try Sample.verifier(.saltedHMAC).verify(salted, now: now).body == salted.body)
        let policy = try Sample.policy(required: "@method")
        let bare = try Sample.signed(covers: "@method,@path")
        #expect(try Sample.verifier(.rfc9421, policy).verify(bare, now: now).body == nil)
        let scheme = try SigningScheme(named: "standard-webhooks")
        let set = try keys(key("a"))
        let webhook = try signed(set, "a", nonce: "n", by: scheme)
        #expect(
            try Verifier(scheme: scheme, keys: set).verify(webhook, now: now).body == webhook.body)
    }
}
