#if Storage
import Foundation
import GRDB
import SignetCache
import SignetSystem

extension CacheDatabase {
    /// A stored response, its row, and its content unless that is in a file.
    struct Found {
        let id: Int64
        let head: StoredHead
        let content: [UInt8]?
    }

    /// The names under which a response is found.
    private struct Names {
        let key, url, origin, host, service, user: Data

        init(_ key: CacheKey, under seal: StoreSeal) {
            func name(_ text: String, _ label: String) -> Data {
                Data(seal.name(text, as: label))
            }
            let scope = CacheScope(key.scope)
            self.key = name("\(key.scope)\0\(key.url)", "key")
            url = name(key.url, "url")
            origin = name(key.origin, "origin")
            host = name(key.host, "host")
            service = name(scope?.service ?? key.scope, "service")
            user = name(scope?.user ?? key.scope, "user")
        }
    }

    // MARK: Reading

    /// Returns the responses under a key, the first stored first. A row that is damaged is removed.
    func responses(for key: CacheKey) throws -> [Found] {
        let (found, damaged) = try read { try self.found(under: key, in: $0) }
        if !damaged.isEmpty { try remove(rows: damaged) }
        return found
    }

    private func found(
        under key: CacheKey, in database: Database
    ) throws -> (found: [Found], damaged: [Int64]) {
        let name = Data(seal.name("\(key.scope)\0\(key.url)", as: "key"))
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT id, head, content, file FROM responses WHERE key = ? ORDER BY id"),
            arguments: [name])
        var (found, damaged) = ([Found](), [Int64]())
        for row in rows {
            let id: Int64 = row["id"]
            if let one = self.found(row, id: id), one.head.response.id.key == key {
                found.append(one)
            } else {
                damaged.append(id)
            }
        }
        return (found, damaged)
    }

    private func found(_ row: Row, id: Int64) -> Found? {
        guard let head = head(row) else { return nil }
        if let file = row["file"] as String? {
            return file == ContentFile.name(of: head.contentID)
                ? Found(id: id, head: head, content: nil) : nil
        }
        guard let protected = row["content"] as Data?,
            let content = seal.open(
                Array(protected), in: ContentFile.context(ofRow: head.contentID)),
            Int64(content.count) == head.response.length
        else { return nil }
        return Found(id: id, head: head, content: content)
    }

    private func head(_ row: Row) -> StoredHead? {
        guard let protected = row["head"] as Data? else { return nil }
        return seal.open(Array(protected), in: Self.headContext).flatMap { StoredHead($0) }
    }

    private static let headContext = Array("head".utf8)

    /// Returns all responses, the most recently used first.
    func list() throws -> [StoredResponse] {
        try read { database in
            try Row.fetchAll(
                database, sql: "SELECT head FROM responses ORDER BY used DESC, id DESC"
            )
            .compactMap { head($0)?.response }
        }
    }

    /// Whether this very response is stored.
    private func row(of response: StoredResponse, in database: Database) throws -> Found? {
        try found(under: response.id.key, in: database).found.first {
            $0.head.response == response
        }
    }

    // MARK: Storing

    /// Stores a response in place of those with the same identity.
    ///
    /// - Parameters:
    ///   - old: A response that must still be stored, and that this one replaces.
    /// - Returns: False if it isn't stored.
    func insert(
        _ head: StoredHead, at place: ContentBuffer.Place, replacing old: StoredResponse? = nil
    ) throws -> Bool {
        guard let protected = head.bytes.flatMap({ seal.protect($0, in: Self.headContext) }) else {
            return false
        }
        let names = Names(head.response.id.key, under: seal)
        var isStored = false
        // A file that has its name but no row would stay.
        defer {
            if !isStored, case .file = place { folder.remove(ContentFile.name(of: head.contentID)) }
        }
        isStored = try write { database, files in
            if let old {
                guard try row(of: old, in: database) != nil else { return false }
                try remove(old.id, in: database, files: &files)
            }
            try remove(head.response.id, in: database, files: &files)
            try removeOldestVariant(under: names.key, in: database, files: &files)
            var (content, file, fileBytes) = (Data?.none, String?.none, Int64(0))
            switch place {
            case .row(let bytes): content = Data(bytes)
            case .file(_, let size):
                (file, fileBytes) = (ContentFile.name(of: head.contentID), size)
            }
            let size = Int64(protected.count + (content?.count ?? 0)) + fileBytes + 512
            try makeRoom(for: size, in: database, files: &files)
            if case .file(let new, _) = place, let file { try new.rename(to: file) }
            try database.cachedStatement(
                sql: """
                    INSERT INTO responses
                        (key, url, origin, host, service, user, used, head, content, file, fileBytes)
                    VALUES (?, ?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM responses), ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                names.key, names.url, names.origin, names.host, names.service, names.user,
                Data(protected), content, file, fileBytes,
            ])
            return true
        }
        return isStored
    }

    private func removeOldestVariant(
        under key: Data, in database: Database, files: inout [String]
    ) throws {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT id, file FROM responses WHERE key = ? ORDER BY id"), arguments: [key])
        guard rows.count >= MemoryCacheStore.mostVariants, let first = rows.first else { return }
        try remove(first, in: database, files: &files)
    }

    /// Replaces the metadata of a response that is still stored.
    func update(_ old: StoredResponse, to new: StoredResponse) throws -> Bool {
        try write { database, files in
            guard let found = try row(of: old, in: database),
                let bytes = StoredHead(new, contentID: found.head.contentID).bytes,
                let protected = seal.protect(bytes, in: Self.headContext)
            else { return false }
            // The identity may be new: then one that has it already is replaced.
            for other in try self.found(under: new.id.key, in: database).found
            where other.head.response.id == new.id && other.id != found.id {
                let file = other.content == nil ? ContentFile.name(of: other.head.contentID) : nil
                try remove(["id": other.id, "file": file], in: database, files: &files)
            }
            try database.cachedStatement(
                sql: """
                    UPDATE responses SET head = ?, used = (SELECT max(used) + 1 FROM responses)
                    WHERE id = ?
                    """
            ).execute(arguments: [Data(protected), found.id])
            return true
        }
    }

    /// Counts uses of rows, in their order.
    func note(uses: [Int64]) throws {
        try write { database, _ in
            for id in uses {
                try database.cachedStatement(
                    sql: """
                        UPDATE responses SET used = (SELECT max(used) + 1 FROM responses)
                        WHERE id = ?
                        """
                ).execute(arguments: [id])
            }
        }
    }

    // MARK: Removing

    private func remove(
        _ id: StoredResponse.ID, in database: Database, files: inout [String]
    ) throws {
        for found in try found(under: id.key, in: database).found
        where found.head.response.id == id {
            let file = found.content == nil ? ContentFile.name(of: found.head.contentID) : nil
            try remove(["id": found.id, "file": file], in: database, files: &files)
        }
    }

    func remove(_ id: StoredResponse.ID) throws {
        try write { database, files in try remove(id, in: database, files: &files) }
    }

    private func remove(rows: [Int64]) throws {
        try write { database, files in
            for id in rows {
                let row = try Row.fetchOne(
                    database, sql: "SELECT id, file FROM responses WHERE id = ?", arguments: [id])
                if let row { try remove(row, in: database, files: &files) }
            }
        }
    }

    /// Removes the response of a content that is damaged.
    func remove(contentOf id: [UInt8]) throws {
        try remove(where: "file = ?", ContentFile.name(of: id).databaseValue)
    }

    func remove(_ selection: CacheSelection) throws {
        func name(_ text: String, _ label: String) -> DatabaseValue {
            Data(seal.name(text, as: label)).databaseValue
        }
        switch selection {
        case .all: try remove(where: "1 = ?", 1.databaseValue)
        case .key(let key): try remove(where: "key = ?", name("\(key.scope)\0\(key.url)", "key"))
        case .origin(let text): try remove(where: "origin = ?", name(text, "origin"))
        case .host(let text): try remove(where: "host = ?", name(text, "host"))
        case .service(let text): try remove(where: "service = ?", name(text, "service"))
        case .user(let text): try remove(where: "user = ?", name(text, "user"))
        }
    }

    func removeAll(ofURL url: String) throws {
        let name = Data(seal.name(url, as: "url"))
        // Asked after each call that isn't safe, and most URLs have no response.
        let isStored = try read { database in
            try Row.fetchOne(
                database.cachedStatement(sql: "SELECT id FROM responses WHERE url = ? LIMIT 1"),
                arguments: [name]) != nil
        }
        if isStored { try remove(where: "url = ?", name.databaseValue) }
    }

    private func remove(where condition: String, _ value: DatabaseValue) throws {
        try write { database, files in
            let rows = try Row.fetchAll(
                database.cachedStatement(sql: "SELECT id, file FROM responses WHERE \(condition)"),
                arguments: [value])
            for row in rows { try remove(row, in: database, files: &files) }
        }
    }

    /// Removes the least recently used responses of an origin until the others take at most so many
    /// bytes.
    func trim(origin: String, to byteCount: Int) throws {
        let name = Data(seal.name(origin, as: "origin"))
        try write { database, files in
            var kept = 0
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT id, file, fileBytes + length(head) + coalesce(length(content), 0) AS size
                    FROM responses WHERE origin = ? ORDER BY used DESC, id DESC
                    """, arguments: [name])
            for row in rows {
                kept += row["size"] as Int
                if kept > byteCount { try remove(row, in: database, files: &files) }
            }
        }
    }
}
#endif
