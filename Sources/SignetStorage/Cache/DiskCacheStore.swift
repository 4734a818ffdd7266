#if Storage
import Dispatch
import GRDB
public import SignetCache
public import SignetCrypto
import SignetSystem
import Synchronization

/// Stored responses in a folder, which several processes may share, with those that were used last
/// in memory.
///
/// Metadata and contents of up to 64 KiB are in an SQLite database, larger ones in files beside it.
/// A damaged entry counts as not stored, and is removed; a damaged or foreign database is replaced.
/// The least recently used responses are removed, so that the folder doesn't take more than its
/// limit. A full disk stores nothing.
///
/// ```swift
/// import SignetCache
/// import SignetStorage
///
/// let store = try DiskCacheStore(folder: "/var/cache/shop", byteLimit: 64 << 20)
/// for response in await store.list() { print(response.id.key.url, response.length) }
/// await store.remove(.host("api.example.com"))
/// ```
public final class DiskCacheStore: CacheStore {
    /// The default limit: 256 MiB.
    public static let defaultByteLimit = 256 << 20
    /// The smallest limit: 1 MiB.
    public static let smallestByteLimit = 1 << 20

    /// The random key of the folder.
    public let scopeKey: [UInt8]
    private let folder: StoreFolder
    private let key: CryptoKey?
    private let byteLimit: Int
    private let memory: FrontEntries
    private let queue = DispatchQueue(label: "signet.cache")
    private let state: Mutex<State>

    /// The state that the queue uses.
    private struct State {
        /// Nil if the folder can't be used now.
        var database: CacheDatabase?
        var dataVersion = 0
    }

