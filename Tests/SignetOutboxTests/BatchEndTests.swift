#if Storage
import Foundation
import SignetStorage
import TestSupport
import Testing

/// An end of a batch that comes after another process has brought the batch to its end.
@Suite struct BatchEndTests {
    enum End: CaseIterable {
        case arrived
        case parked
        case kept

        func apply(to batch: OutboxBatch, in store: OutboxStore) throws {
            switch self {
            case .arrived: try store.arrived(batch)
            case .parked: try store.park(batch, code: "http-status")
            case .kept: try store.keep(batch) { _ in 1_000_000 }
            }
        }
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A store, as another process has it.
    private func store() throws -> OutboxStore {
        try OutboxStore(
            "clicks", in: directory.path("outbox"),
            rule: OutboxRule(
                batchCount: 30, batchBytes: 1000, batchAge: 1000, byteLimit: 10_000,
                ageLimit: 5000), clock: OutboxClock())
    }

    private func add(_ count: Int, to store: OutboxStore) throws -> OutboxBatch {
        _ = try store.add(Array(repeating: Array("1234".utf8), count: count))
        return try batch(of: store)
    }

    private func batch(of store: OutboxStore) throws -> OutboxBatch {
        try #require(try store.nextBatch(through: .max))
    }

    private func expectUntouched(_ new: OutboxBatch, in store: OutboxStore) throws {
        let contents = try store.contents()
        #expect(contents.waitingCount == 2 && contents.parked.isEmpty && contents.failures == 0)
        #expect(try batch(of: store) == new)
    }

    @Test(arguments: End.allCases) func leavesOtherBatchesAlone(_ end: End) throws {
        let (slow, quick) = (try store(), try store())
        let old = try add(1, to: slow)
        #expect(try batch(of: quick) == old)
        try quick.arrived(old)
        let new = try add(2, to: quick)
        #expect(new.number > old.number && new.id != old.id)
        try end.apply(to: old, in: slow)
        try expectUntouched(new, in: quick)
    }

    /// In a new file the numbers begin again.
    @Test(arguments: End.allCases) func countsForItsIDAlone(_ end: End) throws {
        let store = try store()
        let old = try add(1, to: store)
        for name in try directory.contents(of: "outbox") where name.contains(".sqlite") {
            try FileManager.default.removeItem(atPath: directory.path("outbox/\(name)"))
        }
        let new = try add(2, to: store)
        #expect(new.number == old.number && new.id != old.id)
        try end.apply(to: old, in: store)
        try expectUntouched(new, in: store)
    }
}
#endif
