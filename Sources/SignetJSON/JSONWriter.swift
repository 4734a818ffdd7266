import SignetBase

/// The layout of a JSON text.
public struct JSONStyle: Sendable, Hashable {
    enum Value { case compact, pretty, canonical }

    let value: Value

    /// No white space, numbers as written, only the required escapes.
    public static let compact = JSONStyle(value: .compact)
    /// One member or element per line, indented by two spaces per level.
    public static let pretty = JSONStyle(value: .pretty)
    /// The canonical form of RFC 8785.
    ///
    /// Members are in the order of their names' UTF-16 code units; numbers have the form in which
    /// ECMAScript writes the nearest binary64 value. A number beyond binary64 keeps its text, which
    /// is not canonical; `JSONValue.canonicalized()` refuses it.
    public static let canonical = JSONStyle(value: .canonical)
}

extension JSONValue {
    /// Returns the canonical form (RFC 8785) of an I-JSON value (RFC 7493).
    ///
    /// ```swift
    /// let value = try JSONValue(parsing: #"{"b": 1.50, "a": [true, 1e3]}"#)
    /// let toSign = try value.canonicalized()  // {"a":[true,1000],"b":1.5}
    /// ```
    ///
    /// Rounds numbers to binary64, as the RFC requires: `9007199254740993` becomes
    /// `9007199254740992`.
    ///
    /// - Throws: `JSONError` with `not-finite` if a number has no finite binary64 value, or
    ///   `refused` if a name or string holds a noncharacter (RFC 7493, section 2.1).
    public func canonicalized() throws(JSONError) -> [UInt8] {
        var writer = JSONWriter(.canonical)
        writer.write(self)
        let bytes = writer.finish()
        guard !writer.sawNotFinite else {
            throw JSONError(.notFinite, "a number beyond binary64 has no canonical form (RFC 8785)")
        }
        guard !Self.holdsNoncharacter(bytes.span) else {
            throw JSONError(
                .refusedByType,
                "a string with a noncharacter has no canonical form (RFC 8785, RFC 7493)")
        }
        return bytes
    }

    /// Whether valid UTF-8 holds a noncharacter: U+FDD0 to U+FDEF, or one that ends in FFFE or
    /// FFFF.
    private static func holdsNoncharacter(_ bytes: borrowing Span<UInt8>) -> Bool {
        var at = 2
        while at < bytes.count {
            let (first, second, third) = (bytes[at - 2], bytes[at - 1], bytes[at])
            at &+= 1
            if first == 0xef, second == 0xb7, (0x90...0xaf).contains(third) { return true }
            // U+xFFFE and U+xFFFF end in these two bytes, after a byte with bits 12 to 15, all set.
            guard second == 0xbf, third == 0xbe || third == 0xbf else { continue }
            if first == 0xef || at >= 4 && bytes[at - 4] >= 0xf0 && first & 0x0f == 0x0f {
                return true
            }
        }
        return false
    }
}

/// Writes values to a buffer, one after another.
struct JSONWriter {
    private var text = UTF8Buffer(capacity: 64)
    private(set) var sawNotFinite = false
    private let style: JSONStyle.Value
    private var level = 0

    init(_ style: JSONStyle) { self.style = style.value }

    mutating func finish() -> [UInt8] { text.finish() }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: text.append(.null)
        case .bool(let value): text.append(.bool(value))
        case .number(let number): write(number)
        case .string(let value): text.append(value)
        case .array(let values):
            writeItems(values.count, from: ASCII.leftBracket, to: ASCII.rightBracket) {
                writer, index in
                writer.write(values[index])
            }
        case .object(let object):
            let order = style == .canonical ? Self.canonicalOrder(object) : nil
            writeItems(object.count, from: ASCII.leftBrace, to: ASCII.rightBrace) {
                writer, index in
                let member = object[order?[index] ?? index]
                writer.text.append(member.name)
                writer.text.append(ASCII.colon)
                if writer.style == .pretty { writer.text.append(ASCII.space) }
                writer.write(member.value)
            }
        }
    }

    private mutating func writeItems(
        _ count: Int, from opening: UInt8, to closing: UInt8,
        with item: (inout JSONWriter, Int) -> Void
    ) {
        text.append(opening)
        if count > 0 {
            level += 1
            for index in 0..<count {
                if index > 0 { text.append(ASCII.comma) }
                newLine()
                item(&self, index)
            }
            level -= 1
            newLine()
        }
        text.append(closing)
    }

    private mutating func newLine() {
        guard style == .pretty else { return }
        text.append(ASCII.lineFeed)
        for _ in 0..<2 * level { text.append(ASCII.space) }
    }

    private mutating func write(_ number: JSONNumber) {
        guard style == .canonical else { return text.append(.number(number)) }
        if let value = number.double { return text.append(.double(value)) }
        sawNotFinite = true
        text.append(.number(number))
    }

    /// Appends a byte of a string with the escapes of RFC 8785, section 3.2.2.2: the short ones,
    /// `\u00xx` for the other control characters, and no others.
    static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case ASCII.quote, ASCII.backslash: bytes += [ASCII.backslash, byte]
        case ASCII.backspace: bytes += [ASCII.backslash, 0x62]
        case ASCII.tab: bytes += [ASCII.backslash, 0x74]
        case ASCII.lineFeed: bytes += [ASCII.backslash, 0x6e]
        case ASCII.formFeed: bytes += [ASCII.backslash, 0x66]
        case ASCII.carriageReturn: bytes += [ASCII.backslash, 0x72]
        case 0..<0x20:
            bytes += (byte < 0x10 ? "\\u000" : "\\u00").utf8
            bytes += String(byte, radix: 16).utf8
        default: bytes.append(byte)
        }
    }

    private static func canonicalOrder(_ object: JSONObject) -> [Int] {
        let names = object.memberNames
        return names.indices.sorted {
            names[$0].utf16.lexicographicallyPrecedes(names[$1].utf16)
        }
    }
}
