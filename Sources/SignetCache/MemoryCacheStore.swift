import HTTPTypes
import Synchronization

/// Stored responses in memory, with a limit of bytes. The least recently used one is removed first.
///
/// Look-up and removal take the same time for any number of responses.
public final class MemoryCacheStore: Sendable {
    /// A stored response with its content.
    public struct Entry: Sendable {
        /// The response.
        public let response: StoredResponse
        /// The stored bytes of the content.
        public let content: [UInt8]

        /// Creates an entry.
        public init(_ response: StoredResponse, content: [UInt8]) {
            self.response = response
            self.content = content
        }

        /// The bytes that the entry takes, with an estimate for what isn't text.
        var cost: Int {
            let fields = response.response.headerFields.reduce(0) {
                $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64
            }
            let selected = response.id.selected.reduce(0) {
                $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) + 32
            }
            let key = response.id.key
            return content.count + fields + selected + 2 * key.url.utf8.count
                + key.scope.utf8.count + key.origin.utf8.count + 512
        }
    }

    /// The largest number of variants of one URL and scope. The oldest one is removed, so that a
    /// `Vary` with many values doesn't slow the look-up down.
    public static let mostVariants = 32

    /// The random key of this store.
    public let scopeKey = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    private let state: Mutex<State>

    /// Creates an empty store.
    ///
    /// - Parameter byteLimit: The largest sum of contents and fields. A response that is larger
    ///   than an eighth of it isn't stored.
    public init(byteLimit: Int) { state = Mutex(State(byteLimit: byteLimit)) }

    /// The responses that are stored under a key, and their contents. This counts as a use.
    public func entries(for key: CacheKey) -> [Entry] { state.withLock { $0.entries(for: key) } }

    /// The number of responses.
    public var count: Int { state.withLock { $0.count } }

    /// The bytes that the responses take.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// Applies a change.
    ///
    /// - Parameters:
    ///   - change: The change that a decision asked for.
    ///   - received: The content that the origin sent, for ``CacheChange/store(_:)`` and
    ///     ``CacheChange/join(_:_:receivedIsFirst:)``.
    ///   - isWhole: Whether that content ended as its framing says.
    /// - Returns: `false` if a response should have been stored and wasn't: it is too large, its
    ///   length isn't the one that its fields tell, or what it belongs to isn't stored any longer.
    @discardableResult
    public func apply(_ change: CacheChange, received: [UInt8] = [], isWhole: Bool = true) -> Bool {
        switch change {
        case .store(let response):
            let finished = response.finished(length: Int64(received.count), isWhole: isWhole)
            return state.withLock { state in
                // A content that was cut off replaces nothing that can still be served.
                if !isWhole, state.hasWhole(response.id) { return false }
                guard let finished else {
                    state.remove(response.id)
                    return false
                }
                return state.insert(Entry(finished, content: received))
            }
        case .update(let old, let response):
            return state.withLock { state in
                guard let content = state.content(of: old) else { return false }
                state.remove(old.id)
                return state.insert(Entry(response, content: content))
            }
        case .copy(let old, let response):
            return state.withLock { state in
                guard let content = state.content(of: old) else { return false }
                return state.insert(Entry(response, content: content))
            }
        case .join(let old, let response, let receivedIsFirst):
            return state.withLock { state in
                guard isWhole, let stored = state.content(of: old) else { return false }
                let content = receivedIsFirst ? received + stored : stored + received
                guard Int64(content.count) == response.length else { return false }
                state.remove(old.id)
                return state.insert(Entry(response, content: content))
            }
        case .remove(let id):
            state.withLock { _ = $0.remove(id) }
        case .invalidate(let url):
            state.withLock { $0.removeAll(ofURL: url) }
        case .clear(let origin):
            state.withLock { $0.removeAll(ofOrigin: origin) }
        }
        return true
    }

    /// Stores a response, in place of one with the same identity.
    ///
    /// - Returns: `false` if it is too large.
    @discardableResult
    public func insert(_ entry: Entry) -> Bool { state.withLock { $0.insert(entry) } }

    /// Removes all responses.
    public func removeAll() { state.withLock { $0 = State(byteLimit: $0.byteLimit) } }

    /// The largest content that is stored.
    var mostContent: Int { state.withLock { $0.byteLimit / 8 } }

    /// Removes responses.
    public func remove(_ selection: CacheSelection) {
        state.withLock { $0.removeAll(where: selection.includes) }
    }

    /// Removes the least recently used responses of an origin until the others take at most so many
    /// bytes.
    public func trim(origin: String, to byteCount: Int) {
        state.withLock { $0.trim(origin: origin, to: byteCount) }
    }

    /// Returns all responses, the most recently used first.
    public func list() -> [StoredResponse] { state.withLock { $0.newestFirst.map(\.response) } }
}

