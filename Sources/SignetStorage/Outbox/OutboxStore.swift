#if Storage
import Foundation
import GRDB
import SignetBase
package import SignetCrypto
import SignetSystem
import Synchronization

/// The records of an outbox on disk, which several processes may share. Its functions block.
///
/// A record is on the disk when ``add(_:)`` returns. Records become batches in their order; a batch
/// has an id and never changes until it has arrived, so a repeated one says the same. A damaged
/// file is set aside, and the next batch tells of it.
package final class OutboxStore: Sendable {
    let folder: StoreFolder
    let file: String
    let rule: OutboxRule
    let clock: OutboxClock
    let lockPath: String
    let key: CryptoKey?
    let maximumPages: Int?
    let reserve: OutboxReserve
    /// Nil after ``close()``, until it is used again.
    let database = Mutex<OutboxDatabase?>(nil)
    /// The drops since they were last taken.
    let drops = Mutex<[OutboxDrop]>([])

    /// The bytes that are counted for a record beside its content.
    static let rowBytes: Int64 = 64
    /// A wall clock before 2024 was never set.
    private static let earliestWall: Int64 = 1_704_067_200_000

    /// Opens the outbox of a name, or creates it.
    ///
    /// - Parameters:
    ///   - name: Letters, digits and `-`, at most 64.
    ///   - path: The folder, which is created with the mode 0700.
    ///   - key: A vault's key, which seals the records; nil for digests alone.
    ///   - maximumPages: For tests: the pages that the disk has room for.
    /// - Throws: `StorageError` with `unusable-outbox` or `wrong-outbox-key`.
    package init(
        _ name: String, in path: String, rule: OutboxRule, key: CryptoKey? = nil,
        clock: OutboxClock = OutboxClock(), maximumPages: Int? = nil
    ) throws(StorageError) {
        guard (1...64).contains(name.utf8.count),
            name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == 0x2D })
        else {
            throw StorageError(
                .unusableOutbox,
                "the name \(printable(name, limit: 80)) of an outbox isn't of 1 to 64 letters, digits and -"
            )
        }
        do throws(FileFailure) {
            folder = try StoreFolder(path)
        } catch {
            throw StorageError(.unusableOutbox, error.description)
        }
        file = "signet-outbox-\(name).sqlite"
        lockPath = folder.path(of: "signet-outbox-\(name).lock")
        self.rule = rule
        self.clock = clock
        self.key = key
        self.maximumPages = maximumPages
        reserve = OutboxReserve("signet-outbox-\(name).reserve", in: folder, for: rule)
        try open()
    }

    /// Returns the drops since they were last taken, for the program's log.
    package func takeDrops() -> [OutboxDrop] {
        drops.withLock { drops in
            defer { drops = [] }
            return drops
        }
    }

    // MARK: Time

    /// Returns the outbox's own time in milliseconds, and moves it.
    ///
    /// While the machine runs, its uptime moves the time; only after a restart of the machine, the
    /// wall clock does, unless it wasn't set before. So a change of the wall clock neither drops a
    /// record nor holds one back.
    func tick(in database: Database) throws -> Int64 {
        let age = try self.age(in: database)
        try database.cachedStatement(
            sql: "UPDATE outbox SET boot = ?, uptime = ?, wall = ?, age = ?"
        ).execute(arguments: [clock.boot, clock.uptime(), clock.now(), age])
        return age
    }

    /// Returns the outbox's own time in milliseconds.
    func age(in database: Database) throws -> Int64 {
        guard
            let row = try Row.fetchOne(
                database.cachedStatement(sql: "SELECT boot, uptime, wall, age FROM outbox"))
        else { throw OutboxDatabase.Damaged() }
        let (boot, uptime): (String, Int64) = (row["boot"], row["uptime"])
        let (wall, age): (Int64, Int64) = (row["wall"], row["age"])
        // A new outbox.
        if wall == 0 { return age }
        if !boot.isEmpty, sameBytes(boot, clock.boot) {
            return age + max(0, clock.uptime() - uptime)
        }
        // A machine without a clock of its own begins in 1970 and is set by the network later.
        return wall < Self.earliestWall ? age : age + max(0, clock.now() - wall)
    }

    // MARK: Adding

    /// Adds records at the end; they are on the disk when this returns.
    ///
    /// If they don't fit, the oldest records are dropped, and the next batch says how many.
    ///
    /// - Throws: `StorageError` with `record-too-large` if a record takes more than half of the
    ///   limit or all of them more than the limit, or `outbox-not-written`, such as for a full
    ///   disk. Then none of them is added, and nothing else is lost.
    package func add(_ records: [[UInt8]]) throws(StorageError) -> OutboxContents {
        for record in records where Int64(record.count) + Self.rowBytes > rule.byteLimit / 2 {
            throw StorageError(
                .recordTooLarge,
                "found a record of \(record.count) bytes, expected at most \(rule.byteLimit / 2 - Self.rowBytes)"
            )
        }
        let total = records.reduce(0) { $0 + Int64($1.count) + Self.rowBytes }
        guard total <= rule.byteLimit else {
            throw StorageError(
                .recordTooLarge,
                "found \(records.count) records of \(total) bytes with 64 for each, expected at most \(rule.byteLimit)"
            )
        }
        if !reserve.fill(forAdding: total) {
            returnRoom(from: 0, usesReserve: false)
            guard reserve.fill(forAdding: total) else {
                throw notWritten("the disk has no room for the file \(printable(reserve.name))")
            }
        }
        return try write(usesReserve: false) { database, seal in
            let age = try tick(in: database)
            try dropOld(at: age, in: database)
            guard try makeRoom(for: total, in: database) else {
                throw notWritten("it has no room beside the batch that is being sent")
            }
            var number = try Int64.fetchOne(database, sql: "SELECT lastRecord FROM outbox") ?? 0
            for record in records {
                number += 1
                guard let content = seal.protect(record, in: Self.context(of: number)) else {
                    throw notWritten("a record can't be sealed")
                }
                try database.cachedStatement(
                    sql: "INSERT INTO records VALUES (?, NULL, ?, ?, ?)"
                ).execute(
                    arguments: [number, age, Int64(record.count) + Self.rowBytes, Data(content)])
            }
            return try counters(at: age, in: database)
        }
    }

    static func context(of number: Int64) -> [UInt8] { Array("record \(number)".utf8) }

    // MARK: Looking

    /// Returns what the outbox has.
    package func contents() throws(StorageError) -> OutboxContents {
        try read { database in
            var contents = try counters(at: age(in: database), in: database)
            contents.parked = try Row.fetchAll(
                database,
                sql: "SELECT id, count, code FROM batches WHERE state = ? ORDER BY number",
                arguments: [State.parked]
            ).map { OutboxParkedBatch(id: $0["id"], recordCount: $0["count"], code: $0["code"]) }
            return contents
        }
    }

    /// Returns what the outbox has, without the parked batches, of which there may be many.
    func counters(at age: Int64, in database: Database) throws -> OutboxContents {
        guard let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT * FROM outbox"))
        else { throw OutboxDatabase.Damaged() }
        var contents = OutboxContents()
        contents.newCount = row["newCount"]
        contents.newBytes = row["newBytes"]
        contents.bytes = row["bytes"]
        contents.lastRecord = row["lastRecord"]
        contents.failures = row["failures"]
        contents.dropped = try Self.drops(ofBatch: 0, in: database)
        let waiting = try Int.fetchOne(
            database.cachedStatement(sql: "SELECT sum(count) FROM batches WHERE state < ?"),
            arguments: [State.parked])
        contents.waitingCount = contents.newCount + (waiting ?? 0)
        guard contents.waitingCount > 0 else { return contents }
        let isDue =
            waiting != nil || contents.newCount >= rule.batchCount
            || contents.newBytes >= rule.batchBytes
        let oldest = try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT added FROM records WHERE batch IS NULL ORDER BY number LIMIT 1"))
        let due = isDue ? age : (oldest ?? age) + rule.batchAge
        let rest: Int64 = row["restsUntil"]
        contents.wait = max(0, max(due, rest) - age)
        return contents
    }
}
#endif
