import Synchronization

extension MemoryCacheStore: CacheStore {
    /// Returns the responses that are stored under a key. This counts as a use.
    public func responses(for key: CacheKey) async -> [CacheEntry] {
        entries(for: key).map { CacheEntry($0.response, content: .bytes($0.content)) }
    }

    /// Applies a change that needs no received content.
    ///
    /// - Returns: `false` if a response should have been stored and wasn't.
    @discardableResult
    public func change(_ change: CacheChange) async -> Bool {
        switch change {
        case .store, .join: false
        case .update, .copy, .remove, .invalidate, .clear: apply(change)
        }
    }

    /// Begins to store the content that is received.
    public func writer(for change: CacheChange) async -> (any CacheWriter)? {
        MemoryCacheWriter(of: change, in: self)
    }
}

/// Keeps received content until it has ended, at most as much as the store would take.
private final class MemoryCacheWriter: CacheWriter {
    private let change: CacheChange
    private let store: MemoryCacheStore
    /// Nil after a response has become too large.
    private let content = Mutex<[UInt8]?>([])

    init(of change: CacheChange, in store: MemoryCacheStore) {
        self.change = change
        self.store = store
    }

    func write(_ chunk: [UInt8]) async {
        content.withLock { content in
            guard let count = content?.count, count + chunk.count <= store.mostContent else {
                content = nil
                return
            }
            content?.append(contentsOf: chunk)
        }
    }

    func finish(isWhole: Bool) async -> Bool {
        if let content = content.withLock({ $0.take() }) {
            return store.apply(change, received: content, isWhole: isWhole)
        }
        // The origin has replaced what is stored.
        if case .store(let response) = change { store.apply(.remove(response.id)) }
        return false
    }
}
