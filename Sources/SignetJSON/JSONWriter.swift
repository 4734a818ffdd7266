/// The layout of a JSON text.
public struct JSONStyle: Sendable, Hashable {
    enum Value { case compact, pretty, canonical }

    let value: Value

    /// No white space, numbers by their text, only the required escapes.
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
        guard !writer.sawNotFinite else {
            throw JSONError(.notFinite, "a number beyond binary64 has no canonical form (RFC 8785)")
        }
        guard !Self.holdsNoncharacter(writer.bytes.span) else {
            throw JSONError(
                .refused, "a string with a noncharacter has no canonical form (RFC 8785, RFC 7493)")
        }
        return writer.bytes
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
    private(set) var bytes: [UInt8] = []
    private(set) var sawNotFinite = false
    private let style: JSONStyle.Value
    private var level = 0

    init(_ style: JSONStyle) { self.style = style.value }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): write(number)
        case .string(let text): write(text)
        case .array(let values):
            writeItems(values.count, from: ASCII.openBracket, to: ASCII.closeBracket) {
                writer, index in
                writer.write(values[index])
            }
        case .object(let object):
            let order = style == .canonical ? Self.canonicalOrder(object) : nil
            writeItems(object.count, from: ASCII.openBrace, to: ASCII.closeBrace) {
                writer, index in
                let member = object[order?[index] ?? index]
                writer.write(member.name)
                writer.bytes.append(ASCII.colon)
                if writer.style == .pretty { writer.bytes.append(ASCII.space) }
                writer.write(member.value)
            }
        }
    }

    private mutating func writeItems(
        _ count: Int, from opening: UInt8, to closing: UInt8,
        with item: (inout JSONWriter, Int) -> Void
    ) {
        bytes.append(opening)
        if count > 0 {
            level += 1
            for index in 0..<count {
                if index > 0 { bytes.append(ASCII.comma) }
                newLine()
                item(&self, index)
            }
            level -= 1
            newLine()
        }
        bytes.append(closing)
    }

    private mutating func newLine() {
        guard style == .pretty else { return }
        bytes.append(ASCII.lineFeed)
        bytes.append(contentsOf: repeatElement(ASCII.space, count: 2 * level))
    }

    private mutating func write(_ number: JSONNumber) {
        guard style == .canonical else {
            bytes.append(contentsOf: number.text.utf8)
            return
        }
        guard let value = number.double else {
            sawNotFinite = true
            bytes.append(contentsOf: number.text.utf8)
            return
        }
        bytes.append(contentsOf: JSONNumber.text(of: value).utf8)
    }

    /// Writes a string with the escapes of RFC 8785, section 3.2.2.2: the short ones, `\u00xx` for
    /// the other control characters, and no others.
    mutating func write(_ text: String) { Self.append(text, to: &bytes) }

    /// Appends a string with quotation marks, and returns whether it has escapes.
    @discardableResult
    static func append(_ text: String, to bytes: inout [UInt8]) -> Bool {
        bytes.append(ASCII.quote)
        let isPlain = isPlain(text.utf8.span)
        if isPlain {
            bytes.append(contentsOf: text.utf8)
        } else {
            for byte in text.utf8 { appendEscaped(byte, to: &bytes) }
        }
        bytes.append(ASCII.quote)
        return !isPlain
    }

    /// Whether no byte needs an escape.
    private static func isPlain(_ text: borrowing Span<UInt8>) -> Bool {
        var at = 0
        while at < text.count {
            if let word = word(text, at: at) {
                let special = specialBytes(word)
                at &+= special == 0 ? 8 : special.trailingZeroBitCount &>> 3
                if special == 0 { continue }
            }
            let byte = text[at]
            guard byte >= 0x20, byte != ASCII.quote, byte != ASCII.backslash else { return false }
            at &+= 1
        }
        return true
    }

    static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case ASCII.quote, ASCII.backslash: bytes += [ASCII.backslash, byte]
        case ASCII.backspace: bytes += [ASCII.backslash, 0x62]
        case ASCII.tab: bytes += [ASCII.backslash, 0x74]
        case ASCII.lineFeed: bytes += [ASCII.backslash, 0x6e]
        case ASCII.formFeed: bytes += [ASCII.backslash, 0x66]
        case ASCII.carriageReturn: bytes += [ASCII.backslash, 0x72]
        case 0..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(ASCII.hexDigit(byte >> 4))
            bytes.append(ASCII.hexDigit(byte & 15))
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
