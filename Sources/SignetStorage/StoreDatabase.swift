#if Storage
import Foundation
import GRDB

/// A database that another program made, or a version of this one that isn't known.
struct ForeignDatabase: Error {}

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
