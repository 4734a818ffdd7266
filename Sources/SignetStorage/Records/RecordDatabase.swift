#if Storage
import Foundation
import GRDB
package import SignetCrypto
import SignetSystem

/// Records of bytes in one SQLite file of a folder, the oldest first, within limits. Its functions
/// block. Several processes may use it.
package final class RecordDatabase: Sendable {
    /// A record.
    package struct Record: Sendable, Hashable {
        /// The name of the record, by which it is found again.
        package let key: [UInt8]
        /// Unix milliseconds, by which records are ordered and grow old.
        package let time: Int64
        /// The contents.
        package let bytes: [UInt8]

        /// Creates a record.
        package init(key: [UInt8], time: Int64, bytes: [UInt8]) {
            self.key = key
            self.time = time
            self.bytes = bytes
        }
    }

    /// The limits of a file.
    package struct Limits: Sendable {
        /// The number of records.
        package var count: Int
        /// The bytes of all contents.
        package var size: Int64
        /// The age in milliseconds; nil for any.
        package var age: Int64?

        /// Creates limits.
        package init(count: Int, size: Int64, age: Int64? = nil) {
            self.count = count
            self.size = size
            self.age = age
        }
    }

    /// `SgnR`.
    private static let applicationID = 0x5367_6E52
    private static let version = 1

    private let folder: StoreFolder
    private let name: String
    private let limits: Limits
    private let seal: StoreSeal
    private let queue: DatabaseQueue

    /// Opens a file, or creates it with mode 0600 in a folder with mode 0700.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - key: A vault's key, with which contents are sealed; nil protects them from damage alone.
    /// - Throws: `StorageError`: `unusable-cache-folder`, `wrong-cache-key`, `damaged-store`.
    package init(
        folder path: String, name: String, limits: Limits, sealedWith key: CryptoKey? = nil
    ) throws(StorageError) {
        do throws(FileFailure) {
            folder = try StoreFolder(path)
        } catch {
            throw StorageError(error)
        }
        self.name = name
        self.limits = limits
        do {
            try folder.prepareDatabase(name)
            queue = try DatabaseQueue(
                path: folder.path(of: name), configuration: Self.configuration)
            let (made, seal) = try queue.write { try Self.prepare($0, key: key) }
            self.seal = seal
            guard made == Self.mark(of: seal) else {
                throw StorageError(
                    .wrongCacheKey, "\(path)/\(name) was sealed with another key, or with none")
            }
        } catch {
            throw StorageError(error, of: "\(path)/\(name)")
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "signet.records"
        configuration.prepareDatabase { database in
            // Before anything changes a file of another program.
            _ = try database.isNew(for: applicationID, version: version)
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = NORMAL;
                    PRAGMA journal_size_limit = 1048576;
                    PRAGMA secure_delete = ON;
                    PRAGMA cache_size = -2000;
                    """)
        }
        return configuration
    }

    /// Makes a new database whole, so that another process or a crash leaves none without its mark.
    private static func prepare(
        _ database: Database, key: CryptoKey?
    ) throws -> (mark: [UInt8], seal: StoreSeal) {
        if try database.isNew(for: applicationID, version: version) {
            let salt = try RandomBytes.bytes(16)
            let seal = try StoreSeal(key, salt: salt)
            try database.execute(sql: schema)
            try database.execute(
                sql: "INSERT INTO store VALUES (1, ?, ?, 0, 0)",
                arguments: [Data(salt), Data(mark(of: seal))])
        }
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM store") else {
            throw ForeignDatabase()
        }
        return (row.bytes("mark"), try StoreSeal(key, salt: row.bytes("salt")))
    }

    private static func mark(of seal: StoreSeal) -> [UInt8] { seal.isSealing ? seal.mark : [] }

    private static let schema = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        CREATE TABLE store (
            id INTEGER PRIMARY KEY, salt BLOB NOT NULL, mark BLOB NOT NULL,
            lastNumber INTEGER NOT NULL, dropped INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE records (
            id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL, time INTEGER NOT NULL,
            size INTEGER NOT NULL, bytes BLOB NOT NULL
        ) STRICT;
        CREATE INDEX recordsByKey ON records (key);
        CREATE INDEX recordsByTime ON records (time, id);
        """

    // MARK: Records

    /// Adds records, and removes the oldest beyond the limits, all at once.
    ///
    /// - Parameters:
    ///   - number: A number that ``lastNumber`` is raised to.
    ///   - keys: Records that are removed first, and count as removed by the limits.
    ///   - now: Unix milliseconds.
    /// - Returns: The keys of the removed records.
    @discardableResult
    package func add(
        _ records: [Record], raising number: Int64 = 0, removing keys: [[UInt8]] = [],
        at now: Int64
    ) throws(StorageError) -> [[UInt8]] {
        try perform { database in
            try Self.remove(keys, from: database)
            if !keys.isEmpty {
                try database.execute(
                    sql: "UPDATE store SET dropped = dropped + ?", arguments: [keys.count])
            }
            for record in records {
                guard let bytes = self.seal.protect(record.bytes, in: record.key) else {
                    throw StorageError(.storeFailed, "a record can't be sealed")
                }
                try database.cachedStatement(
                    sql: "INSERT INTO records (key, time, size, bytes) VALUES (?, ?, ?, ?)"
                ).execute(
                    arguments: [Data(record.key), record.time, bytes.count, Data(bytes)])
            }
            if number > 0 {
                try database.execute(
                    sql: "UPDATE store SET lastNumber = max(lastNumber, ?)", arguments: [number])
            }
            return try self.trim(database, at: now)
        }
    }

    private func trim(_ database: Database, at now: Int64) throws -> [[UInt8]] {
        var removed: [[UInt8]] = []
        let oldest = limits.age.map { now - $0 } ?? .min
        while true {
            let sum = try Row.fetchOne(
                database.cachedStatement(sql: "SELECT count(*), total(size) FROM records"))
            let count = sum?[0] as Int? ?? 0
            let size = Int64(sum?[1] as Double? ?? 0)
            guard count > 0 else { break }
            let isFull = count > limits.count || size > limits.size
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT id, key, time, size FROM records ORDER BY time, id LIMIT 64"))
            var (extraCount, extraSize) = (count - limits.count, size - limits.size)
            var hasRemoved = false
            for row in rows {
                guard isFull && (extraCount > 0 || extraSize > 0) || (row["time"] as Int64) < oldest
                else { break }
                try database.cachedStatement(sql: "DELETE FROM records WHERE id = ?")
                    .execute(arguments: [row["id"] as Int64])
                removed.append(row.bytes("key"))
                extraCount -= 1
                extraSize -= (row["size"] as Int64)
                hasRemoved = true
            }
            guard hasRemoved else { break }
        }
        if !removed.isEmpty {
            try database.execute(
                sql: "UPDATE store SET dropped = dropped + ?", arguments: [removed.count])
            try database.execute(sql: "PRAGMA incremental_vacuum(64)")
        }
        return removed
    }

    /// The records, the oldest first, and the number of damaged ones, which are left out.
    package func records() throws(StorageError) -> (records: [Record], damaged: Int) {
        try perform { database in
            var (records, damaged) = ([Record](), 0)
            let rows = try Row.fetchCursor(
                database, sql: "SELECT key, time, bytes FROM records ORDER BY time, id")
            while let row = try rows.next() {
                let key = row.bytes("key")
                if let bytes = self.seal.open(row.bytes("bytes"), in: key) {
                    records.append(Record(key: key, time: row["time"], bytes: bytes))
                } else {
                    damaged += 1
                }
            }
            return (records, damaged)
        }
    }

    /// The largest number that records were added with.
    package func lastNumber() throws(StorageError) -> Int64 {
        try perform { try Int64.fetchOne($0, sql: "SELECT lastNumber FROM store") ?? 0 }
    }

    /// The number of records that the limits have removed.
    package func droppedCount() throws(StorageError) -> Int {
        try perform { try Int.fetchOne($0, sql: "SELECT dropped FROM store") ?? 0 }
    }

    /// Removes the records with some keys.
    package func remove(keys: [[UInt8]]) throws(StorageError) {
        guard !keys.isEmpty else { return }
        try perform { try Self.remove(keys, from: $0) }
    }

    private static func remove(_ keys: [[UInt8]], from database: Database) throws {
        for key in keys {
            try database.cachedStatement(sql: "DELETE FROM records WHERE key = ?")
                .execute(arguments: [Data(key)])
        }
    }

    /// Removes all records, and overwrites their pages.
    package func removeAll() throws(StorageError) {
        try perform { database in
            try database.execute(sql: "DELETE FROM records; UPDATE store SET dropped = 0;")
            try database.execute(sql: "PRAGMA incremental_vacuum")
        }
        try perform(inTransaction: false) { database in
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    private func perform<Value>(
        inTransaction: Bool = true, _ work: (Database) throws -> Value
    ) throws(StorageError) -> Value {
        do {
            return inTransaction ? try queue.write(work) : try queue.inDatabase(work)
        } catch {
            throw StorageError(error, of: folder.path(of: name))
        }
    }
}

extension StorageError {
    /// The error of a file of records.
    fileprivate init(_ error: any Error, of path: String) {
        switch error {
        case let error as StorageError: self = error
        case let error as FileFailure: self.init(error)
        case _ where CacheDatabase.isDamage(error):
            self.init(
                .damagedStore, "\(path): found another file or a damaged one, expected records")
        case let error as DatabaseError:
            self.init(.storeFailed, "\(path): \(error.message ?? "SQLite failed")")
        default: self.init(.storeFailed, "\(path): \(type(of: error))")
        }
    }
}

extension SignetErrorCode {
    /// A store's file is damaged, or another program's. It is kept as it is.
    public static let damagedStore = usage("damaged-store")
    /// A store can't be read or written, because the disk is full or it is held by another process.
    public static let storeFailed = usage("store-failed")
}
#endif
