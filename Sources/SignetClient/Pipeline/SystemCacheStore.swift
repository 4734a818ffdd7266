import SignetBase
import SignetCache
import Synchronization

/// The store of a system. A response isn't kept if it was removed after its request had begun, as
/// by a PUT to its URL or a program that clears the cache.
final class SystemCacheStore: Sendable {
    private struct Removals {
        var count = 0
        /// The newest ones; each tells which keys it removed.
        var recent: [@Sendable (CacheKey) -> Bool] = []
    }

    private let store: any CacheStore
    private let removals = Mutex(Removals())
    /// Of more removals than these, each counts for all keys.
    private static let mostRecent = 256

    init(_ store: any CacheStore) { self.store = store }

    /// The number of removals so far, which a request notes when it begins.
    var removalCount: Int { removals.withLock { $0.count } }

    func responses(for key: CacheKey) async -> [CacheEntry] { await store.responses(for: key) }

    @discardableResult
    func change(_ change: CacheChange) async -> Bool {
        switch change {
        case .invalidate(let url): note { sameBytes($0.url, url) }
        case .clear(let origin): note(CacheSelection.origin(origin).includes)
        case .store, .join, .update, .copy, .remove: break
        }
        return await store.change(change)
    }

    func remove(_ selection: CacheSelection) async {
        note(selection.includes)
        await store.remove(selection)
    }

    func trim(origin: String, to byteCount: Int) async {
        await store.trim(origin: origin, to: byteCount)
    }

    /// Begins to store the content that is received.
    ///
    /// - Parameter count: The removals when the request began.
    func writer(for change: CacheChange, since count: Int) async -> (any CacheWriter)? {
        guard let writer = await store.writer(for: change) else { return nil }
        return SystemCacheWriter(writer, for: change, into: self, since: count)
    }

    private func note(_ isRemoved: @escaping @Sendable (CacheKey) -> Bool) {
        removals.withLock { removals in
            removals.count += 1
            if removals.recent.count == Self.mostRecent { removals.recent.removeFirst() }
            removals.recent.append(isRemoved)
        }
    }

    /// Whether the responses under a key were removed since a request began.
    fileprivate func hasRemoved(_ key: CacheKey, since count: Int) -> Bool {
        removals.withLock { removals in
            let later = removals.count - count
            return later > removals.recent.count
                || removals.recent.suffix(later).contains { $0(key) }
        }
    }
}

/// Removes what it has stored if it was to be removed meanwhile.
private final class SystemCacheWriter: CacheWriter {
    private let writer: any CacheWriter
    private let change: CacheChange
    private let store: SystemCacheStore
    private let count: Int

    init(
        _ writer: any CacheWriter, for change: CacheChange, into store: SystemCacheStore,
        since count: Int
    ) {
        (self.writer, self.change, self.store, self.count) = (writer, change, store, count)
    }

    func write(_ chunk: [UInt8]) async { await writer.write(chunk) }

    func finish(isWhole: Bool) async -> Bool {
        let isStored = await writer.finish(isWhole: isWhole)
        switch change {
        case .store(let response), .join(_, let response, _):
            // Asked afterwards, so that no removal comes between the question and the storing.
            guard isStored, store.hasRemoved(response.id.key, since: count) else { break }
            await store.change(.remove(response.id))
            return false
        case .update, .copy, .remove, .invalidate, .clear: break
        }
        return isStored
    }
}
