/// Bytes that grow at their end.
///
/// Each function makes room once and then writes words: one look at the array's owner and capacity for a
/// whole member instead of one for each byte.
struct TextBuffer {
    /// What is written, and behind `count` room.
    private var storage: [UInt8]
    private(set) var count = 0

    init() { storage = [UInt8](repeating: 0, count: 1 << 10) }

    /// Adds a member name that is written here, or gives false where the object already holds it.
    @inline(__always)
    func isNewName(
        from start: Int, to end: Int, isEscaped: Bool, in names: inout MemberNames,
        _ scope: inout MemberNames.Scope
    ) -> Bool {
        names.insert(storage.span, from: start, to: end, isEscaped: isEscaped, in: &scope)
    }

    /// What is written, when nothing more comes.
    mutating func taken() -> [UInt8] {
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
        storage.append(contentsOf: repeatElement(0, count: max(storage.count, more)))
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        storage[count] = byte
        count &+= 1
    }

    mutating func append(_ bytes: [UInt8]) {
        reserve(bytes.count)
        for byte in bytes {
            storage[count] = byte
            count += 1
        }
    }

    /// Appends the comma before a member that is not the first, and the member's name.
    ///
    /// - Returns: Whether the name holds an escape.
    @inline(__always)
    mutating func appendName(_ name: String, isFirst: Bool) -> Bool {
        if !isFirst { append(ASCII.comma) }
        return append(name)
    }

    /// Appends a name that stands in the text before, with its quotation marks and colon.
    @inline(__always)
    mutating func appendName(from start: Int, length: Int, isFirst: Bool) {
        reserve(length &+ 9)
        if !isFirst { append(ASCII.comma) }
        Self.copy(from: start, length: length, to: count, in: &storage)
        count &+= length
    }

    /// Copies whole words, the last of which may reach beyond what counts.
    @inline(__always)
    private static func copy(from start: Int, length: Int, to end: Int, in storage: inout [UInt8]) {
        var room = storage.mutableSpan
        var offset = 0
        while offset < length {
            guard let word = word(room.span, at: start &+ offset) else { return }
            store(word, to: &room, at: end &+ offset)
            offset &+= 8
        }
    }

    /// Whether a piece of the text has only ASCII.
    func isASCII(_ start: Int, _ end: Int) -> Bool {
        storage[start..<end].allSatisfy { $0 < 0x80 }
    }

    /// Appends a string with its quotation marks.
    ///
    /// - Returns: Whether it holds an escape.
    @discardableResult
    mutating func append(_ text: String) -> Bool {
        let source = text.utf8Span.span
        let length = source.count
        reserve(length &+ 2)
        let start = count
        guard Self.quote(source, in: &storage, at: start) else {
            var escaped: [UInt8] = []
            JSONWriter.append(text, to: &escaped)
            append(escaped)
            return true
        }
        count = start &+ length &+ 2
        return false
    }

    /// Copies a text with quotation marks, or gives false where a byte of it must be escaped.
    @inline(__always)
    private static func quote(
        _ source: borrowing Span<UInt8>, in storage: inout [UInt8], at start: Int
    ) -> Bool {
        var room = storage.mutableSpan
        room[start] = ASCII.quote
        room[start &+ 1 &+ source.count] = ASCII.quote
        return copy(source, to: &room, at: start &+ 1)
    }

    /// Copies a text, or gives false where a byte of it must be escaped.
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

    /// Writes eight bytes, the lowest first; the optimiser makes one store of it.
    @inline(__always)
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

    /// Whether one of eight bytes is a quotation mark, a backslash or a control character.
    @inline(__always)
    private static func mustEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* UInt64(ASCII.quote))
        let backslashes = word ^ (ones &* UInt64(ASCII.backslash))
        let found =
            (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes
            | (backslashes &- ones) & ~backslashes
        return found & (ones &* 0x80) != 0
    }

    /// Appends an integer's digits.
    mutating func append(_ magnitude: UInt64, isNegative: Bool) {
        reserve(20)
        if isNegative { append(ASCII.minus) }
        if magnitude < 10 {
            append(ASCII.zero &+ UInt8(truncatingIfNeeded: magnitude))
            return
        }
        var digits = 1
        var power: UInt64 = 10
        while digits < 19, power <= magnitude {
            digits &+= 1
            power = power &* 10
        }
        if digits == 19, magnitude >= 10_000_000_000_000_000_000 { digits = 20 }
        var rest = magnitude
        var at = count &+ digits
        while at > count {
            at &-= 1
            storage[at] = ASCII.zero &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= digits
    }

    /// Appends a finite value's text as `JSONNumber.text(of:)` gives it.
    ///
    /// A decimal of at most 15 digits that reads back as the value is the shortest there is, because no
    /// two such decimals are one binary64; so a few places behind the point need no search.
    mutating func append(_ value: Double) {
        let magnitude = value.magnitude
        if magnitude == 0 { return append(ASCII.zero) }
        var power = 1.0
        var places = 0
        while places < 4, magnitude * power < 1e15 - 1 {
            // The nearest integer, or at a half the one above, which is then not the value.
            let digits = UInt64(magnitude * power + 0.5)
            if Double(digits) / power == magnitude {
                appendDecimal(digits, places, isNegative: value < 0)
                return
            }
            power *= 10
            places &+= 1
        }
        append(Array(JSONNumber.text(of: value).utf8))
    }

    /// Appends digits with a point before the last `places` of them, and a zero before the point.
    private mutating func appendDecimal(_ digits: UInt64, _ places: Int, isNegative: Bool) {
        guard places > 0 else { return append(digits, isNegative: isNegative) }
        reserve(24)
        if isNegative { append(ASCII.minus) }
        var whole = digits
        var divisor: UInt64 = 1
        for _ in 0..<places {
            whole /= 10
            divisor &*= 10
        }
        append(whole, isNegative: false)
        append(ASCII.point)
        var rest = digits &- whole &* divisor
        var at = count &+ places
        while at > count {
            at &-= 1
            storage[at] = ASCII.zero &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= places
    }

    /// Appends any other value.
    mutating func append(_ value: JSONScalar) {
        switch value {
        case .null: append(word: 0x6c6c_756e, length: 4)
        case .bool(true): append(word: 0x6575_7274, length: 4)
        case .bool(false): append(word: 0x65_736c_6166, length: 5)
        case .signed(let value): append(value.magnitude, isNegative: value < 0)
        case .unsigned(let value): append(value, isNegative: false)
        case .double(let value): append(value)
        case .number(let number): append(Array(number.text.utf8))
        case .string(let text): append(text)
        case .tree(let value): append(value.serialized())
        }
    }

    /// Appends up to eight bytes, the lowest first.
    private mutating func append(word: UInt64, length: Int) {
        reserve(8)
        let start = count
        Self.store(word, in: &storage, at: start)
        count = start &+ length
    }

    @inline(__always)
    private static func store(_ word: UInt64, in storage: inout [UInt8], at start: Int) {
        var room = storage.mutableSpan
        store(word, to: &room, at: start)
    }
}