extension MemoryCacheStore {
    /// The responses in slots, linked in the order of their use. A slot is found by its URL.
    fileprivate struct State {
        private struct Slot {
            let entry: Entry
            let cost: Int
        }

        /// The neighbours of a slot in the order of use; -1 for none. Apart from the slots, so that
        /// a use changes two numbers and copies no response.
        private struct Link {
            var older = -1
            var newer = -1
        }

        let byteLimit: Int
        private(set) var byteCount = 0
        private var slots: [Slot?] = []
        private var links: [Link] = []
        private var free: [Int] = []
        /// The slots of each URL, the oldest response first.
        private var urls: [String: [Int]] = [:]
        private var oldest = -1
        private var newest = -1

        init(byteLimit: Int) { self.byteLimit = byteLimit }

        var count: Int { slots.count - free.count }

        mutating func entries(for key: CacheKey) -> [Entry] {
            var entries: [Entry] = []
            for index in urls[key.url] ?? [] {
                guard let entry = slots[index]?.entry, entry.response.id.key == key else {
                    continue
                }
                entries.append(entry)
                guard index != newest else { continue }
                unlink(index)
                link(index)
            }
            return entries
        }

        /// The content of a response, if this very response is still stored.
        func content(of response: StoredResponse) -> [UInt8]? {
            guard let index = index(of: response.id), let entry = slots[index]?.entry,
                entry.response == response
            else { return nil }
            return entry.content
        }

        /// Whether a response is stored with its whole content.
        func hasWhole(_ id: StoredResponse.ID) -> Bool {
            index(of: id).map { slots[$0]?.entry.response.part == nil } ?? false
        }

        mutating func insert(_ entry: Entry) -> Bool {
            let id = entry.response.id
            remove(id)
            let cost = entry.cost
            guard cost <= byteLimit / 8 else { return false }
            let variants = (urls[id.key.url] ?? []).filter {
                slots[$0]?.entry.response.id.key == id.key
            }
            if variants.count >= mostVariants, let first = variants.first { remove(at: first) }
            let index = free.popLast() ?? slots.count
            if index == slots.count {
                slots.append(nil)
                links.append(Link())
            }
            slots[index] = Slot(entry: entry, cost: cost)
            urls[id.key.url, default: []].append(index)
            byteCount += cost
            link(index)
            while byteCount > byteLimit, oldest >= 0 { remove(at: oldest) }
            return true
        }

        @discardableResult
        mutating func remove(_ id: StoredResponse.ID) -> Entry? {
            index(of: id).flatMap { remove(at: $0) }
        }

        mutating func removeAll(ofURL url: String) {
            for index in urls[url] ?? [] { remove(at: index) }
        }

        mutating func removeAll(ofOrigin origin: String) { removeAll { $0.origin == origin } }

        mutating func removeAll(where isSelected: (CacheKey) -> Bool) {
            for index in slots.indices {
                if let slot = slots[index], isSelected(slot.entry.response.id.key) {
                    remove(at: index)
                }
            }
        }

        mutating func trim(origin: String, to byteCount: Int) {
            var (kept, index) = (0, newest)
            while index >= 0, let slot = slots[index] {
                let current = index
                index = links[index].older
                guard slot.entry.response.id.key.origin == origin else { continue }
                kept += slot.cost
                if kept > byteCount { remove(at: current) }
            }
        }

        var newestFirst: [Entry] {
            var (entries, index) = ([Entry](), newest)
            while index >= 0, let slot = slots[index] {
                entries.append(slot.entry)
                index = links[index].older
            }
            return entries
        }

        private func index(of id: StoredResponse.ID) -> Int? {
            urls[id.key.url]?.first { slots[$0]?.entry.response.id == id }
        }

        @discardableResult
        private mutating func remove(at index: Int) -> Entry? {
            guard let slot = slots[index] else { return nil }
            unlink(index)
            slots[index] = nil
            free.append(index)
            byteCount -= slot.cost
            let url = slot.entry.response.id.key.url
            urls[url]?.removeAll { $0 == index }
            if urls[url]?.isEmpty == true { urls[url] = nil }
            return slot.entry
        }

        private mutating func link(_ index: Int) {
            links[index] = Link(older: newest)
            if newest >= 0 { links[newest].newer = index } else { oldest = index }
            newest = index
        }

        private mutating func unlink(_ index: Int) {
            let link = links[index]
            if link.older >= 0 {
                links[link.older].newer = link.newer
            } else {
                oldest = link.newer
            }
            if link.newer >= 0 {
                links[link.newer].older = link.older
            } else {
                newest = link.older
            }
        }
    }
}
