#if Storage
import Foundation
import HTTPTypes
import SignetCache
import SignetCrypto
import SignetStorage
import TestSupport
import Testing

@Suite struct DiskCacheStoreTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    var folder: String { directory.path("cache") }

    /// A store whose responses are all read from the disk.
    func store(_ byteLimit: Int = 64 << 20, key: CryptoKey? = nil) throws -> DiskCacheStore {
        try DiskCacheStore(folder: folder, byteLimit: byteLimit, memoryLimit: 0, sealedWith: key)
    }

    /// The bytes of all files.
    func byteCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
            let path = "\(folder)/\(name)"
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            return sum + (size ?? 0)
        }
    }

    func bodyFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasSuffix(".body") || $0.hasSuffix(".tmp")
        }.map { "\(folder)/\($0)" }
    }

    // MARK: Storing

    @Test(
        .features("003-30"),
        arguments: [0, 1, 9_999, 65_535, 65_536, 65_537, 131_072, 700_001], [1, 4_096, 1 << 20])
    func keepsAContent(of count: Int, inChunksOf chunk: Int) async throws {
        let sample = Sample.of("/a", count)
        #expect(try await store().store(sample, chunk: max(chunk, count / 50)))
        let again = try store()
        #expect(await again.responses(for: sample.key).map(\.response) == [sample.response])
        #expect(await again.contents(of: sample.key) == [sample.content])
        #expect(try bodyFiles().count == (count > 65_536 ? 1 : 0))
    }

    @Test func keepsWhatTellsAResponse() async throws {
        var sample = Sample.of("/ä?b=%20", 10)
        sample.path = "/%C3%A4?b=%20"
        sample.variant = "einß"
        sample.fields = [.cacheControl: "max-age=60", .eTag: "\"ö\"", .location: ""]
        sample.fields.append(.init(name: .setCookie, value: "a=1"))
        sample.fields.append(.init(name: .setCookie, value: "b=2"))
        sample.part = ContentPart(range: 5..<15, total: 40)
        try await store().store(sample)
        #expect(try await store().responses(for: sample.key).map(\.response) == [sample.response])
    }

    @Test(arguments: [0, 1, 100_000])
    func declinesAnotherLength(than count: Int) async throws {
        let store = try store()
        var sample = Sample.of("/a", count)
        sample.fields[.contentLength] = String(count + 1)
        await store.store(Sample.of("/a", 5))
        #expect(await store.store(sample) == false)
        // The origin has replaced the response that was stored.
        #expect(await store.responses(for: sample.key).isEmpty)
        #expect(try bodyFiles().isEmpty)
    }

    /// Also not if what came could be stored as incomplete, or isn't as long as its fields say.
    @Test(arguments: [nil, "\"b\"", "W/\"b\""] as [String?])
    func aCutOffContentReplacesNothing(_ tag: String?) async throws {
        let store = try store()
        let sample = Sample.of("/a", 100_000)
        #expect(await store.store(sample))
        var cut = Sample.of("/a", 50_000)
        cut.fields[.contentLength] = "100000"
        cut.fields[.eTag] = tag
        #expect(await store.store(cut, isWhole: false) == false)
        #expect(await store.contents(of: sample.key) == [sample.content])
    }

    @Test func declinesAContentWithoutAnEnd() async throws {
        let store = try store()
        for count in [10, 200_000] {
            #expect(await store.store(.of("/a", count), isWhole: false) == false)
            let writer = await store.writer(for: .store(Sample.of("/b", count).response))
            await writer?.write(Sample.of("/b", count).content)
        }
        #expect(await store.list().isEmpty)
        #expect(try bodyFiles().isEmpty)
    }

    @Test func declinesAContentOfMoreThanAnEighth() async throws {
        let store = try store(8 << 20)
        #expect(await store.store(.of("/a", 1 << 20)))
        #expect(await store.store(.of("/b", (1 << 20) + 1)) == false)
        #expect(try bodyFiles().count == 1)
    }

    @Test func keepsVariants() async throws {
        let store = try store()
        for number in 0..<40 {
            var sample = Sample.of("/a", 100)
            sample.variant = "\(number)"
            await store.store(sample)
        }
        let variants = await store.responses(for: Sample.of("/a", 0).key)
            .map { $0.response.id.selected.first?.value }
        #expect(variants == (8..<40).map { "\($0)" })
    }

    @Test func replacesTheSameIdentity() async throws {
        let store = try store()
        for count in [10, 100_000, 200_000, 20] { await store.store(.of("/a", count)) }
        #expect(await store.contents(of: Sample.of("/a", 0).key) == [Sample.bytes(20, of: "/a")])
        #expect(try bodyFiles().isEmpty)
    }

    // MARK: Changes

    @Test(arguments: [100, 100_000])
    func updatesTheMetadataOfThisVeryResponse(_ count: Int) async throws {
        let store = try store()
        let sample = Sample.of("/a", count)
        var newer = sample
        newer.time += 50
        await store.store(sample)
        #expect(await store.change(.update(sample.response, newer.response)))
        #expect(await store.responses(for: sample.key).map(\.response) == [newer.response])
        #expect(await store.contents(of: sample.key) == [sample.content])
        #expect(await store.change(.update(sample.response, newer.response)) == false)
        var moved = newer
        moved.variant = "x"
        #expect(await store.change(.copy(newer.response, moved.response)))
        #expect(await store.contents(of: sample.key) == [sample.content, sample.content])
        #expect(await store.change(.update(newer.response, moved.response)))
        #expect(await store.responses(for: sample.key).map(\.response) == [moved.response])
        #expect(try bodyFiles().count == (count > 65_536 ? 1 : 0))
    }

    @Test(arguments: [10, 70_000], [10, 70_000])
    func joinsParts(of first: Int, and second: Int) async throws {
        let content = Sample.bytes(first + second, of: "/a")
        for receivedIsFirst in [true, false] {
            let store = try store()
            let (total, border) = (Int64(first + second), Int64(first))
            var old = Sample.of("/a", 0)
            var new = old
            old.content = Array(receivedIsFirst ? content[first...] : content[..<first])
            old.part = ContentPart(
                range: receivedIsFirst ? border..<total : 0..<border, total: total)
            new.content = content
            let received = Array(receivedIsFirst ? content[..<first] : content[first...])
            await store.store(old)
            let join = CacheChange.join(
                old.response, new.response, receivedIsFirst: receivedIsFirst)
            #expect(await store.write(Array(received.dropLast()), of: join) == false)
            #expect(await store.contents(of: old.key) == [old.content])
            #expect(await store.write(received, of: join))
            #expect(await store.contents(of: old.key) == [content])
            // What was joined isn't stored any longer.
            #expect(await store.write(received, of: join) == false)
            await store.remove(.all)
        }
    }

    @Test func invalidatesAURLAndAnOriginInAllScopes() async throws {
        let store = try store()
        for scope in ["a.a.a", "a.b.a"] {
            for path in ["/a", "/b"] {
                await store.store(Sample(path: path, scope: scope, content: [1]))
            }
            await store.store(Sample(path: "/a", scope: scope, host: "other.example", content: [1]))
        }
        await store.change(.invalidate(url: "https://api.example.com:443/a"))
        #expect(await store.list().count == 4)
        await store.change(.clear(origin: "https://api.example.com:443"))
        #expect(
            await store.list().map(\.id.key.origin)
                == Array(
                    repeating: "https://other.example:443", count: 2))
    }

    @Test func removesASelection() async throws {
        let store = try store()
        func fill() async {
            await store.remove(.all)
            for service in ["s", "t"] {
                for user in ["u", "v"] {
                    let scope = CacheScope(service: service, user: user, way: "w").text
                    await store.store(Sample(scope: scope, content: [1]))
                    await store.store(Sample(scope: scope, host: "h.example", content: [1]))
                }
            }
        }
        let key = Sample(scope: "s.u.w").key
        let counts: [(CacheSelection, Int)] = [
            (.all, 0), (.key(key), 7), (.service("s"), 4), (.user("v"), 4), (.host("h.example"), 4),
            (.origin("https://h.example:443"), 4), (.service("u"), 8), (.host("h"), 8),
        ]
        for (selection, count) in counts {
            await fill()
            await store.remove(selection)
            #expect(await store.list().count == count, "\(selection)")
        }
    }

    // MARK: Limits

    @Test func removesTheLeastRecentlyUsed() async throws {
        let store = try DiskCacheStore(folder: folder, byteLimit: 1 << 20)
        let paths = (0..<20).map { "/\($0)" }
        for path in paths { await store.store(.of(path, 60_000)) }
        let kept = await store.list().map { $0.id.key.url.split(separator: "/").last ?? "" }
        #expect(kept.count > 8)
        #expect(kept == paths.reversed().prefix(kept.count).map { $0.dropFirst() })
        let oldest = paths[20 - kept.count]
        _ = await store.responses(for: Sample.of(oldest, 0).key)
        await store.store(.of("/new", 60_000))
        #expect(await store.responses(for: Sample.of(oldest, 0).key).count == 1)
    }

    @Test func trimsAnOrigin() async throws {
        let store = try store()
        for path in ["/a", "/b", "/c", "/d"] { await store.store(.of(path, 70_000)) }
        await store.store(Sample(host: "other.example", content: [1]))
        await store.trim(origin: "https://api.example.com:443", to: 150_000)
        let left = await store.list().map { $0.id.key.url.suffix(2) }
        #expect(left == ["3/", "/d", "/c"])
    }

    @Test(arguments: [1 << 20, 16 << 20])
    func keepsItsLimitOnDisk(of limit: Int) async throws {
        let store = try store(limit)
        var random = SplitMix(seed: 36)
        var most = 0
        for _ in 0..<200 {
            let path = "/\(UInt8.random(in: 0..<200, using: &random))"
            let count =
                Bool.random(using: &random)
                ? Int.random(in: 0..<60_000, using: &random)
                : Int.random(in: 0..<limit / 8, using: &random)
            switch UInt8.random(in: 0..<10, using: &random) {
            case 0: await store.change(.invalidate(url: Sample.of(path, 0).key.url))
            case 1: _ = await store.responses(for: Sample.of(path, 0).key)
            default: await store.store(.of(path, count))
            }
            most = max(most, try byteCount())
        }
        #expect(most <= limit * 105 / 100)
        #expect(most > limit * 60 / 100)
    }

    // MARK: Other people's files

    @Test(arguments: ["", "-wal"])
    func followsNoLink(_ part: String) async throws {
        let outside = directory.path("outside")
        try directory.write("not ours", to: "outside")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let link = "\(folder)/signet-cache.sqlite\(part)"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: outside)
        #expect(try await store().store(.of("/a", 10)))
        #expect(try directory.read("outside") == Array("not ours".utf8))
        let status = try FileManager.default.attributesOfItem(
            atPath: "\(folder)/signet-cache.sqlite")
        #expect(status[.type] as? FileAttributeType == .typeRegular)
        #expect(status[.posixPermissions] as? Int == 0o600)
    }

    /// A clone of a repository makes files that all may read.
    @Test func usesNoDatabaseThatOthersMayRead() async throws {
        #expect(try await store().store(.of("/a", 10)))
        let database = "\(folder)/signet-cache.sqlite"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: database)
        #expect(try await store().list().isEmpty)
        let mode = try FileManager.default.attributesOfItem(atPath: database)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    // MARK: Memory and disk

    @Test(.features("003-30"))
    func bringsBackWhatMemoryGaveUp() async throws {
        let store = try DiskCacheStore(folder: folder, memoryLimit: 40_000)
        for path in ["/a", "/b", "/c", "/d"] {
            await store.store(.of(path, 8_000))
            _ = await store.responses(for: Sample.of(path, 0).key)
        }
        for path in ["/a", "/b", "/c", "/d"] {
            #expect(
                await store.contents(of: Sample.of(path, 0).key) == [Sample.bytes(8_000, of: path)])
        }
    }

    @Test func seesTheChangesOfAnotherStore() async throws {
        let (one, two) = (try store(), try store())
        await one.store(.of("/a", 100))
        #expect(await two.contents(of: Sample.of("/a", 0).key) == [Sample.bytes(100, of: "/a")])
        await two.store(.of("/a", 90_000))
        #expect(await one.contents(of: Sample.of("/a", 0).key) == [Sample.bytes(90_000, of: "/a")])
        let entry = await one.responses(for: Sample.of("/a", 0).key).first
        await two.remove(.all)
        #expect(await one.responses(for: Sample.of("/a", 0).key).isEmpty)
        // A content that is being read stays.
        #expect(await entry?.bytes == Sample.bytes(90_000, of: "/a"))
        #expect(one.scopeKey == two.scopeKey)
        #expect(one.scopeKey.count == 32)
    }

    @Test func holdsUnderConcurrentStores() async throws {
        let stores = [try store(4 << 20), try store(4 << 20)]
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SplitMix(seed: UInt64(worker))
                    for _ in 0..<60 {
                        let path = "/\(UInt8.random(in: 0..<20, using: &random))"
                        let count = Int.random(in: 0..<150_000, using: &random)
                        let store = stores[worker % 2]
                        if Bool.random(using: &random) {
                            await store.store(.of(path, count))
                        } else {
                            let entries = await store.responses(for: Sample.of(path, 0).key)
                            for entry in entries {
                                let bytes = await entry.bytes
                                // Nil after another task has removed it.
                                guard let bytes else { continue }
                                #expect(bytes == Sample.bytes(bytes.count, of: path))
                            }
                        }
                    }
                }
            }
        }
    }
}
#endif
