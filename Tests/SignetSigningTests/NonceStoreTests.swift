import Foundation
import SignetSigning
import Synchronization
import TestSupport
import Testing

/// How often each nonce was taken.
private final class Tally: Sendable {
    private let state = Mutex<[String: Int]>([:])

    var counts: [String: Int] { state.withLock { $0 } }

    func count(_ nonce: String) { state.withLock { $0[nonce, default: 0] += 1 } }
}

@Suite("Nonce stores")
struct NonceStoreTests {
    private let now = Sample.now

    private func stores(_ folder: TemporaryDirectory) -> [any NonceStore] {
        [MemoryNonceStore(), FileNonceStore(path: folder.path("nonces"))]
    }

    @Test("take a key's nonce once, and two keys' apart")
    func once() throws {
        let folder = try TemporaryDirectory()
        for store in stores(folder) {
            func code(_ nonce: String, _ key: String) -> String {
                SignetSigningTests.code {
                    try store.remember(nonce, of: key, until: now + 300, now: now)
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

    @Test("forget what has expired, not before")
    func expiry() throws {
        let folder = try TemporaryDirectory()
        for store in stores(folder) {
            try store.remember("a", of: "k", until: now + 10, now: now)
            #expect(
                code { try store.remember("a", of: "k", until: now + 20, now: now + 10) }
                    == "replayed-nonce")
            #expect(
                code { try store.remember("a", of: "k", until: now + 20, now: now + 11) }
                    == "no error")
        }
    }

    @Test("one in memory is bounded and then refuses")
    func bounded() throws {
        let store = MemoryNonceStore(capacity: 3)
        for nonce in ["a", "b", "c"] {
            try store.remember(nonce, of: "k", until: now + 10, now: now)
        }
        #expect(
            code { try store.remember("d", of: "k", until: now + 10, now: now) }
                == "nonce-store-full")
        #expect(
            code { try store.remember("a", of: "k", until: now + 10, now: now) }
                == "replayed-nonce")
        try store.remember("d", of: "k", until: now + 99, now: now + 11)
        #expect(store.count == 1)
        try store.remember("e", of: "k", until: now + 9_000_000, now: now + 8_000_000)
        #expect(store.count == 1)
    }

    @Test("a nonce is written only once the signature holds")
    func onlyGood() throws {
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
        // Up to the last second at which the signature could be taken.
        #expect(code { _ = try verifier.verify(message, now: now + 300) } == "replayed-nonce")
        #expect(code { _ = try verifier.verify(message, now: now - 60) } == "replayed-nonce")
    }

    @Test("a store demands a nonce, and so may a policy")
    func demanded() throws {
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

    @Test("of concurrent replays exactly one passes", arguments: [false, true])
    func concurrent(_ inFile: Bool) async throws {
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
                        let taken: ()? = try? store.remember(
                            nonce, of: "k", until: Sample.now + 300, now: Sample.now)
                        if taken != nil { passed.count(nonce) }
                    }
                }
            }
        }
        let counts = passed.counts
        #expect(counts.count == count)
        #expect(counts.values.allSatisfy { $0 == 1 })
    }

    @Test("a file is private, and shared by those who come later")
    func file() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        try FileNonceStore(path: path).remember("a", of: "k", until: now + 300, now: now)
        #expect(
            code { try FileNonceStore(path: path).remember("a", of: "k", until: now, now: now) }
                == "replayed-nonce")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(text(try folder.read("nonces")).hasPrefix("signet-nonces 1\n"))
    }

    @Test("a line that a crash cut short is dropped")
    func tornLine() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        try FileNonceStore(path: path).remember("a", of: "k", until: now + 300, now: now)
        let whole = try folder.read("nonces")
        try folder.write(whole + Array("1795228851 aw YW".utf8), to: "nonces")
        let store = FileNonceStore(path: path)
        #expect(
            code { try store.remember("a", of: "k", until: now + 300, now: now) }
                == "replayed-nonce")
        try store.remember("b", of: "k", until: now + 300, now: now)
        #expect(
            code {
                try FileNonceStore(path: path).remember("b", of: "k", until: now + 300, now: now)
            } == "replayed-nonce")
    }

    @Test("a large file is written anew without what expired")
    func compaction() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        let old = String(repeating: "\(now - 1) aw b2xk\n", count: 20_000)
        try folder.write("signet-nonces 1\n\(old)\(now + 300) aw bmV3\n", to: "nonces")
        let store = FileNonceStore(path: path)
        try store.remember("x", of: "k", until: now + 300, now: now)
        #expect(try folder.read("nonces").count < 200)
        #expect(try folder.contents() == ["nonces"])
        for nonce in ["new", "x"] {
            #expect(
                code { try store.remember(nonce, of: "k", until: now + 300, now: now) }
                    == "replayed-nonce")
        }
    }

    @Test(
        "a file that is none of ours refuses",
        arguments: [
            "{}", "signet-nonces 2\n", "signet-nonces 1\nx\n", "signet-nonces 1\n1 a\n",
            "signet-nonces 1\nx aw YQ\n", "signet-nonces 1\n1 aw Y*\n", "signet-nonces 1",
        ])
    func foreign(_ contents: String) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(contents, to: "nonces")
        #expect(
            code { try FileNonceStore(path: path).remember("a", of: "k", until: now, now: now) }
                == "nonce-store-failed")
        #expect(text(try folder.read("nonces")) == contents)
    }

    @Test("a file that cannot be made or is no file refuses")
    func unusable() throws {
        let folder = try TemporaryDirectory()
        for path in [folder.path, folder.path("absent/nonces"), "/dev/null", ""] {
            #expect(
                code {
                    try FileNonceStore(path: path).remember("a", of: "k", until: now, now: now)
                } == "nonce-store-failed")
        }
    }
}
