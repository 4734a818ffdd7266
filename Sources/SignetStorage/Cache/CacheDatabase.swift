#if Storage
import Foundation
import GRDB
import SignetCache
import SignetCrypto
import SignetSystem

/// The database of a folder's stored responses. Its functions block, and throw what SQLite reports.
///
/// A row has the response's metadata and a content of up to 64 KiB; a larger one is in a file
/// beside the database. A file gets its final name inside the transaction that adds its row, so
/// that a file without a row was left by a process that was killed.
final class CacheDatabase: Sendable {
    static let name = "signet-cache.sqlite"
    /// `SgnC`.
    private static let applicationID = 0x5367_6E43
    private static let version = 1
    private static let pageSize: Int64 = 4096

    let folder: StoreFolder
    let seal: StoreSeal
    /// The key with which credentials are hashed.
    let scopeKey: [UInt8]
    let byteLimit: Int64
    private let queue: DatabaseQueue
    private let identity: String?

    /// Opens the database of a folder, or creates it.
    ///
    /// - Throws: `StorageError` with `wrong-cache-key` if it was made with another key; what SQLite
    ///   reports; ``ForeignDatabase``.
    init(in folder: StoreFolder, byteLimit: Int64, key: CryptoKey?) throws {
        self.folder = folder
        self.byteLimit = byteLimit
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "signet.cache"
        let checkpoint = Self.checkpointPages(of: byteLimit)
        configuration.prepareDatabase { database in
            // Before anything changes a file of another program.
            _ = try database.isNew(for: Self.applicationID, version: Self.version)
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = NORMAL;
                    PRAGMA wal_autocheckpoint = \(checkpoint);
                    PRAGMA journal_size_limit = \(Int64(checkpoint) * Self.pageSize);
                    PRAGMA cache_size = -2000;
                    """)
        }
        do throws(FileFailure) {
            try folder.prepareDatabase(Self.name)
        } catch {
            throw error.kind == .permissions ? ForeignDatabase() : error
        }
        queue = try DatabaseQueue(path: folder.path(of: Self.name), configuration: configuration)
        let made = try queue.write { try Self.prepare($0, key: key) }
        seal = try StoreSeal(key, salt: made.salt)
        // A sealed store has the digest of a text that its key made.
        guard seal.mark == made.mark || made.mark.isEmpty else {
            throw StorageError(
                .wrongCacheKey,
                "the cache in \(folder.path) was sealed with another key, or with none")
        }
        if made.mark.isEmpty {
            let mark = Data(seal.mark)
            try queue.write { try $0.execute(sql: "UPDATE store SET mark = ?", arguments: [mark]) }
        }
        scopeKey = seal.isSealing ? seal.name("scope", as: "key") + made.secret : made.secret
        identity = folder.identity(of: Self.name)
    }

    private static func checkpointPages(of byteLimit: Int64) -> Int {
        Int(max(8, min(1000, byteLimit / 50 / pageSize)))
    }

    /// The bytes that the log of SQLite and its index may take beside the database.
    private var reserve: Int64 {
        Int64(Self.checkpointPages(of: byteLimit)) * (Self.pageSize + 24) + 32_768
            + 3 * Int64(ContentFile.blockSize)
    }

    private static func prepare(
        _ database: Database, key: CryptoKey?
    ) throws -> (salt: [UInt8], secret: [UInt8], mark: [UInt8]) {
        if try database.isNew(for: applicationID, version: version) {
            try database.execute(sql: schema)
            try database.execute(
                sql: "INSERT INTO store VALUES (1, ?, ?, x'', 0)",
                arguments: [Data(try RandomBytes.bytes(16)), Data(try RandomBytes.bytes(32))])
        }
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM store") else {
            throw ForeignDatabase()
        }
        guard row.bytes("secret").count == 32 else { throw ForeignDatabase() }
        return (row.bytes("salt"), row.bytes("secret"), row.bytes("mark"))
    }

    private static let schema = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        CREATE TABLE store (
            id INTEGER PRIMARY KEY, salt BLOB NOT NULL, secret BLOB NOT NULL, mark BLOB NOT NULL,
            fileBytes INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE responses (
            id INTEGER PRIMARY KEY, key BLOB NOT NULL, url BLOB NOT NULL, origin BLOB NOT NULL,
            host BLOB NOT NULL, service BLOB NOT NULL, user BLOB NOT NULL, used INTEGER NOT NULL,
            head BLOB NOT NULL, content BLOB, file TEXT, fileBytes INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX responsesByKey ON responses (key);
        CREATE INDEX responsesByURL ON responses (url);
        CREATE INDEX responsesByOrigin ON responses (origin, used);
        CREATE INDEX responsesByHost ON responses (host);
        CREATE INDEX responsesByService ON responses (service);
        CREATE INDEX responsesByUser ON responses (user);
        CREATE INDEX responsesByUse ON responses (used);
        CREATE TRIGGER added AFTER INSERT ON responses WHEN new.fileBytes > 0 BEGIN
            UPDATE store SET fileBytes = fileBytes + new.fileBytes;
        END;
        CREATE TRIGGER removed AFTER DELETE ON responses WHEN old.fileBytes > 0 BEGIN
            UPDATE store SET fileBytes = fileBytes - old.fileBytes;
        END;
        """

    // MARK: Transactions

    func read<Value>(_ work: (Database) throws -> Value) throws -> Value {
        try queue.inDatabase(work)
    }

    /// Changes rows, and removes the files of those that are gone after the change is final.
    func write<Value>(_ work: (Database, inout [String]) throws -> Value) throws -> Value {
        var files: [String] = []
        let value = try queue.write { try work($0, &files) }
        for file in files { folder.remove(file) }
        // The change is final, even if another process keeps the free pages for now.
        do { try returnPages() } catch  where Self.isDamage(error) { throw error } catch {}
        return value
    }

    /// Whether an error says that the database isn't one, or not one of ours.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is ForeignDatabase }
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_FORMAT:
            return true
        default: return false
        }
    }

