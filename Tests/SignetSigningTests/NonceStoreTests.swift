import Foundation
import SignetSigning
import Synchronization
import TestSupport
import Testing

/// The number of times that each nonce was accepted.
private final class Tally: Sendable {
    private let state = Mutex<[String: Int]>([:])

    var counts: [String: Int] { state.withLock { $0 } }

    func count(_ nonce: String) { state.withLock { $0[nonce, default: 0] += 1 } }
}

/// The rules that all nonce stores share.
@Suite struct NonceStoreTests {
    private let now = Sample.now

    private func stores(_ folder: TemporaryDirectory) -> [any NonceStore] {
        [MemoryNonceStore(), FileNonceStore(path: folder.path("nonces"))]
    }

    @Test func takesANonceOfAKeyOnce() throws {
        let folder = try TemporaryDirectory()
        for store in stores(folder) {
            func code(_ nonce: String, _ key: String) -> String {
                SignetSigningTests.code {
                    try store.remember(nonce, of: key, expiration: now + 300, now: now)
                }
            }
            #expect(code("a", "k") == "no error")
            #expect(code("a", "k") == "replayed-nonce")
            #expect(code("a", "l") == "no error")
            #expect(code("b", "k") == "no error")
            // A border between key and nonce that moves makes another pair.
            #expect(code("ka", "") == "no error")
            #expect(code("", "ka") == "no error")
            #expect(code("a", "k") == "replayed-nonce")
        }
    }

    @Test func forgetsANonceWhenItExpires() throws {
        let folder = try TemporaryDirectory()
        for store in stores(folder) {
            try store.remember("a", of: "k", expiration: now + 10, now: now)
            #expect(
                code { try store.remember("a", of: "k", expiration: now + 20, now: now + 10) }
                    == "replayed-nonce")
            #expect(
                code { try store.remember("a", of: "k", expiration: now + 20, now: now + 11) }
                    == "no error")
        }
    }

    @Test func refusesATimeBeforeDroppedNonces() throws {
        let store = MemoryNonceStore()
        try store.remember("a", of: "k", expiration: now + 10, now: now)
        // Forgets nothing, also where threads come with the second before.
        try store.remember("b", of: "k", expiration: now + 20, now: now + 20)
        try store.remember("c", of: "k", expiration: now + 10, now: now)
        #expect(
            code { try store.remember("a", of: "k", expiration: now + 10, now: now + 9) }
                == "replayed-nonce")
        // Forgets a and c, which were live up to now + 10.
        try store.remember("d", of: "k", expiration: now + 30, now: now + 21)
        for nonce in ["a", "e"] {
            #expect(
                code { try store.remember(nonce, of: "k", expiration: now + 40, now: now + 10) }
                    == "nonce-store-failed")
        }
        #expect(
            code { try store.remember("b", of: "k", expiration: now + 40, now: now + 10) }
                == "replayed-nonce")
        try store.remember("e", of: "k", expiration: now + 40, now: now + 11)
    }

    @Test func remembersANonceThatIsUsedAfterItExpired() throws {
        let store = MemoryNonceStore()
        try store.remember("a", of: "k", expiration: now, now: now)
        try store.remember("a", of: "k", expiration: now + 50, now: now + 1)
        #expect(store.count == 1)
        // The first end passes, and the second one holds.
        for later: Int64 in [12, 50] {
            #expect(
                code { try store.remember("a", of: "k", expiration: now + 90, now: now + later) }
                    == "replayed-nonce")
        }
    }

    @Test func takesTimesOfAnySize() throws {
        let times = [Int64.min, -1, 0, now, .max]
        for expiry in times {
            let store = MemoryNonceStore()
            for (number, time) in times.enumerated() {
                try store.remember("\(number)", of: "k", expiration: expiry, now: time)
            }
        }
    }

    @Test func refusesWhenTheMemoryIsFull() throws {
        let store = MemoryNonceStore(capacity: 3)
        for nonce in ["a", "b", "c"] {
            try store.remember(nonce, of: "k", expiration: now + 10, now: now)
        }
        #expect(
            code { try store.remember("d", of: "k", expiration: now + 10, now: now) }
                == "nonce-store-full")
        #expect(
            code { try store.remember("a", of: "k", expiration: now + 10, now: now) }
                == "replayed-nonce")
        try store.remember("d", of: "k", expiration: now + 99, now: now + 11)
        #expect(store.count == 1)
        try store.remember("e", of: "k", expiration: now + 9_000_000, now: now + 8_000_000)
        #expect(store.count == 1)
    }

    @Test func writesNoNonceOfABadSignature() throws {
        let store = MemoryNonceStore()
        let verifier = try Sample.verifier(.rfc9421, nonces: store)
        let message = try Sample.signed(nonce: "n")
        for (old, new) in [
            ("\"id\":1", "\"id\":2"), ("/rpc", "/rpd"), ("keyid=\"orders-2026\"", "keyid=\"no\""),
        ] {
            let changed = try message.replacing(old, with: new)
            #expect(code { _ = try verifier.verify(changed, now: now) } != "no error")
        }
        #expect(store.count == 0)
        #expect(throws: Never.self) { _ = try verifier.verify(message, now: now) }
        #expect(store.count == 1)
        #expect(code { _ = try verifier.verify(message, now: now) } == "replayed-nonce")
        // Up to the last second at which the signature could be accepted.
        #expect(code { _ = try verifier.verify(message, now: now + 300) } == "replayed-nonce")
        #expect(code { _ = try verifier.verify(message, now: now - 60) } == "replayed-nonce")
    }

    @Test func requiresANonce() throws {
        let message = try Sample.signed()
        #expect(
            code {
                _ = try Sample.verifier(.rfc9421, nonces: MemoryNonceStore()).verify(
                    message, now: now)
            } == "missing-nonce")
        #expect(
            code {
                _ = try Sample.verifier(.rfc9421, Sample.policy(requiresNonce: true)).verify(
                    message, now: now)
            } == "missing-nonce")
    }

    @Test(arguments: [false, true])
    func passesOneOfManyReplays(_ inFile: Bool) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        let shared = MemoryNonceStore()
        let passed = Tally()
        let count = inFile ? 100 : 1000
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    // In a file: a store of its own for each, as processes have.
                    let store: any NonceStore = inFile ? FileNonceStore(path: path) : shared
                    for number in 0..<count {
                        let nonce = "n\(number)"
                        let taken: ()? = try? await store.remember(
                            nonce, of: "k", expiration: Sample.now + 300, now: Sample.now)
                        if taken != nil { passed.count(nonce) }
                    }
                }
            }
        }
        let counts = passed.counts
        #expect(counts.count == count)
        #expect(counts.values.allSatisfy { $0 == 1 })
    }
}
