#if Storage
import Foundation
import GRDB
import SignetBase
import SignetCrypto
import Synchronization

extension OutboxStore {
    /// The state of a batch. The batches below ``parked`` wait for the server.
    enum State: Int, DatabaseValueConvertible {
        case waiting = 0
        /// A process sends it, or was killed meanwhile. It isn't dropped.
        case out = 1
        /// The server refused it.
        case parked = 2
    }

    // MARK: Sending

    /// Returns the next batch to send, if one is due. Only the process with the lock asks for it.
    ///
    /// - Parameters:
    ///   - last: Records up to this number are due at once, however few they are.
    ///   - ignoresRest: Whether a batch is due during the pause after a failure.
    package func nextBatch(
        through last: Int64? = nil, ignoresRest: Bool = false
    ) throws(StorageError) -> OutboxBatch? {
        // Each damaged batch is removed, so this ends.
        while true {
            switch try self.batch(through: last, ignoresRest: ignoresRest) {
            case .none: return nil
            case .some(let batch) where batch.records.isEmpty: try arrived(batch)
            case .some(let batch): return batch
            }
        }
    }

    private func batch(
        through last: Int64?, ignoresRest: Bool
    ) throws(StorageError) -> OutboxBatch? {
        try write { database, seal in
            let age = try tick(in: database)
            try dropOld(at: age, in: database)
            let rest = try Int64.fetchOne(database, sql: "SELECT restsUntil FROM outbox") ?? 0
            guard ignoresRest || rest <= age else { return nil }
            if let row = try Row.fetchOne(
                database, sql: "SELECT number, id FROM batches WHERE state < ? ORDER BY number",
                arguments: [State.parked])
            {
                return try batch(row["number"], id: row["id"], isNew: false, in: database, seal)
            }
            guard
                let first = try Row.fetchOne(
                    database,
                    sql: "SELECT number, added FROM records WHERE batch IS NULL ORDER BY number")
            else { return nil }
            let counters = try counters(at: age, in: database)
            let isDue =
                (first["number"] as Int64) <= (last ?? 0)
                || counters.newCount >= rule.batchCount || counters.newBytes >= rule.batchBytes
                || age - (first["added"] as Int64) >= rule.batchAge
            return isDue ? try makeBatch(in: database, seal) : nil
        }
    }

