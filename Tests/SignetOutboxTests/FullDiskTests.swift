#if Storage
import Foundation
import SignetClient
import SignetOutbox
import SignetStorage
import TestSupport
import Testing

/// A disk without a single free block: batches leave, and nothing is lost.
@Suite struct FullDiskTests {
    struct Long: Codable, Sendable {
        var n: Int
        var text = String(repeating: "x", count: 1000)
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a disk"))
    func aFullDiskIsEmptiedBySending() async throws {
        let collector = try Collector()
        let disk = try SmallDisk(at: collector.folder, size: "12m")
        var first: Outbox? = try collector.outbox()
        var added = [Int]()
        func add(_ outbox: Outbox, _ numbers: Range<Int>) async throws(StorageError) {
            try await outbox.add(contentsOf: numbers.map { Long(n: $0) })
            added += numbers
        }
        let full = await #expect(throws: StorageError.self) {
            for number in 0..<100 {
                try await add(#require(first), (number * 100)..<(number * 100 + 100))
            }
        }
        #expect(full?.code == .outboxNotWritten && added.count > 1000)
        try disk.fill()
        let waiting = await #expect(throws: StorageError.self) {
            try await add(#require(first), 0..<100)
        }
        #expect(waiting?.code == .outboxNotWritten)
        #expect(try await first?.status().waitingCount == added.count)

        // The last connection removes its files, and another program takes that room too.
        first = nil
        try disk.fill()
        let outbox = try collector.outbox()
        try disk.fill()
        #expect(try await outbox.status().waitingCount == added.count)
        try await outbox.start(through: collector.system())
        #expect(await outbox.flush())
        #expect(Array(collector.records.joined()) == added)
        #expect(Set(collector.ids).count == collector.ids.count)
        let failures = collector.events.count { if case .failed = $0 { true } else { false } }
        #expect(failures == 0)
        #expect(try await outbox.status().dropped.isEmpty)

        try disk.makeRoom()
        try await add(outbox, 50_000..<50_001)
        await outbox.close()
        #expect(collector.records.last == [50_000])
    }
}
#endif