    /// A number that changes when another process has changed the database.
    func dataVersion() throws -> Int {
        try read { try Int.fetchOne($0.cachedStatement(sql: "PRAGMA data_version")) ?? 0 }
    }

    /// Whether the folder still has this very database: another process may have replaced it.
    var isCurrent: Bool { identity != nil && folder.identity(of: Self.name) == identity }

    /// Gives pages that are free back to the system, if the store would otherwise be too large, and
    /// cuts a log that has grown.
    private func returnPages() throws {
        try queue.inDatabase { database in
            let log = Int64(Self.checkpointPages(of: byteLimit)) * Self.pageSize
            if folder.size(of: Self.name + "-wal") > 2 * log {
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            guard free > 0, try byteCount(in: database, countingFree: true) > byteLimit - reserve
            else { return }
            try database.execute(sql: "PRAGMA incremental_vacuum")
        }
    }

    /// The bytes of the database and the files; the log of SQLite is in the reserve.
    private func byteCount(in database: Database, countingFree: Bool = false) throws -> Int64 {
        let files = try Int64.fetchOne(database, sql: "SELECT fileBytes FROM store") ?? 0
        let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        return files + (pages - (countingFree ? 0 : free)) * Self.pageSize
    }

    /// Removes the least recently used responses until there is room for more bytes.
    func makeRoom(for bytes: Int64, in database: Database, files: inout [String]) throws {
        while try byteCount(in: database) + bytes > byteLimit - reserve {
            let row = try Row.fetchOne(
                database.cachedStatement(
                    sql: "SELECT id, file FROM responses ORDER BY used, id LIMIT 1"))
            guard let row else { return }
            try remove(row, in: database, files: &files)
        }
    }

    func remove(_ row: Row, in database: Database, files: inout [String]) throws {
        if let file = row["file"] as String?, ContentFile.isName(file) { files.append(file) }
        try database.cachedStatement(sql: "DELETE FROM responses WHERE id = ?")
            .execute(arguments: [row["id"] as Int64])
    }

    /// Removes the files that no row has: what processes left that were killed. Nothing else gives
    /// a file its final name while this holds the lock of the database.
    func removeStrayFiles() throws {
        try queue.write { database in
            let names = (try? folder.names()) ?? []
            let known = Set(
                try String.fetchAll(
                    database, sql: "SELECT file FROM responses WHERE file IS NOT NULL"))
            for name in names where ContentFile.isName(name) && !known.contains(name) {
                folder.remove(name)
            }
            folder.removeAbandoned(names.filter(ContentFile.isTemporaryName))
        }
    }

    /// Removes the database and all contents of a folder.
    static func removeFiles(in folder: StoreFolder) {
        // The log first: it must not be applied to another database.
        for suffix in ["-wal", "-shm", "-journal", ""] { folder.remove(name + suffix) }
        let names = (try? folder.names()) ?? []
        for name in names where ContentFile.isName(name) { folder.remove(name) }
        folder.removeAbandoned(names.filter(ContentFile.isTemporaryName))
    }
}
#endif
