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
    private let lockPath: String
    private let key: CryptoKey?
    private let maximumPages: Int?
    /// Nil after ``close()``, until it is used again.
    private let database: Mutex<OutboxDatabase?>
    /// The drops since they were last taken.
    let drops = Mutex<[OutboxDrop]>([])

    /// The bytes that are counted for a record beside its content.
    static let rowBytes: Int64 = 64

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
        database = Mutex(
            try Self.open(file, in: folder, lockPath, key: key, maximumPages: maximumPages))
    }

    /// Opens the database, in place of a damaged one.
    private static func open(
        _ file: String, in folder: StoreFolder, _ lockPath: String, key: CryptoKey?,
        maximumPages: Int?
    ) throws(StorageError) -> OutboxDatabase {
        do {
            // One process at a time, so that two don't set two files aside.
            let lock = OutboxSendLock(
                try LockedFile(path: lockPath + "-open", until: .now + .seconds(10)))
            defer { withExtendedLifetime(lock) {} }
            do {
                return try OutboxDatabase(file, in: folder, key: key, maximumPages: maximumPages)
            } catch  where OutboxDatabase.isDamage(error) {
                let suffix = "damaged-\(UnixTime.now())"
                // The log first: it must not be applied to another database.
                for part in ["-wal", "-shm", ""] where folder.identity(of: file + part) != nil {
                    _ = folder.rename(file + part, to: "\(file).\(suffix)\(part)")
                }
                let database = try OutboxDatabase(
                    file, in: folder, key: key, maximumPages: maximumPages)
                try database.queue.write { try Self.tell(0, for: "damaged", in: $0) }
                return database
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(
                .unusableOutbox,
                error is ForeignDatabase
                    ? "\(printable(folder.path(of: file))) isn't an outbox"
                    : "\(printable(folder.path(of: file))) can't be opened: \(Self.reason(error))")
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as DatabaseError: error.message ?? "\(error.resultCode)"
        case let error as FileFailure: error.message
        default: "\(error)"
        }
    }

    // MARK: Transactions

    /// The database, opened again if another process has set it aside.
    private func current() throws(StorageError) -> OutboxDatabase {
        if let old = database.withLock({ $0 }), old.isCurrent(file, in: folder) { return old }
        let new = try Self.open(file, in: folder, lockPath, key: key, maximumPages: maximumPages)
        database.withLock { $0 = new }
        return new
    }

    /// Changes the database. The change is on the disk when this returns, or nothing has changed.
    func write<Value>(
        _ work: (Database, StoreSeal) throws -> Value
    ) throws(StorageError) -> Value {
        let database = try current()
        do {
            return try database.queue.write { try work($0, database.seal) }
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(
                .outboxNotWritten,
                "\(printable(folder.path(of: file))) can't be written: \(Self.reason(error))")
        }
    }

    func read<Value>(_ work: (Database) throws -> Value) throws(StorageError) -> Value {
        let database = try current()
        do {
            return try database.queue.read(work)
        } catch {
            throw StorageError(
                .outboxNotWritten,
                "\(printable(folder.path(of: file))) can't be read: \(Self.reason(error))")
        }
    }

    /// Closes the file, until it is used again.
    package func close() { try? database.withLock { $0.take() }?.queue.close() }

    /// Gives pages back to the system after much was sent.
    func returnPages() { try? current().returnPages() }

    /// Returns the right to send, which one process at a time has; nil if another has it.
    package func lockForSending() -> OutboxSendLock? {
        do throws(FileFailure) {
            return OutboxSendLock(try LockedFile(path: lockPath, until: .now))
        } catch {
            return nil
        }
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
    /// wall clock does. So a change of the wall clock neither drops a record nor holds one back.
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
        let isSameStart = !boot.isEmpty && sameBytes(boot, clock.boot)
        return age + max(0, isSameStart ? clock.uptime() - uptime : clock.now() - wall)
    }

    // MARK: Adding

    /// Adds records at the end; they are on the disk when this returns.
    ///
    /// If they don't fit, the oldest records are dropped, and the next batch says how many.
    ///
    /// - Throws: `StorageError` with `record-too-large` if a record takes more than half of the
    ///   limit, or `outbox-not-written`, such as for a full disk. Then none of them is added, and
    ///   nothing else is lost.
    package func add(_ records: [[UInt8]]) throws(StorageError) -> OutboxContents {
        for record in records where Int64(record.count) + Self.rowBytes > rule.byteLimit / 2 {
            throw StorageError(
                .recordTooLarge,
                "found a record of \(record.count) bytes, expected at most \(rule.byteLimit / 2 - Self.rowBytes)"
            )
        }
        return try write { database, seal in
            let age = try tick(in: database)
            try dropOld(at: age, in: database)
            var number = try Int64.fetchOne(database, sql: "SELECT lastRecord FROM outbox") ?? 0
            for record in records {
                number += 1
                let bytes = Int64(record.count) + Self.rowBytes
                guard try makeRoom(for: bytes, in: database),
                    let content = seal.protect(record, in: Self.context(of: number))
                else {
                    throw StorageError(
                        .outboxNotWritten,
                        "\(printable(folder.path(of: file))) has no room beside the batch that is being sent"
                    )
                }
                try database.cachedStatement(
                    sql: "INSERT INTO records VALUES (?, NULL, ?, ?, ?)"
                ).execute(arguments: [number, age, bytes, Data(content)])
            }
            return try contents(at: age, in: database)
        }
    }

    static func context(of number: Int64) -> [UInt8] { Array("record \(number)".utf8) }

    // MARK: Looking

    /// Returns what the outbox has.
    package func contents() throws(StorageError) -> OutboxContents {
        try read { try contents(at: age(in: $0), in: $0) }
    }

    func contents(at age: Int64, in database: Database) throws -> OutboxContents {
        guard let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT * FROM outbox"))
        else { throw OutboxDatabase.Damaged() }
        var contents = OutboxContents()
        contents.newCount = row["newCount"]
        contents.newBytes = row["newBytes"]
        contents.bytes = row["bytes"]
        contents.lastRecord = row["lastRecord"]
        contents.failures = row["failures"]
        contents.dropped = try Self.drops(ofBatch: 0, in: database)
        let batched = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT id, state, code,
                        (SELECT count(*) FROM records WHERE batch = batches.number) AS count
                    FROM batches ORDER BY number
                    """))
        contents.waitingCount = contents.newCount
        var isBatchDue = false
        for row in batched {
            let count: Int = row["count"]
            if row["state"] == State.parked.rawValue {
                contents.parked.append(
                    OutboxParkedBatch(id: row["id"], recordCount: count, code: row["code"]))
            } else {
                contents.waitingCount += count
                isBatchDue = true
            }
        }
        guard contents.waitingCount > 0 else { return contents }
        let isFull =
            contents.newCount >= rule.batchCount || contents.newBytes >= rule.batchBytes
        let oldest = try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT added FROM records WHERE batch IS NULL ORDER BY number LIMIT 1"))
        let due = isBatchDue || isFull ? age : (oldest ?? age) + rule.batchAge
        let rest: Int64 = row["restsUntil"]
        contents.wait = max(0, max(due, rest) - age)
        return contents
    }
}

/// The right to send, or to open the file, until the last reference goes.
package final class OutboxSendLock: Sendable {
    private let file: LockedFile

    fileprivate init(_ file: consuming LockedFile) { self.file = file }
}
#endif
