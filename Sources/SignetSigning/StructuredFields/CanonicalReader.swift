import SignetBase

/// Parses dictionaries of RFC 9651 in canonical form, which is what serializers write. Returns nil
/// for any other form.
struct CanonicalReader {
    let text: [UInt8]
    let field: String
    private var position = 0

    init(text: [UInt8], field: String) {
        self.text = text
        self.field = field
    }

    /// Continues at a position of a canonical text.
    init(_ dictionary: StructuredDictionary, from position: Int) {
        self.init(text: dictionary.text, field: "")
        self.position = position
    }

    /// Returns all members, or nil if the text isn't canonical or has an unsupported type.
    ///
    /// - Throws: `SigningError` with `malformed-signature` for a repeated key or parameter.
    mutating func dictionary() throws(SigningError) -> [StructuredDictionary.Member]? {
        var members: [StructuredDictionary.Member] = []
        while true {
            guard let member = try member() else { return nil }
            guard !members.contains(where: { text[$0.key].elementsEqual(text[member.key]) }) else {
                throw SigningError(.malformedSignature, "\(field): found a label twice")
            }
            members.append(member)
            guard members.count <= StructuredDictionary.maximumCount else { throw tooMany }
            if position == text.count { return members }
            guard consume(ASCII.comma), consume(ASCII.space) else { return nil }
        }
    }

    private mutating func member() throws(SigningError) -> StructuredDictionary.Member? {
        guard let key = key() else { return nil }
        let start = position + 1
        guard consume(ASCII.equals) else {
            guard let parameters = try parameters() else { return nil }
            return StructuredDictionary.Member(
                key: key, value: .yes, whole: position..<position, parameters: parameters)
        }
        let found =
            position < text.count && text[position] == ASCII.leftParenthesis
            ? try innerList() : bareItem()
        guard let value = found, let parameters = try parameters() else { return nil }
        return StructuredDictionary.Member(
            key: key, value: value, whole: start..<position, parameters: parameters)
    }

    private mutating func innerList() throws(SigningError) -> StructuredDictionary.Value? {
        let start = position
        guard consume(ASCII.leftParenthesis) else { return nil }
        while !consume(ASCII.rightParenthesis) {
            guard try item(of: start) != nil else { return nil }
        }
        return .innerList(start..<position)
    }

    /// Returns the items of the inner list at the position, or nil if there isn't one.
    mutating func items() throws(SigningError) -> [StructuredDictionary.Item]? {
        var items: [StructuredDictionary.Item] = []
        let start = position
        guard consume(ASCII.leftParenthesis) else { return nil }
        while !consume(ASCII.rightParenthesis) {
            guard let item = try item(of: start) else { return nil }
            items.append(item)
        }
        return items
    }

    /// Returns the next item of the inner list that starts at a position.
    private mutating func item(of list: Int) throws(SigningError) -> StructuredDictionary.Item? {
        guard position == list + 1 || consume(ASCII.space), let value = bareItem(),
            let parameters = try parameters()
        else { return nil }
        return StructuredDictionary.Item(value: value, parameters: parameters)
    }

    private mutating func parameters() throws(SigningError) -> [StructuredDictionary.Parameter]? {
        var parameters: [StructuredDictionary.Parameter] = []
        while consume(ASCII.semicolon) {
            guard let name = key() else { return nil }
            var value = StructuredDictionary.Value.yes
            if consume(ASCII.equals) {
                guard let found = bareItem() else { return nil }
                value = found
            }
            guard !parameters.contains(where: { text[$0.name].elementsEqual(text[name]) }) else {
                throw SigningError(.malformedSignature, "\(field): found a parameter twice")
            }
            parameters.append(StructuredDictionary.Parameter(name: name, value: value))
            guard parameters.count <= StructuredDictionary.maximumCount else { throw tooMany }
        }
        return parameters
    }

    private var tooMany: SigningError {
        SigningError(
            .malformedSignature,
            "\(field): expected at most \(StructuredDictionary.maximumCount) members or parameters")
    }

    private mutating func key() -> Range<Int>? {
        let start = position
        guard position < text.count, text[position].isLowercaseLetter || text[position] == 0x2A
        else { return nil }
        skip(while: \.isKey)
        return start..<position
    }

    private mutating func bareItem() -> StructuredDictionary.Value? {
        guard position < text.count else { return nil }
        switch text[position] {
        case ASCII.quote: return string()
        case ASCII.colon: return bytes()
        case ASCII.minus, ASCII.zero...0x39: return integer()
        case ASCII.question: return boolean()
        case 0x41...0x5A, 0x61...0x7A, 0x2A: return token()
        default: return nil
        }
    }

    private mutating func string() -> StructuredDictionary.Value? {
        position += 1
        let start = position
        while position < text.count {
            let byte = text[position]
            if byte == ASCII.quote {
                position += 1
                return .string(start..<(position - 1))
            }
            guard byte >= 0x20, byte < 0x7F else { return nil }
            if byte == ASCII.backslash {
                position += 1
                guard position < text.count,
                    text[position] == ASCII.quote || text[position] == ASCII.backslash
                else { return nil }
            }
            position += 1
        }
        return nil
    }

    private mutating func bytes() -> StructuredDictionary.Value? {
        position += 1
        let start = position
        skip { $0.isLetterOrDigit || $0 == 0x2B || $0 == ASCII.slash || $0 == ASCII.equals }
        guard consume(ASCII.colon) else { return nil }
        return .bytes(start..<(position - 1))
    }

    private mutating func integer() -> StructuredDictionary.Value? {
        let isNegative = consume(ASCII.minus)
        let start = position
        var value: Int64 = 0
        while position < text.count, text[position].isDigit, position - start < 15 {
            value = value * 10 + Int64(text[position] - ASCII.zero)
            position += 1
        }
        let count = position - start
        guard count > 0, count == 1 || text[start] != ASCII.zero, !(isNegative && value == 0),
            position == text.count || !(text[position].isDigit || text[position] == ASCII.dot)
        else { return nil }
        return .integer(isNegative ? -value : value)
    }

    private mutating func boolean() -> StructuredDictionary.Value? {
        position += 1
        // True is written without a value.
        return consume(ASCII.zero) ? .other : nil
    }

    private mutating func token() -> StructuredDictionary.Value? {
        skip { $0.isToken || $0 == ASCII.colon || $0 == ASCII.slash }
        return .other
    }

    private mutating func skip(while isAllowed: (UInt8) -> Bool) {
        while position < text.count, isAllowed(text[position]) { position += 1 }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard position < text.count, text[position] == byte else { return false }
        position += 1
        return true
    }
}