    /// Opens the store of a folder, or creates it.
    ///
    /// - Parameters:
    ///   - path: The folder, which only its user can read. It is created with the mode 0700.
    ///   - byteLimit: The bytes on disk, the database included, but not contents that are still
    ///     being received. At least ``smallestByteLimit``; a response that is larger than an
    ///     eighth isn't stored.
    ///   - memoryLimit: The bytes of responses that are also in memory.
    ///   - key: A vault's key, with which everything is sealed. Without one, what is stored is
    ///     protected from damage and by the folder's permissions alone.
    /// - Throws: `StorageError` with `unusable-cache-folder` or `wrong-cache-key`. A database that
    ///   can't be opened for another reason, such as a full disk, isn't an error: nothing is
    ///   stored.
    public init(
        folder path: String, byteLimit: Int = DiskCacheStore.defaultByteLimit,
        memoryLimit: Int = 8 << 20, sealedWith key: CryptoKey? = nil
    ) throws(StorageError) {
        do throws(FileFailure) {
            folder = try StoreFolder(path)
        } catch {
            throw StorageError(error)
        }
        self.key = key
        self.byteLimit = max(byteLimit, Self.smallestByteLimit)
        memory = FrontEntries(byteLimit: memoryLimit)
        let database = try Self.open(folder, byteLimit: self.byteLimit, key: key)
        try? database?.removeStrayFiles()
        scopeKey =
            database?.scopeKey ?? (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        state = Mutex(State(database: database))
    }

    /// Whether a folder has a store.
    public static func exists(in folder: String) -> Bool {
        Folder.exists("\(folder)/\(CacheDatabase.name)")
    }

    /// Opens the database, in place of a damaged or foreign one.
    private static func open(
        _ folder: StoreFolder, byteLimit: Int, key: CryptoKey?
    ) throws(StorageError) -> CacheDatabase? {
        for _ in 0..<2 {
            do {
                return try CacheDatabase(in: folder, byteLimit: Int64(byteLimit), key: key)
            } catch let error as StorageError {
                throw error
            } catch {
                guard CacheDatabase.isDamage(error) else { return nil }
                CacheDatabase.removeFiles(in: folder)
            }
        }
        return nil
    }

    // MARK: The queue

    /// Does blocking work on the queue.
    private func perform<Value: Sendable>(
        otherwise value: Value, _ work: @escaping @Sendable (CacheDatabase) throws -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.run(work) ?? value) }
        }
    }

    /// Does work with the database, which is opened again if it was damaged or replaced.
    ///
    /// - Returns: Nil if it failed.
    private func run<Value>(_ work: (CacheDatabase) throws -> Value) -> Value? {
        for _ in 0..<2 {
            guard let database = currentDatabase() else { return nil }
            do {
                return try work(database)
            } catch {
                guard CacheDatabase.isDamage(error) else { return nil }
                memory.removeAll()
                state.withLock { $0.database = nil }
                CacheDatabase.removeFiles(in: folder)
            }
        }
        return nil
    }

    /// Removes responses. If they can't be removed, as on a full disk, the whole store is, because
    /// what was removed must not be served.
    private func performRemoval(
        _ work: @escaping @Sendable (CacheDatabase) throws -> Void
    ) async {
        await withCheckedContinuation { continuation in
            queue.async {
                if self.run(work) == nil {
                    self.state.withLock { $0.database = nil }
                    self.memory.removeAll()
                    CacheDatabase.removeFiles(in: self.folder)
                }
                continuation.resume()
            }
        }
    }

    private func currentDatabase() -> CacheDatabase? {
        var database = state.withLock { $0.database }
        if database?.isCurrent != true {
            memory.removeAll()
            database = (try? Self.open(folder, byteLimit: byteLimit, key: key)) ?? nil
            // Another key hashes credentials differently, and would find nothing of this one's.
            state.withLock { $0 = State(database: database) }
        }
        if let database, let version = try? database.dataVersion() {
            let isChanged = state.withLock { state in
                defer { state.dataVersion = version }
                return state.dataVersion != version
            }
            if isChanged { memory.removeAll() }
        }
        memory.noteCheck()
        return database
    }

    // MARK: CacheStore

    /// Returns the responses that are stored under a key. This counts as a use.
    public func responses(for key: CacheKey) async -> [CacheEntry] {
        if let entries = memory.entries(for: key) { return entries }
        return await perform(otherwise: []) { database in
            let found = try database.responses(for: key)
            let entries = found.map { self.entry($0, in: database) }
            self.memory.note(uses: found.map(\.id))
            if !found.isEmpty, found.allSatisfy({ $0.content != nil }) {
                self.memory.insert(entries, rows: found.map(\.id), for: key)
            }
            return entries
        }
    }

    private func entry(_ found: CacheDatabase.Found, in database: CacheDatabase) -> CacheEntry {
        let head = found.head
        if let content = found.content {
            return CacheEntry(head.response, content: .bytes(content))
        }
        let reader = ContentFileReader(
            head.contentID, length: head.response.length, in: folder, under: database.seal
        ) { [weak self] in
            self?.queue.async { [weak self] in
                _ = self?.run { try $0.remove(contentOf: head.contentID) }
            }
        }
        return CacheEntry(head.response, content: .pieces(reader))
    }

    /// Applies a change that needs no received content.
    ///
    /// - Returns: `false` if a response should have been stored and wasn't.
    @discardableResult
    public func change(_ change: CacheChange) async -> Bool {
        defer { memory.forget(change) }
        switch change {
        case .copy(let old, let new): return await copy(old, to: new)
        case .update(let old, let new):
            return await perform(otherwise: false) { database in
                self.flushUses(into: database)
                return try database.update(old, to: new)
            }
        case .remove(let id): await performRemoval { try $0.remove(id) }
        case .invalidate(let url): await performRemoval { try $0.removeAll(ofURL: url) }
        case .clear(let origin): await performRemoval { try $0.remove(.origin(origin)) }
        case .store, .join: return false
        }
        return true
    }

    private func copy(_ old: StoredResponse, to new: StoredResponse) async -> Bool {
        guard let writer = await writer(for: .store(new)) as? DiskCacheWriter,
            await writer.append(contentOf: old)
        else { return false }
        return await writer.finish(new, replacing: nil)
    }

    /// Begins to store the content that is received.
    public func writer(for change: CacheChange) async -> (any CacheWriter)? {
        guard let database = state.withLock({ $0.database }),
            let buffer = ContentBuffer(in: folder, under: database.seal)
        else { return nil }
        let writer = DiskCacheWriter(
            change, into: buffer, limit: Int64(byteLimit / 8), for: self)
        if case .join(let old, _, receivedIsFirst: false) = change {
            guard await writer.append(contentOf: old) else { return nil }
        }
        return writer
    }

    /// Removes responses.
    public func remove(_ selection: CacheSelection) async {
        await performRemoval { database in
            defer { self.memory.removeAll() }
            try database.remove(selection)
        }
    }

    /// Removes the least recently used responses of an origin until those that stay take at most so
    /// many bytes.
    public func trim(origin: String, to byteCount: Int) async {
        await perform(otherwise: ()) { database in
            defer { self.memory.removeAll() }
            self.flushUses(into: database)
            try database.trim(origin: origin, to: byteCount)
        }
    }

    /// Returns all responses, the most recently used first.
    public func list() async -> [StoredResponse] { await readableList() ?? [] }

    /// Returns all responses, the most recently used first; `nil` if the database can't be used.
    public func readableList() async -> [StoredResponse]? {
        await perform(otherwise: nil) { database in
            self.flushUses(into: database)
            return try database.list()
        }
    }

    /// Whether a response is stored with its whole content.
    func hasWhole(_ id: StoredResponse.ID) async -> Bool {
        await responses(for: id.key).contains { $0.response.id == id && $0.response.part == nil }
    }

    /// Writes down which responses were used. A use that can't be written is forgotten.
    private func flushUses(into database: CacheDatabase) {
        let uses = memory.takeUses()
        if !uses.isEmpty { try? database.note(uses: uses) }
    }

    // MARK: For writers

    /// Makes room for a content that is being received.
    func makeRoom(for bytes: Int64) async {
        await perform(otherwise: ()) { database in
            try database.write { try database.makeRoom(for: bytes, in: $0, files: &$1) }
        }
    }

    /// Stores a response whose content has ended.
    func insert(
        _ response: StoredResponse, contentID: [UInt8], at place: ContentBuffer.Place,
        replacing old: StoredResponse?
    ) async -> Bool {
        await perform(otherwise: false) { database in
            defer {
                self.memory.forget(.store(response))
                if let old { self.memory.forget(.remove(old.id)) }
            }
            self.flushUses(into: database)
            return try database.insert(
                StoredHead(response, contentID: contentID), at: place, replacing: old)
        }
    }
}
#endif
