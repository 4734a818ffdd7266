import SignetBase

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

    private static let linearSearchLimit = 24

    /// The names of the open objects, the innermost last. Entries from `used` on are unused.
    private var entries: [Entry] = []
    private var used = 0
    private var scratch: [UInt8] = []
    /// A table for each large object: the numbers of entries by the hashes of their names. If a
    /// hash is in use, the next free one is taken.
    private var tables: [[Int: Int]] = []

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
                tables.append([:])
                for index in first..<used {
                    _ = addToTable(entries[index], number: index, of: bytes)
                }
            }
            guard addToTable(entry, number: used, of: bytes) else { return false }
        } else {
            for index in first..<used
            where entries[index].fingerprint == entry.fingerprint {
                if isEqual(entries[index], to: entry, in: bytes) { return false }
            }
        }
        append(entry)
        return true
    }

    /// Adds a name to the innermost table. Returns false if it is a duplicate.
    private mutating func addToTable(
        _ entry: Entry, number: Int, of bytes: borrowing Span<UInt8>
    ) -> Bool {
        let last = tables.count - 1
        var hash = hash(of: entry, in: bytes)
        while let other = tables[last][hash] {
            if isEqual(entries[other], to: entry, in: bytes) { return false }
            hash &+= 1
        }
        tables[last][hash] = number
        return true
    }

    @inline(__always)
    private static func fingerprint(
        of bytes: borrowing Span<UInt8>, from start: Int, to end: Int
    ) -> UInt64 {
        let count = UInt64(truncatingIfNeeded: end &- start)
        var first: UInt64 = 0
        if let word = word(bytes, at: start) {
            first = word
        } else {  // the last bytes of the text
            for at in start..<end { first |= UInt64(bytes[at]) &<< (8 &* UInt64(at &- start)) }
        }
        guard count >= 8 else { return count << 56 | first & (1 &<< (8 &* count) &- 1) }
        return (first &+ count) &* 0x9e37_79b9_7f4a_7c15 ^ (word(bytes, at: end &- 8) ?? 0)
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
        let range = Int(entry.start)..<Int(entry.start) + Int(entry.count)
        var hasher = Hasher()
        if entry.isScratch {
            hasher.combine(scratch.span.extracting(range))
        } else {
            hasher.combine(bytes.extracting(range))
        }
        return hasher.finalize()
    }
}
