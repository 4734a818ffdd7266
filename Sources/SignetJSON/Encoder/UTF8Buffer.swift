import SignetBase

/// A growing buffer of UTF-8 text.
///
/// Each function reserves memory once and then writes words, so that the array's owner and capacity
/// are checked once for a whole member.
struct UTF8Buffer {
    /// The text, followed by unused bytes from `count` on.
    private var storage: [UInt8] = []
    private(set) var count = 0

    init(capacity: Int) { if capacity > 0 { grow(capacity) } }

    /// Adds a member name at a position of the text. Returns false if the object already holds it.
    @inline(__always)
    func addName(
        from start: Int, to end: Int, isEscaped: Bool, to names: inout MemberNames,
        scope: inout MemberNames.Scope
    ) -> Bool {
        names.insert(storage.span, from: start, to: end, isEscaped: isEscaped, in: &scope)
    }

    /// Returns the text, without the unused bytes.
    mutating func finish() -> [UInt8] {
        storage.removeLast(storage.count - count)
        return storage
    }

    mutating func removeLast(_ count: Int) { self.count -= count }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if storage.count &- count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let more = max(storage.count, more)
        storage.append(addingCapacity: more) { room in room.append(repeating: 0, count: more) }
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        storage[count] = byte
        count &+= 1
    }

    mutating func append(_ bytes: borrowing Span<UInt8>) {
        reserve(bytes.count)
        for index in bytes.indices { storage[count &+ index] = bytes[index] }
        count += bytes.count
    }

    /// Appends the comma before a member that is not the first, and the member's name.
    ///
    /// - Returns: Whether the name has escapes.
    @inline(__always)
    mutating func appendName(_ name: String, isFirst: Bool) -> Bool {
        if !isFirst { append(ASCII.comma) }
        return append(name)
    }

    /// Appends a name that the text already holds, with its quotation marks and colon.
    mutating func appendName(from name: Int, length: Int, isFirst: Bool) {
        reserve(length &+ 9)
        let start = count
        var room = storage.mutableSpan
        count = Self.writeName(from: name, length: length, isFirst: isFirst, to: &room, at: start)
    }

    /// Appends a member whose name the text already holds, with its quotation marks and colon.
    @inline(__always)
    mutating func appendMember(
        nameFrom name: Int, length: Int, isFirst: Bool, value: JSONScalar
    ) {
        reserve(length &+ 9 &+ Self.room(for: value))
        let start = count
        var room = storage.mutableSpan
        let at = Self.writeName(from: name, length: length, isFirst: isFirst, to: &room, at: start)
        let end = Self.write(value, to: &room, at: at)
        count = end ?? at
        if end == nil { appendSlowly(value) }
    }

    /// Writes a comma unless the member is the first, and then the name in whole words. The last
    /// word can write past the end of the name.
    @inline(__always)
    private static func writeName(
        from start: Int, length: Int, isFirst: Bool, to room: inout MutableSpan<UInt8>, at end: Int
    ) -> Int {
        var at = end
        if !isFirst {
            room[at] = ASCII.comma
            at &+= 1
        }
        var offset = 0
        while offset < length {
            guard let word = word(room.span, at: start &+ offset) else { break }
            store(word, to: &room, at: at &+ offset)
            offset &+= 8
        }
        return at &+ length
    }

    /// Returns whether a range of the text is ASCII.
    func isASCII(from start: Int, to end: Int) -> Bool {
        storage[start..<end].allSatisfy { $0 < 0x80 }
    }

    /// Appends a string with its quotation marks.
    ///
    /// - Returns: Whether it has escapes.
    @discardableResult
    mutating func append(_ text: String) -> Bool {
        reserve(text.utf8.count &+ 2)
        let start = count
        var room = storage.mutableSpan
        if let end = Self.quote(text, to: &room, at: start) {
            count = end
            return false
        }
        appendEscaped(text)
        return true
    }

    @inline(never)
    private mutating func appendEscaped(_ text: String) {
        var escaped = [ASCII.quote]
        for byte in text.utf8 { JSONWriter.appendEscaped(byte, to: &escaped) }
        escaped.append(ASCII.quote)
        append(escaped.span)
    }

    /// Writes a string with quotation marks and returns its end, or nil if a byte needs an escape.
    @inline(__always)
    private static func quote(
        _ text: String, to room: inout MutableSpan<UInt8>, at start: Int
    ) -> Int? {
        let source = text.utf8.span
        let last = start &+ 1 &+ source.count
        room[start] = ASCII.quote
        room[last] = ASCII.quote
        return copy(source, to: &room, at: start &+ 1) ? last &+ 1 : nil
    }

    /// Copies a string. Returns false if a byte needs an escape.
    @inline(__always)
    private static func copy(
        _ source: borrowing Span<UInt8>, to room: inout MutableSpan<UInt8>, at start: Int
    ) -> Bool {
        let length = source.count
        var at = 0
        while let next = word(source, at: at) {
            guard !mustEscape(next) else { return false }
            store(next, to: &room, at: start &+ at)
            at &+= 8
        }
        if at < length, let last = word(source, at: length &- 8) {
            guard !mustEscape(last) else { return false }
            store(last, to: &room, at: start &+ length &- 8)
            return true
        }
        while at < length {
            let byte = source[at]
            guard byte >= 0x20, byte != ASCII.quote, byte != ASCII.backslash else { return false }
            room[start &+ at] = byte
            at &+= 1
        }
        return true
    }

    /// Writes eight bytes, the lowest first. The optimiser turns it into one store.
    ///
    /// Not inlined, because an optimiser that sees how the word was made moves each byte
    /// separately.
    @inline(never)
    private static func store(
        _ word: UInt64, to room: inout MutableSpan<UInt8>, at start: Int
    ) {
        precondition(start >= 0 && start <= room.count &- 8)
        room[start] = UInt8(truncatingIfNeeded: word)
        room[start &+ 1] = UInt8(truncatingIfNeeded: word >> 8)
        room[start &+ 2] = UInt8(truncatingIfNeeded: word >> 16)
        room[start &+ 3] = UInt8(truncatingIfNeeded: word >> 24)
        room[start &+ 4] = UInt8(truncatingIfNeeded: word >> 32)
        room[start &+ 5] = UInt8(truncatingIfNeeded: word >> 40)
        room[start &+ 6] = UInt8(truncatingIfNeeded: word >> 48)
        room[start &+ 7] = UInt8(truncatingIfNeeded: word >> 56)
    }

    // MARK: Other values

    /// Appends a value.
    mutating func append(_ value: JSONScalar) {
        reserve(Self.room(for: value))
        let start = count
        var room = storage.mutableSpan
        if let end = Self.write(value, to: &room, at: start) {
            count = end
        } else {
            appendSlowly(value)
        }
    }

    /// The maximum number of bytes that `write` needs for a value.
    @inline(__always)
    private static func room(for value: JSONScalar) -> Int {
        if case .string(let text) = value { return text.utf8.count &+ 2 }
        return 32
    }

    /// Writes a value and returns its end, or nil if it needs more than a few words.
    @inline(__always)
    private static func write(
        _ value: JSONScalar, to room: inout MutableSpan<UInt8>, at start: Int
    ) -> Int? {
        switch value {
        case .null: return write(word: 0x6c6c_756e, length: 4, to: &room, at: start)
        case .bool(true): return write(word: 0x6575_7274, length: 4, to: &room, at: start)
        case .bool(false): return write(word: 0x65_736c_6166, length: 5, to: &room, at: start)
        case .signed(let value):
            return write(value.magnitude, isNegative: value < 0, to: &room, at: start)
        case .unsigned(let value): return write(value, isNegative: false, to: &room, at: start)
        case .double(let value): return write(value, to: &room, at: start)
        case .string(let text): return quote(text, to: &room, at: start)
        case .number, .tree: return nil
        }
    }

    @inline(never)
    private mutating func appendSlowly(_ value: JSONScalar) {
        switch value {
        case .double(let value): append(JSONNumber.text(of: value).utf8.span)
        case .number(let number): append(number.text.utf8.span)
        case .tree(let value): append(value.serialized().span)
        case .string(let text): appendEscaped(text)
        case .null, .bool, .signed, .unsigned: break  // always written by `write`
        }
    }

    /// Writes up to eight bytes, the lowest first.
    @inline(__always)
    private static func write(
        word: UInt64, length: Int, to room: inout MutableSpan<UInt8>, at start: Int
    ) -> Int {
        store(word, to: &room, at: start)
        return start &+ length
    }

    /// Writes an integer's digits.
    @inline(__always)
    private static func write(
        _ magnitude: UInt64, isNegative: Bool, to room: inout MutableSpan<UInt8>, at start: Int
    ) -> Int {
        var at = start
        if isNegative {
            room[at] = ASCII.minus
            at &+= 1
        }
        if magnitude >= 100 { return writeDigits(magnitude, to: &room, at: at) }
        if magnitude >= 10 {
            room[at] = ASCII.zero &+ UInt8(truncatingIfNeeded: magnitude / 10)
            at &+= 1
        }
        room[at] = ASCII.zero &+ UInt8(truncatingIfNeeded: magnitude % 10)
        return at &+ 1
    }

    @inline(never)
    private static func writeDigits(
        _ magnitude: UInt64, to room: inout MutableSpan<UInt8>, at start: Int
    ) -> Int {
        var digits = 1
        var power: UInt64 = 10
        while digits < 19, power <= magnitude {
            digits &+= 1
            power = power &* 10
        }
        if digits == 19, magnitude >= 10_000_000_000_000_000_000 { digits = 20 }
        writeLastDigits(digits, of: magnitude, to: &room, at: start)
        return start &+ digits
    }

    /// Writes the last decimal digits of a number.
    @inline(__always)
    private static func writeLastDigits(
        _ digits: Int, of magnitude: UInt64, to room: inout MutableSpan<UInt8>, at start: Int
    ) {
        var rest = magnitude
        var at = start &+ digits
        while at > start {
            at &-= 1
            room[at] = ASCII.zero &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Writes a finite value with the text of `JSONNumber.text(of:)` and returns its end, or nil if
    /// finding the shortest text needs a search.
    ///
    /// A decimal of at most 15 digits that reads back as the value is the shortest one, because no
    /// two such decimals are the same binary64. So values with up to three decimal places need no
    /// search.
    @inline(never)
    private static func write(
        _ value: Double, to room: inout MutableSpan<UInt8>, at start: Int
    ) -> Int? {
        let magnitude = value.magnitude
        guard magnitude < 1e15 - 1 else { return nil }
        let whole = Int64(magnitude)
        let isNegative = value < 0
        if Double(whole) == magnitude {
            return write(UInt64(whole), isNegative: isNegative, to: &room, at: start)
        }
        var power: Int64 = 10
        for places in 1..<4 {
            let scaled = magnitude * Double(power)
            guard scaled < 1e15 - 1 else { return nil }
            // The nearest integer. A half is rounded up, and the check below then fails.
            let digits = Int64(scaled + 0.5)
            if Double(digits) / Double(power) == magnitude {
                let point = write(UInt64(whole), isNegative: isNegative, to: &room, at: start)
                room[point] = ASCII.dot
                let rest = UInt64(digits &- whole &* power)
                writeLastDigits(places, of: rest, to: &room, at: point &+ 1)
                return point &+ 1 &+ places
            }
            power &*= 10
        }
        return nil
    }
}