    /// Makes a batch of the oldest records.
    private func makeBatch(in database: Database, _ seal: StoreSeal) throws -> OutboxBatch {
        let id = String(
            decoding: try RandomBytes.bytes(16).hexadecimal(), as: UTF8.self)
        try database.execute(
            sql: "INSERT INTO batches (id, state, code, count, added) VALUES (?, ?, '', 0, 0)",
            arguments: [id, State.out])
        let number = database.lastInsertedRowID
        var (bytes, last, count) = (Int64(0), Int64(0), 0)
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, added, bytes FROM records WHERE batch IS NULL
                ORDER BY number LIMIT ?
                """, arguments: [rule.batchCount])
        for row in rows {
            bytes += row["bytes"] as Int64
            if count > 0, bytes > rule.batchBytes { break }
            last = row["number"]
            count += 1
        }
        // The first one is the oldest.
        let added: Int64 = rows.first?["added"] ?? 0
        try database.execute(
            sql: "UPDATE batches SET count = ?, added = ? WHERE number = ?",
            arguments: [count, added, number])
        try database.execute(
            sql: "UPDATE records SET batch = ? WHERE batch IS NULL AND number <= ?",
            arguments: [number, last])
        try database.execute(
            sql: "UPDATE drops SET batch = ? WHERE batch = 0", arguments: [number])
        return try batch(number, id: id, isNew: true, in: database, seal)
    }

    /// Returns a batch; one without records if all that it had are damaged.
    ///
    /// A new batch is made of the records that are whole. One that may have arrived never changes:
    /// with a damaged record it is dropped.
    private func batch(
        _ number: Int64, id: String, isNew: Bool, in database: Database, _ seal: StoreSeal
    ) throws -> OutboxBatch {
        var (records, damaged) = ([[UInt8]](), [Int64]())
        for row in try Row.fetchAll(
            database, sql: "SELECT number, content FROM records WHERE batch = ? ORDER BY number",
            arguments: [number])
        {
            let number: Int64 = row["number"]
            let content = seal.open(Array(row["content"] as Data), in: Self.context(of: number))
            if let content { records.append(content) } else { damaged.append(number) }
        }
        if !damaged.isEmpty, !isNew {
            try drop(batch: number, for: "damaged", in: database)
            return OutboxBatch(number: number, id: id, records: [], dropped: [])
        }
        for number in damaged {
            try database.execute(sql: "DELETE FROM records WHERE number = ?", arguments: [number])
        }
        if !damaged.isEmpty {
            try database.execute(
                sql: "UPDATE batches SET count = ? WHERE number = ?",
                arguments: [records.count, number])
            try note(dropped: damaged.count, for: "damaged", in: database)
        }
        try database.execute(
            sql: "UPDATE batches SET state = ? WHERE number = ?", arguments: [State.out, number])
        return OutboxBatch(
            number: number, id: id, records: records,
            dropped: try Self.drops(ofBatch: number, in: database))
    }

    /// Removes a batch that has arrived. Does nothing if it isn't there any more.
    package func arrived(_ batch: OutboxBatch) throws(StorageError) {
        let isEmpty = try write { database, _ in
            _ = try tick(in: database)
            guard try Self.isThere(batch, in: database) else { return false }
            if batch.records.isEmpty {
                try Self.returnDrops(ofBatch: batch.number, in: database)
            }
            try Self.remove(batch: batch.number, in: database)
            try Self.endRest(in: database)
            return try Int.fetchOne(database, sql: "SELECT bytes FROM outbox") == 0
        }
        if isEmpty { returnRoom(from: 256, usesReserve: true) }
        reserve.refill(isEmpty: isEmpty)
    }

    /// Keeps a batch that the server refused; later ones pass it. Does nothing if it isn't there
    /// any more.
    package func park(_ batch: OutboxBatch, code: String) throws(StorageError) {
        try write { database, _ in
            _ = try tick(in: database)
            guard try Self.isThere(batch, in: database) else { return }
            try database.execute(
                sql: "UPDATE batches SET state = ?, code = ? WHERE number = ?",
                arguments: [State.parked, code, batch.number])
            // The server doesn't know of them; the next batch tells.
            try Self.returnDrops(ofBatch: batch.number, in: database)
            try Self.endRest(in: database)
        }
    }

    /// Keeps a batch that may not have arrived, for later. Does nothing if it isn't there any more.
    ///
    /// - Parameter pause: Returns the milliseconds before another attempt, by the number of
    ///   failures in a row before this one; nil for none, if the program's own end cut the attempt
    ///   short.
    /// - Returns: The milliseconds.
    @discardableResult
    package func keep(
        _ batch: OutboxBatch, pause: ((_ failures: Int) -> Int64)?
    ) throws(StorageError) -> Int64 {
        try write { database, _ in
            let age = try tick(in: database)
            guard try Self.isThere(batch, in: database) else { return 0 }
            try database.execute(
                sql: "UPDATE batches SET state = ? WHERE number = ?",
                arguments: [State.waiting, batch.number])
            let failures = try Int.fetchOne(database, sql: "SELECT failures FROM outbox") ?? 0
            let time = pause?(failures) ?? 0
            if pause != nil {
                try database.execute(
                    sql: "UPDATE outbox SET failures = ?, restsUntil = ?",
                    arguments: [failures + 1, age + time])
            }
            try dropOld(at: age, in: database)
            return time
        }
    }

    /// Whether a batch has not come to its end in another process. In a new file the numbers begin
    /// again.
    private static func isThere(_ batch: OutboxBatch, in database: Database) throws -> Bool {
        try Int.fetchOne(
            database, sql: "SELECT 1 FROM batches WHERE number = ? AND id = ?",
            arguments: [batch.number, batch.id]) != nil
    }

    /// Ends the pause after failures, and forgets them.
    package func endRest() throws(StorageError) {
        try write { database, _ in try Self.endRest(in: database) }
    }

    private static func endRest(in database: Database) throws {
        try database.execute(sql: "UPDATE outbox SET failures = 0, restsUntil = 0")
    }

    // MARK: Parked batches

    /// Makes parked batches wait again, before the others.
    package func sendParked() throws(StorageError) {
        try write { database, _ in
            try database.execute(
                sql: "UPDATE batches SET state = ?, code = '' WHERE state = ?",
                arguments: [State.waiting, State.parked])
        }
    }

    /// Removes a parked batch with its records.
    ///
    /// - Returns: False if no parked batch has the id.
    package func removeParked(_ id: String) throws(StorageError) -> Bool {
        try write { database, _ in
            guard
                let number = try Int64.fetchOne(
                    database, sql: "SELECT number FROM batches WHERE id = ? AND state = ?",
                    arguments: [id, State.parked])
            else { return false }
            try Self.remove(batch: number, in: database)
            return true
        }
    }

    private static func remove(batch number: Int64, in database: Database) throws {
        for sql in [
            "DELETE FROM records WHERE batch = ?", "DELETE FROM batches WHERE number = ?",
            "DELETE FROM drops WHERE batch = ?",
        ] {
            try database.cachedStatement(sql: sql).execute(arguments: [number])
        }
    }

    // MARK: Dropping

    /// Drops the oldest records until there is room for more bytes.
    ///
    /// - Returns: False if there is no room beside a batch that is out.
    func makeRoom(for bytes: Int64, in database: Database) throws -> Bool {
        while true {
            let used = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT bytes FROM outbox"))
            if (used ?? 0) + bytes <= rule.byteLimit { return true }
            guard try dropOldest(in: database) else { return false }
        }
    }

    private func dropOldest(in database: Database) throws -> Bool {
        if let number = try Int64.fetchOne(
            database, sql: "SELECT number FROM batches WHERE state <> ? ORDER BY number",
            arguments: [State.out])
        {
            try drop(batch: number, for: "bytes", in: database)
            return true
        }
        guard
            let number = try Int64.fetchOne(
                database, sql: "SELECT number FROM records WHERE batch IS NULL ORDER BY number")
        else { return false }
        try database.cachedStatement(sql: "DELETE FROM records WHERE number = ?")
            .execute(arguments: [number])
        try note(dropped: 1, for: "bytes", in: database)
        return true
    }

    /// Drops the records that are too old; a batch goes as a whole.
    func dropOld(at age: Int64, in database: Database) throws {
        let limit = age - rule.ageLimit
        guard limit > 0 else { return }
        let batches = try Int64.fetchAll(
            database.cachedStatement(
                sql: "SELECT number FROM batches WHERE added < ? AND state <> ? ORDER BY number"),
            arguments: [limit, State.out])
        for number in batches { try drop(batch: number, for: "age", in: database) }
        try database.cachedStatement(sql: "DELETE FROM records WHERE batch IS NULL AND added < ?")
            .execute(arguments: [limit])
        let count = database.changesCount
        if count > 0 { try note(dropped: count, for: "age", in: database) }
    }

    private func drop(batch number: Int64, for reason: String, in database: Database) throws {
        let count =
            try Int.fetchOne(
                database, sql: "SELECT count FROM batches WHERE number = ?",
                arguments: [number]) ?? 0
        try Self.returnDrops(ofBatch: number, in: database)
        try Self.remove(batch: number, in: database)
        try note(dropped: count, for: reason, in: database)
    }

    /// Notes dropped records for the next batch.
    private func note(dropped count: Int, for reason: String, in database: Database) throws {
        database.afterNextTransaction(onCommit: { _ in
            self.drops.withLock { $0.append(OutboxDrop(reason: reason, count: count)) }
        })
        try Self.tell(count, for: reason, in: database)
    }

    /// Adds to what the next batch tells.
    static func tell(_ count: Int, for reason: String, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO drops VALUES (0, ?, ?)
                ON CONFLICT DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [reason, count])
    }

    /// Gives what a batch would have told to the next one.
    private static func returnDrops(ofBatch number: Int64, in database: Database) throws {
        for drop in try drops(ofBatch: number, in: database) {
            try tell(drop.count, for: drop.reason, in: database)
        }
        try database.execute(sql: "DELETE FROM drops WHERE batch = ?", arguments: [number])
    }

    static func drops(ofBatch number: Int64, in database: Database) throws -> [OutboxDrop] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT reason, count FROM drops WHERE batch = ? ORDER BY reason"),
            arguments: [number]
        ).map { OutboxDrop(reason: $0["reason"], count: $0["count"]) }
    }
}
#endif
