#if Storage
import Foundation
import SignetBase
import SignetJSON
import SignetOutbox
import SignetStorage
import TestSupport
import Testing

/// Several processes on one file, clocks and limits, by the store itself.
@Suite struct OutboxStoreTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A store, as another process has it.
    func store(
        batchCount: Int = 30, byteLimit: Int64 = 10_000, ageLimit: Int64 = 5000,
        change: (inout OutboxClock) -> Void = { _ in }
    ) throws -> OutboxStore {
        var clock = OutboxClock()
        change(&clock)
        return try OutboxStore(
            "clicks", in: directory.path("outbox"),
            rule: OutboxRule(
                batchCount: batchCount, batchBytes: 1000, batchAge: 1000, byteLimit: byteLimit,
                ageLimit: ageLimit), clock: clock)
    }

    static func records(_ count: Int) -> [[UInt8]] {
        Array(repeating: Array("1234".utf8), count: count)
    }

    func batch(of store: OutboxStore) throws -> OutboxBatch {
        try #require(try store.nextBatch(through: .max))
    }

    // MARK: The right to send

    @Test func theRightToSendIsHadOrRefusedOrFails() throws {
        let (first, second) = (try store(), try store())
        var lock = try first.lockForSending()
        #expect(lock != nil)
        #expect(try second.lockForSending() == nil)
        lock = nil
        #expect(try second.lockForSending() != nil)
        let path = directory.path("outbox/signet-outbox-clicks.lock")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        let error = #expect(throws: StorageError.self) { try first.lockForSending() }
        #expect(error?.code == .outboxNotWritten)
    }

    // MARK: Counting

    @Test func addingLooksAtNoParkedBatch() throws {
        let store = try store(batchCount: 2)
        for _ in 0..<3 {
            _ = try store.add(Self.records(2))
            try store.park(try batch(of: store), code: "http-status")
        }
        let added = try store.add(Self.records(1))
        #expect(added.parked.isEmpty && added.waitingCount == 1 && added.newCount == 1)
        let contents = try store.contents()
        #expect(contents.parked.map(\.recordCount) == [2, 2, 2] && contents.waitingCount == 1)
        try store.sendParked()
        let waiting = try store.add(Self.records(1))
        #expect(waiting.waitingCount == 8 && waiting.newCount == 2 && waiting.wait == 0)
    }

    // MARK: Limits

    @Test func recordsAddedAtOnceDontDropEachOther() throws {
        let store = try store(byteLimit: 1024)
        _ = try store.add(Self.records(2))
        // 68 bytes each.
        let error = #expect(throws: StorageError.self) { try store.add(Self.records(16)) }
        #expect(error?.code == .recordTooLarge)
        #expect(try store.contents().newCount == 2 && store.contents().dropped.isEmpty)
        // Beside a batch that is out there isn't so much room.
        _ = try batch(of: store)
        _ = try store.add(Self.records(1))
        let beside = #expect(throws: StorageError.self) { try store.add(Self.records(14)) }
        #expect(beside?.code == .outboxNotWritten)
        #expect(beside?.message.contains("beside the batch") == true)
        #expect(try store.contents().newCount == 1 && store.contents().dropped.isEmpty)
        _ = try store.add(Self.records(13))
        #expect(try store.contents().newCount == 13)
        #expect(try store.contents().dropped == store.takeDrops())
        #expect(try store.contents().dropped.map(\.count) == [1])
    }

    // MARK: Clocks

    /// A machine without a clock of its own begins in 1970 after each start.
    @Test(arguments: [0, 1_000_000, 1_600_000_000_000] as [Int64])
    func aClockThatWasNeverSetDropsNothing(_ wall: Int64) throws {
        func store(_ boot: String, _ wall: Int64) throws -> OutboxStore {
            try self.store { ($0.boot, $0.now, $0.uptime) = (boot, { wall }, { 100 }) }
        }
        _ = try store("a", wall).add(Self.records(1))
        let later = try store("b", 1_790_000_000_000)
        #expect(try later.contents().wait == 1000)
        #expect(try later.nextBatch() == nil)
        #expect(try later.contents().newCount == 1 && later.contents().dropped.isEmpty)
        // From now on it counts.
        #expect(try store("c", 1_790_000_006_000).nextBatch() == nil)
        #expect(try store("c", 1_790_000_006_000).contents().dropped.map(\.count) == [1])
    }
}
#endif
