#if Storage
import Foundation
import HTTPTypes
import SignetCache
import SignetCrypto
import SignetStorage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct DamageTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    var folder: String { directory.path("cache") }
    var database: String { "\(folder)/signet-cache.sqlite" }

    func store(_ key: CryptoKey? = nil) throws -> DiskCacheStore {
        try DiskCacheStore(folder: folder, memoryLimit: 0, sealedWith: key)
    }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    static let samples = [Sample.of("/a", 100), .of("/b", 30_000), .of("/c", 200_000)]

    /// Fills a store and waits until its database is closed: SQLite then removes the log.
    ///
    /// - Parameter work: Looks at the files before.
    func fill(_ work: () throws -> Void = {}) async throws {
        do {
            let store = try store()
            for sample in Self.samples { #expect(await store.store(sample)) }
            try work()
        }
        while try names().contains(where: { $0.hasSuffix("-wal") }) { await Task.yield() }
    }

    /// Reads everything: each content is right or missing, and the store takes new ones.
    func checkAll(_ store: DiskCacheStore, expecting count: Int? = nil) async {
        var found = 0
        for sample in Self.samples {
            for bytes in await store.contents(of: sample.key) {
                guard let bytes else { continue }
                #expect(bytes == sample.content)
                found += 1
            }
        }
        if let count { #expect(found == count) }
        #expect(await store.store(.of("/new", 1000)))
        #expect(
            await store.contents(of: Sample.of("/new", 0).key) == [Sample.bytes(1000, of: "/new")])
    }

    // MARK: The database

    @Test(arguments: [
        "", "SQLite format 3\0", "not a database at all", String(repeating: "x", count: 9000),
    ])
    func replacesADatabaseThatIsNone(_ text: String) async throws {
        try await fill()
        for name in try names() where name.hasSuffix("-wal") || name.hasSuffix("-shm") {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        try Data(text.utf8).write(to: URL(filePath: database))
        await checkAll(try store(), expecting: 0)
        // The file of a content that no row has.
        #expect(try names().filter { $0.hasSuffix(".body") }.isEmpty)
    }

    @Test(arguments: [
        "CREATE TABLE other (a)", "PRAGMA user_version = 99; CREATE TABLE store (a)",
        "PRAGMA application_id = 7; CREATE TABLE responses (a)",
    ])
    func replacesAForeignDatabase(_ sql: String) async throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let made = try await ChildProcess.run(
            "sqlite3", ["-cmd", ".timeout 9000", database, sql])
        #expect(made.exit == 0)
        await checkAll(try store(), expecting: 0)
    }

    @Test(arguments: [
        "DROP TABLE responses", "DELETE FROM store", "ALTER TABLE responses DROP COLUMN content",
        "UPDATE store SET secret = x''", "UPDATE responses SET head = x'00'",
        "UPDATE responses SET content = x'00', file = NULL",
        "UPDATE responses SET file = '../victim'",
        "UPDATE responses SET key = (SELECT key FROM responses LIMIT 1)",
        "UPDATE responses SET head = (SELECT head FROM responses LIMIT 1)",
    ])
    func survivesAChangeOfTheDatabase(_ sql: String) async throws {
        try await fill()
        // Beside the store's folder.
        let victim = URL(filePath: folder).deletingLastPathComponent().appending(path: "victim")
        try Data("x".utf8).write(to: victim)
        let changed = try await ChildProcess.run(
            "sqlite3", ["-cmd", ".timeout 9000", database, sql])
        #expect(changed.exit == 0)
        let store = try store()
        await checkAll(store)
        await checkAll(store)
        await store.remove(.all)
        #expect(FileManager.default.fileExists(atPath: victim.path))
    }

    @Test func survivesRandomDamage() async throws {
        var random = SplitMix(seed: 9)
        for _ in 0..<40 {
            try? FileManager.default.removeItem(atPath: folder)
            // With the log of SQLite, as a process that was killed leaves it.
            var files: [(url: URL, bytes: Data)] = []
            try await fill {
                for name in try names() where !name.hasSuffix("-shm") {
                    let url = URL(filePath: "\(folder)/\(name)")
                    files.append((url, try Data(contentsOf: url)))
                }
            }
            #expect(files.contains { $0.url.path.hasSuffix("-wal") && !$0.bytes.isEmpty })
            for (url, bytes) in files {
                var bytes = bytes
                guard !bytes.isEmpty, Bool.random(using: &random) else {
                    try bytes.write(to: url)
                    continue
                }
                if UInt8.random(in: 0..<4, using: &random) == 0 {
                    bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
                } else {
                    for _ in 0..<20 {
                        let index = Int.random(in: 0..<bytes.count, using: &random)
                        bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                    }
                }
                try bytes.write(to: url)
            }
            await checkAll(try store())
        }
    }

    @Test func opensADatabaseThatWasRemovedMeanwhile() async throws {
        try await fill()
        let store = try store()
        for name in try names() { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
        await checkAll(store, expecting: 0)
        #expect(try names().contains("signet-cache.sqlite"))
    }

    // MARK: The files

    @Test(arguments: ["cut", "longer", "changed", "missing", "link", "folder"])
    func treatsADamagedFileAsAMiss(_ damage: String) async throws {
        try await fill()
        let name = try #require(try names().first { $0.hasSuffix(".body") })
        let url = URL(filePath: "\(folder)/\(name)")
        var bytes = try Data(contentsOf: url)
        switch damage {
        case "cut": bytes.removeLast()
        case "longer": bytes.append(0)
        default: bytes[bytes.count - 100_000] ^= 1
        }
        try FileManager.default.removeItem(at: url)
        switch damage {
        case "missing": break
        case "link":
            try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "x")
        case "folder":
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        default: try bytes.write(to: url)
        }
        let store = try store()
        let key = Self.samples[2].key
        #expect(await store.contents(of: key) == [nil])
        // It is removed after the damage was found.
        #expect(await store.responses(for: key).isEmpty)
        await checkAll(store, expecting: 2)
    }

    @Test func removesWhatAKilledProcessLeft() async throws {
        try await fill()
        let stray = String(repeating: "ab", count: 16)
        try directory.write("x", to: "cache/\(stray).body")
        try directory.write("x", to: "cache/\(stray).tmp")
        try directory.write("x", to: "cache/notes.txt")
        _ = try store()
        let left = try names().filter { !$0.hasPrefix("signet-cache") }
        #expect(left.count == 2 && left.contains("notes.txt") && !left.contains("\(stray).tmp"))
    }

    // MARK: The folder

    @Test(arguments: [0o770, 0o702, 0o777])
    func refusesAFolderThatOthersMayWrite(_ mode: Int) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
        let error = #expect(throws: StorageError.self) { try store() }
        #expect(error?.code == .unusableCacheFolder)
        #expect(try names().isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0)) func refusesTheFolderOfAnotherUser() async throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755])
        #expect(try await ChildProcess.run("chown", ["65534:65534", folder]).exit == 0)
        let error = #expect(throws: StorageError.self) { try store() }
        #expect(error?.code == .unusableCacheFolder)
    }

    @Test func refusesAFileInPlaceOfTheFolder() throws {
        try directory.write("x", to: "cache")
        #expect(throws: StorageError.self) { try store() }
    }

    @Test func createsAPrivateFolder() throws {
        _ = try store()
        let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions]
        #expect(mode as? Int == 0o700)
    }

    // MARK: Sealing

    static func key(_ byte: UInt8) throws -> CryptoKey {
        let text = Base64.encode([UInt8](repeating: byte, count: 32), as: .url)
        let set = #"{"keys":[{"kty":"oct","use":"enc","kid":"c","k":"\#(text)"}]}"#
        return try KeySet(parsing: Array(set.utf8), source: "test").key(id: "c")
    }

    @Test func sealsEverythingThatTells() async throws {
        let key = try Self.key(1)
        let store = try store(key)
        for (path, count) in [("/canary-path", 50), ("/canary-other", 100_000)] {
            var sample = Sample(path: path, scope: "canary1.canary2.canary3")
            sample.content = Array(
                (0..<count).map { _ in "canary-content" }.joined().utf8)
            sample.fields[.eTag] = "\"canary-tag\""
            #expect(await store.store(sample))
            #expect(try await self.store(key).contents(of: sample.key) == [sample.content])
        }
        for name in try names() {
            let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
            #expect(bytes.range(of: Data("canary".utf8)) == nil, "\(name)")
        }
    }

    @Test func refusesAnotherKeyAndKeepsWhatIsStored() async throws {
        let sample = Sample.of("/a", 100_000)
        try await store(Self.key(1)).store(sample)
        for key in [nil, try Self.key(2)] {
            let error = #expect(throws: StorageError.self) { try store(key) }
            #expect(error?.code == .wrongCacheKey)
        }
        #expect(try await store(Self.key(1)).contents(of: sample.key) == [sample.content])
    }
}
#endif
