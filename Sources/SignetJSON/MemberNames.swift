/// The member names of all open objects, to find a duplicate when it comes.
///
/// A small object is searched from end to end by a fingerprint; a large one gets a hash table with
/// Swift's seeded hash, so that no input can make the search quadratic.
struct MemberNames {
    /// What one open object has of the shared storage.
    struct Scope {
        fileprivate var firstEntry: UInt32
        fileprivate var firstScratch: UInt32
        fileprivate var hasTable = false
    }

    private struct Entry {
        var start: UInt32
        var end: UInt32
        /// Length and three bytes: differs for nearly all names that differ.
        var fingerprint: UInt32
        /// Whether the range is one of `scratch`, because the name holds escapes.
        var isScratch: Bool
    }

    private struct Table {
        var slots: [UInt32]
        var hashes: [Int]
    }

    private static let searchedFromEndToEnd = 24

    private var entries: [Entry] = []
    private var scratch: [UInt8] = []
    private var tables: [Table] = []

    func open() -> Scope {
        Scope(
            firstEntry: UInt32(truncatingIfNeeded: entries.count),
            firstScratch: UInt32(truncatingIfNeeded: scratch.count))
    }

    mutating func close(_ scope: Scope) {
        entries.removeLast(entries.count - Int(scope.firstEntry))
        if scratch.count > scope.firstScratch {
            scratch.removeLast(scratch.count - Int(scope.firstScratch))
        }
        if scope.hasTable { tables.removeLast() }
    }

    /// Adds a name, or gives false where the object already holds it.
    mutating func insert(
        _ bytes: borrowing Span<UInt8>, from start: Int, to end: Int, isEscaped: Bool,
        in scope: inout Scope
    ) -> Bool {
        let entry: Entry
        if isEscaped {
            let first = scratch.count
            JSONScanner.unescape(bytes, start..<end, into: &scratch)
            entry = Self.entry(scratch.span, first, scratch.count, isScratch: true)
        } else {
            entry = Self.entry(bytes, start, end, isScratch: false)
        }
        let first = Int(scope.firstEntry)
        if entries.count - first < Self.searchedFromEndToEnd {
            var index = first
            while index < entries.count {
                if entries[index].fingerprint == entry.fingerprint,
                    isEqual(entries[index], entry, bytes)
                {
                    return false
                }
                index &+= 1
            }
            entries.append(entry)
            return true
        }
        if !scope.hasTable {
            scope.hasTable = true
            tables.append(Table(slots: [UInt32](repeating: 0, count: 128), hashes: []))
            for index in first..<entries.count { _ = addToTable(entries[index], first, bytes) }
        }
        guard addToTable(entry, first, bytes) else { return false }
        entries.append(entry)
        return true
    }

    /// Adds the name with the next number to the innermost table.
    private mutating func addToTable(
        _ entry: Entry, _ first: Int, _ bytes: borrowing Span<UInt8>
    ) -> Bool {
        let last = tables.count - 1
        let hash = hash(entry, bytes)
        let mask = tables[last].slots.count - 1
        var slot = hash & mask
        while tables[last].slots[slot] != 0 {
            let other = Int(tables[last].slots[slot]) - 1
            if tables[last].hashes[other] == hash, isEqual(entries[first + other], entry, bytes) {
                return false
            }
            slot = (slot + 1) & mask
        }
        tables[last].hashes.append(hash)
        tables[last].slots[slot] = UInt32(truncatingIfNeeded: tables[last].hashes.count)
        if tables[last].hashes.count * 2 > tables[last].slots.count { grow(last) }
        return true
    }

    private mutating func grow(_ last: Int) {
        let count = tables[last].slots.count * 4
        var slots = [UInt32](repeating: 0, count: count)
        for (index, hash) in tables[last].hashes.enumerated() {
            var slot = hash & (count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = UInt32(truncatingIfNeeded: index + 1)
        }
        tables[last].slots = slots
    }

    private static func entry(
        _ bytes: borrowing Span<UInt8>, _ start: Int, _ end: Int, isScratch: Bool
    ) -> Entry {
        var fingerprint = UInt32(truncatingIfNeeded: end &- start) << 24
        if end > start {
            fingerprint |=
                UInt32(bytes[start]) << 16 | UInt32(bytes[(start &+ end) / 2]) << 8
                | UInt32(bytes[end &- 1])
        }
        return Entry(
            start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
            fingerprint: fingerprint, isScratch: isScratch)
    }

    private func isEqual(_ left: Entry, _ right: Entry, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard left.end &- left.start == right.end &- right.start else { return false }
        for offset in 0..<Int(left.end &- left.start) {
            guard byte(left, offset, bytes) == byte(right, offset, bytes) else { return false }
        }
        return true
    }

    @inline(__always)
    private func byte(_ entry: Entry, _ offset: Int, _ bytes: borrowing Span<UInt8>) -> UInt8 {
        entry.isScratch ? scratch[Int(entry.start) + offset] : bytes[Int(entry.start) + offset]
    }

    private func hash(_ entry: Entry, _ bytes: borrowing Span<UInt8>) -> Int {
        var hasher = Hasher()
        var word: UInt64 = 0
        for offset in 0..<Int(entry.end &- entry.start) {
            word = word << 8 | UInt64(byte(entry, offset, bytes))
            if offset & 7 == 7 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(entry.end &- entry.start)
        return hasher.finalize()
    }
}
