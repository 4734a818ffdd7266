#if Storage
import Foundation
import GRDB
import SignetBase
import SignetCrypto
import SignetSystem

/// The SQLite database of an outbox. Its functions block, and throw what SQLite reports.
///
/// A transaction is on the disk when its function returns (`synchronous=FULL`).
final class OutboxDatabase: Sendable {
    /// The file is damaged, so it is set aside.
    struct Damaged: Error {}

    /// `SgnO`.
    private static let applicationID = 0x5367_6E4F
    private static let version = 1

    let queue: DatabaseQueue
    let seal: StoreSeal
    private let identity: String?

    /// Opens the database of a name, or creates it.
    ///
    /// - Parameter maximumPages: For tests: the pages that the disk has room for.
    /// - Throws: `StorageError` with `wrong-outbox-key`, ``ForeignDatabase``, ``Damaged``, or what
    ///   SQLite reports.
    init(
        _ file: String, in folder: StoreFolder, key: CryptoKey?, maximumPages: Int?
    ) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "signet.outbox"
        configuration.prepareDatabase { database in
            // Before anything changes a file of another program.
            _ = try database.isNew(for: Self.applicationID, version: Self.version)
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = FULL;
                    PRAGMA wal_autocheckpoint = \(OutboxReserve.walPages);
                    PRAGMA cache_size = -1000;
                    """)
            if let maximumPages {
                try database.execute(sql: "PRAGMA max_page_count = \(maximumPages)")
            }
        }
        try folder.prepareDatabase(file)
        queue = try DatabaseQueue(path: folder.path(of: file), configuration: configuration)
        let made = try queue.write { try Self.prepare($0) }
        do throws(StorageError) {
            seal = try StoreSeal(key, salt: made.salt)
        } catch {
            throw StorageError(.wrongOutboxKey, error.message)
        }
        // A sealed store has the digest of a text that its key made.
        guard seal.mark == made.mark || made.mark.isEmpty else {
            throw StorageError(
                .wrongOutboxKey,
                "\(folder.path(of: file)) was sealed with another key, or with none")
        }
        if made.mark.isEmpty {
            let mark = Data(seal.mark)
            try queue.write { try $0.execute(sql: "UPDATE outbox SET mark = ?", arguments: [mark]) }
        }
        identity = folder.identity(of: file)
    }

    private static func prepare(
        _ database: Database
    ) throws -> (salt: [UInt8], mark: [UInt8]) {
        if try database.isNew(for: applicationID, version: version) {
            try database.execute(sql: schema)
            try database.execute(
                sql: "INSERT INTO outbox VALUES (1, ?, x'', '', 0, 0, 0, 0, 0, 0, 0, 0, 0)",
                arguments: [Data(try RandomBytes.bytes(16))])
        }
        guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok",
            let row = try Row.fetchOne(database, sql: "SELECT salt, mark FROM outbox")
        else { throw Damaged() }
        return (row.bytes("salt"), row.bytes("mark"))
    }

    /// `age` is the outbox's own time in milliseconds, which no change of the wall clock moves.
    /// The bytes of a record are those of its content and of its row. The number of a batch is
    /// never used again; its count and its age are those of its records when it was made.
    private static let schema = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY, salt BLOB NOT NULL, mark BLOB NOT NULL,
            boot TEXT NOT NULL, uptime INTEGER NOT NULL, wall INTEGER NOT NULL,
            age INTEGER NOT NULL, lastRecord INTEGER NOT NULL, bytes INTEGER NOT NULL,
            newCount INTEGER NOT NULL, newBytes INTEGER NOT NULL,
            failures INTEGER NOT NULL, restsUntil INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE batches (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
            state INTEGER NOT NULL, code TEXT NOT NULL, count INTEGER NOT NULL,
            added INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX batchesByState ON batches (state, number);
        CREATE INDEX batchesByAge ON batches (added);
        CREATE TABLE records (
            number INTEGER PRIMARY KEY, batch INTEGER, added INTEGER NOT NULL,
            bytes INTEGER NOT NULL, content BLOB NOT NULL
        ) STRICT;
        CREATE INDEX recordsByBatch ON records (batch, number);
        CREATE TABLE drops (
            batch INTEGER NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY (batch, reason)
        ) STRICT;
        CREATE TRIGGER recordAdded AFTER INSERT ON records BEGIN
            UPDATE outbox SET lastRecord = new.number, bytes = bytes + new.bytes,
                newCount = newCount + 1, newBytes = newBytes + new.bytes;
        END;
        CREATE TRIGGER recordBatched AFTER UPDATE OF batch ON records
        WHEN old.batch IS NULL AND new.batch IS NOT NULL BEGIN
            UPDATE outbox SET newCount = newCount - 1, newBytes = newBytes - old.bytes;
        END;
        CREATE TRIGGER recordRemoved AFTER DELETE ON records BEGIN
            UPDATE outbox SET bytes = bytes - old.bytes,
                newCount = newCount - (old.batch IS NULL),
                newBytes = newBytes - (old.batch IS NULL) * old.bytes;
        END;
        """

    /// Whether the folder still has this very file: another process may have set it aside.
    func isCurrent(_ file: String, in folder: StoreFolder) -> Bool {
        identity != nil && folder.identity(of: file) == identity
    }

    /// Whether an error says that the file is damaged.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is Damaged }
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return true
        default: return false
        }
    }

    /// Whether an error may be that of a full disk. A quota, and the file that processes share in
    /// memory, are reported as failed writes.
    static func isFull(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError:
            [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode)
        case let error as FileFailure: error.kind == .system
        default: false
        }
    }

    /// Gives the room of free pages and of the log back to the system.
    ///
    /// - Parameter count: Does nothing if there are fewer free pages.
    func returnRoom(from count: Int) throws {
        try queue.inDatabase { database in
            func freePages() throws -> Int {
                try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            }
            func emptyLog() throws {
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            var free = try freePages()
            guard free >= count else { return }
            try emptyLog()
            // A few pages at a time, so that the log stays small on a full disk.
            while free > 0 {
                try database.execute(sql: "PRAGMA incremental_vacuum(128)")
                try emptyLog()
                let left = try freePages()
                guard left < free else { return }
                free = left
            }
        }
    }
}
#endif
