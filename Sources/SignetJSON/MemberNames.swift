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
        /// Made of the length, the first eight bytes and the last eight: differs for nearly all
        /// names that differ.
        let fingerprint: UInt64
        let start: UInt32
        /// The byte count, and on top whether the range is one of `scratch`, because the name holds
        /// escapes.
        private let countAndPlace: UInt32

        var count: UInt32 { countAndPlace & 0x7fff_ffff }
        var isScratch: Bool { countAndPlace >> 31 == 1 }

        @inline(__always)
        init(_ start: Int, _ end: Int, _ fingerprint: UInt64, isScratch: Bool) {
            self.fingerprint = fingerprint
            self.start = UInt32(truncatingIfNeeded: start)
            self.countAndPlace =
                UInt32(truncatingIfNeeded: end &- start) & 0x7fff_ffff | (isScratch ? 1 << 31 : 0)
        }
    }

    private struct Table {
        var slots: [UInt32]
        var hashes: [Int]
    }

    private static let searchedFromEndToEnd = 24

    /// The names of the open objects, the innermost last; what stands behind `used` is left over.
    private var entries: [Entry] = []
    private var used = 0
    private var scratch: [UInt8] = []
    private var tables: [Table] = []

    /// Forgets all names and keeps its room, or gives false where there is much of it.
    mutating func reset() -> Bool {
        guard entries.count <= 1024, scratch.isEmpty, tables.isEmpty else { return false }
        used = 0
        return true
    }

    func open() -> Scope {
        Scope(
            firstEntry: UInt32(truncatingIfNeeded: used),
            firstScratch: UInt32(truncatingIfNeeded: scratch.count))
    }

    @inline(__always)
    mutating func close(_ scope: Scope) {
        used = Int(scope.firstEntry)
        if scope.hasTable || !scratch.isEmpty { closeSlowly(scope) }
    }

    @inline(never)
    private mutating func closeSlowly(_ scope: Scope) {
        if scratch.count > scope.firstScratch {
            scratch.removeLast(scratch.count - Int(scope.firstScratch))
        }
        if scope.hasTable { tables.removeLast() }
    }

    @inline(__always)
    private mutating func append(_ entry: Entry) {
        if used == entries.count { grow() }
        entries[used] = entry
        used &+= 1
    }

    @inline(never)
    private mutating func grow() {
        let more = max(entries.count, 32)
        entries.append(addingCapacity: more) { room in
            room.append(repeating: Entry(0, 0, 0, isScratch: false), count: more)
        }
    }

    /// Adds a name, or gives false where the object already holds it.
    @inline(__always)
    mutating func insert(
        _ bytes: borrowing Span<UInt8>, from start: Int, to end: Int, isEscaped: Bool,
        in scope: inout Scope
    ) -> Bool {
        let first = Int(scope.firstEntry)
        if !isEscaped, used &- first < Self.searchedFromEndToEnd {
            let fingerprint = Self.fingerprint(bytes, start, end)
            if !holds(fingerprint, from: first) {
                append(Entry(start, end, fingerprint, isScratch: false))
                return true
            }
        }
        return insertOther(bytes, start, end, isEscaped, &scope)
    }

    /// Adds a name of fewer than eight bytes, which the word holds lowest first, and no escape.
    @inline(__always)
    mutating func insertShort(
        _ word: UInt64, _ length: Int, _ bytes: borrowing Span<UInt8>, at start: Int,
        in scope: inout Scope
    ) -> Bool {
        let first = Int(scope.firstEntry)
        if used &- first < Self.searchedFromEndToEnd {
            let fingerprint = Self.shortFingerprint(word, length)
            if !holds(fingerprint, from: first) {
                append(Entry(start, start &+ length, fingerprint, isScratch: false))
                return true
            }
        }
        return insertOther(bytes, start, start &+ length, false, &scope)
    }

    /// Adds a name the slow way, with a copy of the scope, so that the caller's may stay in registers.
    @inline(__always)
    private mutating func insertOther(
        _ bytes: borrowing Span<UInt8>, _ start: Int, _ end: Int, _ isEscaped: Bool,
        _ scope: inout Scope
    ) -> Bool {
        var changed = scope
        let isNew = insertSlowly(bytes, start, end, isEscaped, &changed)
        scope = changed
        return isNew
    }

    @inline(__always)
    private func holds(_ fingerprint: UInt64, from first: Int) -> Bool {
        let known = entries.span
        var index = first
        while index < used {
            if known[index].fingerprint == fingerprint { return true }
            index &+= 1
        }
        return false
    }

    /// Adds a name that holds escapes, has the fingerprint of another or belongs to a large object.
    @inline(never)
    private mutating func insertSlowly(
        _ bytes: borrowing Span<UInt8>, _ start: Int, _ end: Int, _ isEscaped: Bool,
        _ scope: inout Scope
    ) -> Bool {
        let entry: Entry
        if isEscaped {
            let first = scratch.count
            JSONScanner.unescape(bytes, start..<end, into: &scratch)
            entry = Entry(
                first, scratch.count, Self.fingerprint(scratch.span, first, scratch.count),
                isScratch: true)
        } else {
            entry = Entry(start, end, Self.fingerprint(bytes, start, end), isScratch: false)
        }
        let first = Int(scope.firstEntry)
        if used - first >= Self.searchedFromEndToEnd {
            if !scope.hasTable {
                scope.hasTable = true
                tables.append(Table(slots: [UInt32](repeating: 0, count: 128), hashes: []))
                for index in first..<used { _ = addToTable(entries[index], first, bytes) }
            }
            guard addToTable(entry, first, bytes) else { return false }
        } else {
            for index in first..<used
            where entries[index].fingerprint == entry.fingerprint {
                if isEqual(entries[index], entry, bytes) { return false }
            }
        }
        append(entry)
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

    @inline(__always)
    private static func fingerprint(
        _ bytes: borrowing Span<UInt8>, _ start: Int, _ end: Int
    ) -> UInt64 {
        let count = end &- start
        if count < 8 {
            if let word = word(bytes, at: start) { return shortFingerprint(word, count) }
            var packed: UInt64 = 0
            for at in start..<end { packed |= UInt64(bytes[at]) << (8 * UInt64(at - start)) }
            return shortFingerprint(packed, count)
        }
        let first = word(bytes, at: start) ?? 0
        let last = word(bytes, at: end &- 8) ?? 0
        return (first &+ UInt64(truncatingIfNeeded: count)) &* 0x9e37_79b9_7f4a_7c15 ^ last
    }

    @inline(__always)
    private static func shortFingerprint(_ word: UInt64, _ count: Int) -> UInt64 {
        let length = UInt64(truncatingIfNeeded: count)
        return length << 56 | word & (1 &<< (8 &* length) &- 1)
    }

    private func isEqual(_ left: Entry, _ right: Entry, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard left.count == right.count, left.fingerprint == right.fingerprint else {
            return false
        }
        for offset in 0..<Int(left.count) {
            guard byte(left, offset, bytes) == byte(right, offset, bytes) else { return false }
        }
        return true
    }

    @inline(__always)
    private func byte(_ entry: Entry, _ offset: Int, _ bytes: borrowing Span<UInt8>) -> UInt8 {
        entry.isScratch ? scratch[Int(entry.start) + offset] : bytes[Int(entry.start) + offset]
    }

    private func hash(_ entry: Entry, _ bytes: borrowing Span<UInt8>) -> Int {
        let end = Int(entry.start) + Int(entry.count)
        return entry.isScratch
            ? Self.hash(scratch.span, Int(entry.start), end)
            : Self.hash(bytes, Int(entry.start), end)
    }

    private static func hash(_ bytes: borrowing Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        var hasher = Hasher()
        var at = start
        while at &+ 8 <= end, let word = word(bytes, at: at) {
            hasher.combine(word)
            at &+= 8
        }
        var rest: UInt64 = 0
        while at < end {
            rest = rest << 8 | UInt64(bytes[at])
            at &+= 1
        }
        hasher.combine(rest)
        hasher.combine(end &- start)
        return hasher.finalize()
    }
}
