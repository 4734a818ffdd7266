#if Storage
import Foundation
import SignetCache
import SignetStorage
import TestSupport
import Testing

/// A process that is killed at any moment leaves a store whose contents are right.
@Suite struct KilledStoreTests {
    /// 200 with SIGNET_SOAK.
    private static let count =
        ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil ? 200 : 12

    @Test(.timeLimit(.minutes(30))) func aKillLeavesOnlyWholeContents() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path("cache")
        var random = SplitMix(seed: 36)
        var found = 0
        for _ in 0..<Self.count {
            let pause = Int.random(in: 0..<200, using: &random)
            let seed = random.next()
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = folder as String, pause = pause as Int, seed = seed as UInt64] in
                try await KilledStoreTests.load(folder, killedAfter: pause, seed: seed)
            }
            let store = try DiskCacheStore(folder: folder, byteLimit: 8 << 20, memoryLimit: 0)
            for number in 0..<24 {
                let path = "/\(number)"
                for bytes in await store.contents(of: Sample.of(path, 0).key) {
                    // Each content is there and as it was written: nil would be a damaged one.
                    #expect(bytes.map { $0 == Sample.bytes($0.count, of: path) } == true)
                    found += 1
                }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let responses = await store.list().count { $0.length > 65_536 }
            // Nothing stays that no response has.
            #expect(names.count { $0.hasSuffix(".body") } == responses)
            #expect(!names.contains { $0.hasSuffix(".tmp") })
        }
        #expect(found > Self.count)
    }

    /// Stores and reads until the process is killed.
    private static func load(_ folder: String, killedAfter pause: Int, seed: UInt64) async throws {
        let store = try DiskCacheStore(folder: folder, byteLimit: 8 << 20)
        await store.store(.of("/\(seed % 24)", 90_000))
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: Double(pause) / 1000)
            kill(getpid(), SIGKILL)
        }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var random = SplitMix(seed: seed &+ UInt64(worker))
                    while true {
                        let path = "/\(UInt8.random(in: 0..<24, using: &random))"
                        let count = Int.random(in: 0..<300_000, using: &random)
                        await store.store(.of(path, count), chunk: 20_000)
                        _ = await store.responses(for: Sample.of(path, 0).key)
                    }
                }
            }
        }
    }
}
#endif
