#if Storage
import Foundation
import SignetCache
import SignetStorage
import TestSupport
import Testing

/// A store that can't write: on a full disk, or while another process holds the database.
@Suite(.timeLimit(.minutes(2))) struct BlockedStoreTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The changes after which a response must not be served.
    enum Removal: String, CaseIterable, Sendable {
        case invalidation, removal, origin, all, replacement

        func act(on store: DiskCacheStore, _ sample: Sample) async {
            switch self {
            case .invalidation: await store.change(.invalidate(url: sample.key.url))
            case .removal: await store.change(.remove(sample.response.id))
            case .origin: await store.change(.clear(origin: sample.key.origin))
            case .all: await store.remove(.all)
            case .replacement:
                var new = sample
                new.content = Sample.bytes(100_000, of: "/other")
                #expect(await store.store(new) == false)
            }
        }
    }

    @Test(
        .enabled(if: SmallDisk.isAvailable, "only root can mount a disk"),
        arguments: Removal.allCases)
    func aFullDiskServesNothingThatWasRemoved(_ removal: Removal) async throws {
        let disk = try SmallDisk(at: directory.path("disk"), size: "3m")
        let folder = "\(disk.path)/cache"
        let store = try DiskCacheStore(folder: folder)
        let (sample, other) = (Sample.of("/a", 20_000), Sample.of("/b", 20_000))
        #expect(await store.store(sample))
        #expect(await store.store(other))
        for _ in 0..<50 { _ = await store.responses(for: other.key) }
        try disk.fill()
        await removal.act(on: store, sample)
        #expect(await store.contents(of: sample.key).isEmpty)
        #expect(try await DiskCacheStore(folder: folder).contents(of: sample.key).isEmpty)
        #expect(await store.store(.of("/c", 200_000)) == false)
        try disk.makeRoom()
        // It works again, and what was removed doesn't come back.
        #expect(await store.store(.of("/c", 20_000)))
        #expect(await store.contents(of: sample.key).isEmpty)
        #expect(try await DiskCacheStore(folder: folder).contents(of: sample.key).isEmpty)
    }

    @Test func aBusyDatabaseServesNothingThatWasRemoved() async throws {
        let folder = directory.path("cache")
        let store = try DiskCacheStore(folder: folder)
        let sample = Sample.of("/a", 20_000)
        #expect(await store.store(sample))
        let holder = try await ServerProcess.start(
            "python3", ["-I", PythonPeer.script("sqlite-lock"), "\(folder)/signet-cache.sqlite"],
            ready: .output("held"))
        await store.change(.invalidate(url: sample.key.url))
        #expect(await store.contents(of: sample.key).isEmpty)
        try await holder.stop()
        #expect(try await DiskCacheStore(folder: folder).contents(of: sample.key).isEmpty)
    }

    /// As in a command, which opens the store for one call.
    @Test(arguments: [Removal.invalidation, .all])
    func aStoreThatCannotBeOpenedIsRemoved(_ removal: Removal) async throws {
        let folder = directory.path("cache")
        let sample = Sample.of("/a", 20_000)
        #expect(try await DiskCacheStore(folder: folder).store(sample))
        let holder = try await ServerProcess.start(
            "python3", ["-I", PythonPeer.script("sqlite-lock"), "\(folder)/signet-cache.sqlite"],
            ready: .output("held"))
        let store = try DiskCacheStore(folder: folder)
        #expect(await store.readableList() == nil)
        await removal.act(on: store, sample)
        try await holder.stop()
        #expect(try await DiskCacheStore(folder: folder).contents(of: sample.key).isEmpty)
    }
}
#endif
