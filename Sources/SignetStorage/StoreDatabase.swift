#if Storage
import Foundation
import GRDB
import SignetSystem

/// A database that another program made, or a version of this one that isn't known.
struct ForeignDatabase: Error {}

extension StoreFolder {
    /// Creates the file of a database if there is none. SQLite gives its other files the same mode,
    /// and follows links.
    ///
    /// - Throws: `FileFailure`, of kind `permissions` if the file of that name, or one that SQLite
    ///   keeps beside it, isn't a private file of this user.
    func prepareDatabase(_ name: String) throws(FileFailure) {
        try? PrivateFile.createNew([], at: path(of: name))
        for part in ["", "-journal", "-wal", "-shm"] { try requirePrivate(name + part) }
    }
}

extension Database {
    /// Returns whether a file has no tables yet.
    ///
    /// - Parameters:
    ///   - id: The `application_id` of the store's files.
    ///   - version: Their `user_version`.
    /// - Throws: ``ForeignDatabase`` if the file has tables and another id or version.
    func isNew(for id: Int, version: Int) throws -> Bool {
        let found = (
            id: try Int.fetchOne(self, sql: "PRAGMA application_id"),
            version: try Int.fetchOne(self, sql: "PRAGMA user_version")
        )
        let tables = try Int.fetchOne(self, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if tables > 0, found.id != id || found.version != version { throw ForeignDatabase() }
        return tables == 0
    }
}

extension Row {
    /// The bytes of a column; none for NULL.
    func bytes(_ column: String) -> [UInt8] { Array(self[column] as Data? ?? Data()) }
}
#endif
