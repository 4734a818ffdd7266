/// The member names of all open objects, to detect duplicates.
///
/// Small objects are searched linearly by a fingerprint. Large ones get a hash table with Swift's
/// seeded hash, so that no input can make the search quadratic.
struct MemberNames {
    /// An open object's part of the shared storage.
    struct Scope {
        fileprivate var firstEntry: UInt32
        fileprivate var firstScratch: UInt32
        fileprivate var hasTable = false
    }

    private struct Entry {
        /// A hash of the length, the first eight bytes and the last eight. Different names rarely
        /// share it.
        let fingerprint: UInt64
        let start: UInt32
        /// The number of bytes. The top bit is set if they are in `scratch`, because the name has
        /// escapes.
        private let countAndPlace: UInt32

        var count: UInt32 { countAndPlace & 0x7fff_ffff }
        var isScratch: Bool { countAndPlace >> 31 == 1 }

        @inline(__always)
        init(from start: Int, to end: Int, fingerprint: UInt64, isScratch: Bool = false) {
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

    private static let linearSearchLimit = 24

    /// The names of the open objects, the innermost last. Entries from `used` on are unused.
    private var entries: [Entry] = []
    private var used = 0
    private var scratch: [UInt8] = []
    private var tables: [Table] = []

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
            room.append(repeating: Entry(from: 0, to: 0, fingerprint: 0), count: more)
        }
    }

    /// Adds a name. Returns false if the object already holds it.
    @inline(__always)
    mutating func insert(
        _ bytes: borrowing Span<UInt8>, from start: Int, to end: Int, isEscaped: Bool,
        in scope: inout Scope
    ) -> Bool {
        let first = Int(scope.firstEntry)
        if !isEscaped, used &- first < Self.linearSearchLimit {
            let fingerprint = Self.fingerprint(of: bytes, from: start, to: end)
            if !holds(fingerprint, from: first) {
                append(Entry(from: start, to: end, fingerprint: fingerprint))
                return true
            }
        }
        return insertSlowly(bytes, from: start, to: end, isEscaped: isEscaped, in: &scope)
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

    /// Adds a name that has escapes, shares its fingerprint with another, or belongs to a large
    /// object.
    @inline(never)
    private mutating func insertSlowly(
        _ bytes: borrowing Span<UInt8>, from start: Int, to end: Int, isEscaped: Bool,
        in scope: inout Scope
    ) -> Bool {
        let entry: Entry
        if isEscaped {
            let first = scratch.count
            JSONScanner.unescape(bytes, in: start..<end, into: &scratch)
            entry = Entry(
                from: first, to: scratch.count,
                fingerprint: Self.fingerprint(of: scratch.span, from: first, to: scratch.count),
                isScratch: true)
        } else {
            let fingerprint = Self.fingerprint(of: bytes, from: start, to: end)
            entry = Entry(from: start, to: end, fingerprint: fingerprint)
        }
        let first = Int(scope.firstEntry)
        if used - first >= Self.linearSearchLimit {
            if !scope.hasTable {
                scope.hasTable = true
                tables.append(Table(slots: [UInt32](repeating: 0, count: 128), hashes: []))
                for index in first..<used {
                    _ = addToTable(entries[index], of: bytes, first: first)
                }
            }
            guard addToTable(entry, of: bytes, first: first) else { return false }
        } else {
            for index in first..<used
            where entries[index].fingerprint == entry.fingerprint {
                if isEqual(entries[index], to: entry, in: bytes) { return false }
            }
        }
        append(entry)
        return true
    }

    /// Adds a name with the next number to the innermost table. Returns false if it is a duplicate.
    private mutating func addToTable(
        _ entry: Entry, of bytes: borrowing Span<UInt8>, first: Int
    ) -> Bool {
        let last = tables.count - 1
        let hash = hash(of: entry, in: bytes)
        let mask = tables[last].slots.count - 1
        var slot = hash & mask
        while tables[last].slots[slot] != 0 {
            let other = Int(tables[last].slots[slot]) - 1
            if tables[last].hashes[other] == hash,
                isEqual(entries[first + other], to: entry, in: bytes)
            {
                return false
            }
            slot = (slot + 1) & mask
        }
        tables[last].hashes.append(hash)
        tables[last].slots[slot] = UInt32(truncatingIfNeeded: tables[last].hashes.count)
        if tables[last].hashes.count * 2 > tables[last].slots.count { growTable(last) }
        return true
    }

    private mutating func growTable(_ last: Int) {
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
        of bytes: borrowing Span<UInt8>, from start: Int, to end: Int
    ) -> UInt64 {
        let count = end &- start
        if count < 8 {
            if let word = word(bytes, at: start) { return shortFingerprint(of: word, count: count) }
            var packed: UInt64 = 0
            for at in start..<end { packed |= UInt64(bytes[at]) << (8 * UInt64(at - start)) }
            return shortFingerprint(of: packed, count: count)
        }
        let first = word(bytes, at: start) ?? 0
        let last = word(bytes, at: end &- 8) ?? 0
        return (first &+ UInt64(truncatingIfNeeded: count)) &* 0x9e37_79b9_7f4a_7c15 ^ last
    }

    @inline(__always)
    private static func shortFingerprint(of word: UInt64, count: Int) -> UInt64 {
        let length = UInt64(truncatingIfNeeded: count)
        return length << 56 | word & (1 &<< (8 &* length) &- 1)
    }

    private func isEqual(
        _ left: Entry, to right: Entry, in bytes: borrowing Span<UInt8>
    ) -> Bool {
        guard left.count == right.count, left.fingerprint == right.fingerprint else {
            return false
        }
        for offset in 0..<Int(left.count) {
            guard byte(offset, of: left, in: bytes) == byte(offset, of: right, in: bytes) else {
                return false
            }
        }
        return true
    }

    @inline(__always)
    private func byte(_ offset: Int, of entry: Entry, in bytes: borrowing Span<UInt8>) -> UInt8 {
        entry.isScratch ? scratch[Int(entry.start) + offset] : bytes[Int(entry.start) + offset]
    }

    private func hash(of entry: Entry, in bytes: borrowing Span<UInt8>) -> Int {
        let end = Int(entry.start) + Int(entry.count)
        return entry.isScratch
            ? Self.hash(of: scratch.span, from: Int(entry.start), to: end)
            : Self.hash(of: bytes, from: Int(entry.start), to: end)
    }

    private static func hash(
        of bytes: borrowing Span<UInt8>, from start: Int, to end: Int
    ) -> Int {
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
