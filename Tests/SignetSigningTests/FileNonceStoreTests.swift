import Foundation
import SignetCrypto
import SignetSigning
import TestSupport
import Testing

/// Nonces in a file that processes share.
@Suite struct FileNonceStoreTests {
    private let now = Sample.now
    /// The first line of a file.
    private let header = "signet-nonces 1 AAAAAAAAAAAAAAAA\n"

    @Test func sharesAPrivateFile() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        try FileNonceStore(path: path).remember("a", of: "k", expiration: now + 300, now: now)
        #expect(
            code {
                try FileNonceStore(path: path).remember("a", of: "k", expiration: now, now: now)
            }
                == "replayed-nonce")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(text(try folder.read("nonces")).hasPrefix("signet-nonces 1 "))
    }

    @Test func dropsALineThatACrashCutShort() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        try FileNonceStore(path: path).remember("a", of: "k", expiration: now + 300, now: now)
        let whole = try folder.read("nonces")
        try folder.write(whole + Array("1795228851 aw YW".utf8), to: "nonces")
        let store = FileNonceStore(path: path)
        #expect(
            code { try store.remember("a", of: "k", expiration: now + 300, now: now) }
                == "replayed-nonce")
        try store.remember("b", of: "k", expiration: now + 300, now: now)
        #expect(
            code {
                try FileNonceStore(path: path).remember(
                    "b", of: "k", expiration: now + 300, now: now)
            } == "replayed-nonce")
    }

    @Test func rewritesALargeFileWithoutExpiredNonces() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        let old = String(repeating: "\(now - 11) aw b2xk\n", count: 20_000)
        try folder.write("\(header)\(old)\(now + 300) aw bmV3\n", to: "nonces")
        let store = FileNonceStore(path: path)
        try store.remember("x", of: "k", expiration: now + 300, now: now)
        #expect(try folder.read("nonces").count < 200)
        #expect(try folder.contents() == ["nonces"])
        for nonce in ["new", "x"] {
            #expect(
                code { try store.remember(nonce, of: "k", expiration: now + 300, now: now) }
                    == "replayed-nonce")
        }
    }

    @Test(
        arguments: [
            "{}", "signet-nonces 2", "signet-nonces 1\n", "signet-nonces 1 AAAA AAAAAAAAAAA\n",
            "signet-nonces 1 AAAAAAAAAAAAAAAAA\n", "HEADx\n", "HEAD1 a\n", "HEADx aw YQ\n",
            "HEAD1 aw Y*\n", "HEAD1 aw YQ \n", "HEAD\n",
        ])
    func refusesAFileOfAnotherFormat(_ text: String) throws {
        let contents = text.replacingOccurrences(of: "HEAD", with: header)
        let folder = try TemporaryDirectory()
        let path = try folder.write(contents, to: "nonces")
        #expect(
            code {
                try FileNonceStore(path: path).remember("a", of: "k", expiration: now, now: now)
            }
                == "nonce-store-failed")
        #expect(try folder.read("nonces") == Array(contents.utf8))
    }

    @Test func refusesNonRegularFiles() throws {
        let folder = try TemporaryDirectory()
        for path in [folder.path, folder.path("absent/nonces"), "/dev/null", ""] {
            #expect(
                code {
                    try FileNonceStore(path: path).remember("a", of: "k", expiration: now, now: now)
                } == "nonce-store-failed")
        }
    }

    private func outcome(_ path: String) throws -> SigningError? {
        do {
            try FileNonceStore(path: path).remember("a", of: "k", expiration: now + 300, now: now)
            return nil
        } catch { return error }
    }

    @Test(
        arguments: [0o640, 0o604, 0o660, 0o644, 0o666, 0o601])
    func refusesAFileThatOthersCanUse(_ mode: Int) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(header, to: "nonces", mode: mode)
        let error = try #require(try outcome(path))
        #expect(error.code == .nonceStoreFailed)
        #expect(error.message.contains("chmod 600 \(path)"))
        #expect(try folder.read("nonces") == Array(header.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try outcome(path) == nil)
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give files away")
    )
    func refusesAnotherUsersFile() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(header, to: "nonces")
        try FileManager.default.setAttributes([.ownerAccountID: 4242], ofItemAtPath: path)
        let error = try #require(try outcome(path))
        #expect(error.code == .nonceStoreFailed)
        #expect(error.message.contains("user 4242's"))
    }

    @Test func refusesALargeFileUnread() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(header, to: "nonces")
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 6 << 30)
        try file.close()
        let error = try #require(try outcome(path))
        #expect(error.code == .nonceStoreFull)
        #expect(
            error.message
                == "\(path): the nonce file has \(6 << 30) bytes, expected at most \(64 << 20)")
    }

    @Test func refusesAPipeAtOnce() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        let made = try await ChildProcess.run("/usr/bin/mkfifo", ["-m", "600", path])
        try #require(made.exit == 0)
        #expect(try outcome(path)?.code == .nonceStoreFailed)
    }

    @Test func rewritesAFirstLineThatWasCutShort() throws {
        for count in 0..<header.utf8.count {
            let folder = try TemporaryDirectory()
            let path = try folder.write(header.utf8.prefix(count), to: "nonces")
            try FileNonceStore(path: path).remember("a", of: "k", expiration: now, now: now)
            #expect(
                code {
                    try FileNonceStore(path: path).remember("a", of: "k", expiration: now, now: now)
                }
                    == "replayed-nonce")
        }
    }

    /// The nonce of a line that was cut short at any byte counts as unused.
    @Test func losesOnlyTheLineThatWasCutShort() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        try FileNonceStore(path: path).remember("a", of: "k", expiration: now + 300, now: now)
        let first = try folder.read("nonces")
        try FileNonceStore(path: path).remember("b", of: "k", expiration: now + 300, now: now)
        let both = try folder.read("nonces")
        for count in first.count..<both.count {
            try folder.write(both[..<count], to: "nonces")
            let store = FileNonceStore(path: path)
            for (nonce, wanted) in [("a", "replayed-nonce"), ("b", "no error")] {
                #expect(
                    code { try store.remember(nonce, of: "k", expiration: now + 300, now: now) }
                        == wanted)
            }
            #expect(try folder.read("nonces") == both)
        }
    }

    @Test func waitsForALockUpToTheTimeout() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        let beginning = FileNonceStore(path: path)
        try await beginning.remember("a", of: "k", expiration: now + 300, now: now)
        let holder = try await ServerProcess.start(
            "python3", ["-I", PythonPeer.script("lock"), path], ready: .output("held"))
        let impatient = FileNonceStore(path: path, lockTimeout: .milliseconds(20))
        let before = try folder.read("nonces")
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<8 {
                group.addTask {
                    await code {
                        try await impatient.remember(
                            "n\(number)", of: "k", expiration: now + 300, now: now)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: "nonce-store-failed", count: 8))
        func blocking() -> String {
            code { try impatient.remember("c", of: "k", expiration: now + 300, now: now) }
        }
        #expect(blocking() == "nonce-store-failed")
        #expect(try folder.read("nonces") == before)
        try await holder.stop()
        #expect(blocking() == "no error")
    }

    /// The file accepts nonces again after some have expired.
    @Test func refusesNoncesWhileTheFileIsFull() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        let store = FileNonceStore(path: path, limit: 1000)
        var count = 0
        func code(_ nonce: String, later: Int64) -> String {
            SignetSigningTests.code {
                try store.remember(nonce, of: "k", expiration: now + later + 300, now: now + later)
            }
        }
        while code("n\(count)", later: 0) == "no error" { count += 1 }
        #expect(count > 10)
        #expect(code("x", later: 300) == "nonce-store-full")
        #expect(code("n0", later: 300) == "replayed-nonce")
        #expect(try folder.read("nonces").count <= 1000)
        #expect(code("x", later: 301) == "no error")
        #expect(code("n0", later: 301) == "no error")
        #expect(code("x", later: 301) == "replayed-nonce")
        // The dropped nonces were live then.
        #expect(code("y", later: 300) == "nonce-store-failed")
        #expect(try folder.contents() == ["nonces"])
    }

    @Test func readsAReplacedFileFromItsBeginning() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("nonces")
        let store = FileNonceStore(path: path)
        try store.remember("a", of: "k", expiration: now + 300, now: now)
        // In the same inode, as a file system gives one again, and no shorter than what was read.
        let line = "\(now + 300) aw bmV3\n"
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: Data((header + line + line).utf8))
        try handle.close()
        #expect(
            code { try store.remember("new", of: "k", expiration: now + 300, now: now) }
                == "replayed-nonce")
    }

    @Test func remembersAlikeWithAndWithoutSync() throws {
        let folder = try TemporaryDirectory()
        let store = FileNonceStore(path: folder.path("nonces"), isDurable: true)
        try store.remember("a", of: "k", expiration: now + 300, now: now)
        #expect(
            code { try store.remember("a", of: "k", expiration: now, now: now) } == "replayed-nonce"
        )
    }
}
