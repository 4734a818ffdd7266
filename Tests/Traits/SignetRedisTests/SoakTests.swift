import Foundation
import SignetCrypto
import SignetRedis
import SignetSigning
import TestSupport
import Testing

/// Replays by the hundred thousand, through the whole verifier: `make soak`. Without `SIGNET_SOAK`
/// the same with fewer requests.
@Suite(.serialized) struct SoakTests {
    private static let isWhole = ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil
    private static let count = isWhole ? 100_000 : 300
    private static let replays = 8

    enum Kind: String, CaseIterable, Sendable { case memory, file, redis }

    /// Eight concurrent replays at two verifiers, in each of two runs.
    @Test(
        arguments: Kind.allCases)
    func passesOneOfEightReplays(_ kind: Kind) async throws {
        let folder = try TemporaryDirectory()
        let host = kind == .redis ? try await RedisHost.start() : nil
        let memory = MemoryNonceStore()
        // A separate store for each verifier, as two servers have, if the nonces are shared.
        let stores: [any NonceStore] = try (0..<2).map { _ in
            switch kind {
            case .memory: memory
            case .file: FileNonceStore(path: folder.path("nonces"), lockTimeout: .seconds(60))
            case .redis: try RedisNonceStore(#require(host).options)
            }
        }
        let keys = try KeySet(
            parsing: Array(
                #"""
                {"keys":[{"kty":"oct","kid":"soak","use":"sig","alg":"HS256",
                 "k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}
                """#.utf8), source: "a test")
        let verifiers = try stores.map { try Verifier(keys: keys, nonces: $0) }
        for run in 1...2 {
            let messages = try messages(keys, run)
            let start = ContinuousClock.now
            let passed = try await passes(messages, verifiers)
            let spent = ContinuousClock.now - start
            #expect(passed.allSatisfy { $0 == 1 })
            let sum = passed.reduce(0, +)
            #expect(sum == Self.count)
            if Self.isWhole {
                let calls = Self.count * Self.replays
                let rate = Double(calls) / (Double(spent.milliseconds) / 1000)
                print(
                    "soak: \(kind.rawValue), run \(run): \(sum) of \(Self.count) requests passed once,",
                    "\(calls - sum) replays refused, \(spent.milliseconds) ms,",
                    "\(Int(rate)) verifications a second")
            }
        }
    }

    private func messages(_ keys: KeySet, _ run: Int) throws -> [SignableMessage] {
        let signer = try MessageSigner(scheme: .rfc9421, key: keys.key(id: "soak"))
        let plain = try SignableMessage(
            parsing: Array("POST /orders HTTP/1.1\nHost: api.example.com\n\n{}".utf8))
        return try (0..<Self.count).map { number in
            var message = plain
            _ = try signer.sign(&message, now: now, nonce: "\(run)-\(number)")
            return message
        }
    }

    /// How often each message passed. Four parts of them are sent at once, each by eight tasks that
    /// go through it side by side.
    private func passes(
        _ messages: [SignableMessage], _ verifiers: [Verifier]
    ) async throws -> [Int] {
        let parts = 4
        return try await withThrowingTaskGroup(of: [Int].self) { group in
            for task in 0..<(parts * Self.replays) {
                group.addTask {
                    let verifier = verifiers[(task / parts) % verifiers.count]
                    var passed = [Int](repeating: 0, count: messages.count)
                    for number in stride(from: task % parts, to: messages.count, by: parts) {
                        do throws(SigningError) {
                            _ = try await verifier.verify(messages[number], now: now)
                            passed[number] += 1
                        } catch {
                            guard error.code == .replayedNonce else { throw error }
                        }
                    }
                    return passed
                }
            }
            return try await group.reduce([Int](repeating: 0, count: messages.count)) {
                zip($0, $1).map(+)
            }
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
