#if Storage
import SignetCache
import Synchronization

/// The responses that were used last, in memory before the disk, by their keys.
///
/// Another process may change the disk. What is in memory counts for a second after the disk was
/// last looked at.
final class FrontEntries: Sendable {
    private struct Slot {
        let entries: [CacheEntry]
        let rows: [Int64]
        let cost: Int
        /// The number of the last use.
        var used: Int
    }

    private struct State {
        var slots: [CacheKey: Slot] = [:]
        /// The keys in the order of their uses. A pair whose number isn't the slot's last one is
        /// ignored.
        var order: [(key: CacheKey, used: Int)] = []
        var first = 0
        var byteCount = 0
        var lastUse = 0
        var uses: [Int64] = []
        var checked: ContinuousClock.Instant?

        mutating func use(_ key: CacheKey) {
            lastUse += 1
            slots[key]?.used = lastUse
            order.append((key, lastUse))
            if first > 64, first * 2 > order.count {
                order.removeFirst(first)
                first = 0
            } else if order.count > 1024 + 4 * slots.count {
                order = order[first...].filter { slots[$0.key]?.used == $0.used }
                first = 0
            }
        }

        mutating func remove(_ key: CacheKey) {
            if let slot = slots.removeValue(forKey: key) { byteCount -= slot.cost }
        }
    }

    /// The uses that wait for the disk, at most.
    private static let mostUses = 4096

    private let byteLimit: Int
    private let state = Mutex(State())

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// The responses under a key; nil if the disk must be asked.
    func entries(for key: CacheKey) -> [CacheEntry]? {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard let checked = state.checked, now - checked < .seconds(1),
                let slot = state.slots[key]
            else { return nil }
            state.use(key)
            if state.uses.count < Self.mostUses { state.uses += slot.rows }
            return slot.entries
        }
    }

    func insert(_ entries: [CacheEntry], rows: [Int64], for key: CacheKey) {
        let cost = entries.reduce(1024) { $0 + Int($1.response.length) + 1024 }
        guard cost <= byteLimit / 4 else { return }
        state.withLock { state in
            state.remove(key)
            state.slots[key] = Slot(entries: entries, rows: rows, cost: cost, used: 0)
            state.byteCount += cost
            state.use(key)
            while state.byteCount > byteLimit, state.first < state.order.count {
                let oldest = state.order[state.first]
                state.first += 1
                if state.slots[oldest.key]?.used == oldest.used { state.remove(oldest.key) }
            }
        }
    }

    /// Notes uses, which are written to the disk with the next change.
    func note(uses: [Int64]) {
        state.withLock { if $0.uses.count < Self.mostUses { $0.uses += uses } }
    }

    /// The rows that were used since the last call, in their order.
    func takeUses() -> [Int64] {
        state.withLock { state in
            defer { state.uses = [] }
            // The last use of each row counts.
            var seen: Set<Int64> = []
            return state.uses.reversed().filter { seen.insert($0).inserted }.reversed()
        }
    }

    /// Notes that the disk has just been looked at.
    func noteCheck() { state.withLock { $0.checked = .now } }

    /// Removes what a change is about.
    func forget(_ change: CacheChange) {
        state.withLock { state in
            switch change {
            case .store(let response): state.remove(response.id.key)
            case .update(let old, let new), .copy(let old, let new), .join(let old, let new, _):
                state.remove(old.id.key)
                state.remove(new.id.key)
            case .remove(let id): state.remove(id.key)
            case .invalidate(let url):
                for key in state.slots.keys where key.url == url { state.remove(key) }
            case .clear(let origin):
                for key in state.slots.keys where key.origin == origin { state.remove(key) }
            }
        }
    }

    func removeAll() {
        state.withLock { state in
            let uses = state.uses
            state = State()
            state.uses = uses
        }
    }
}
#endif
