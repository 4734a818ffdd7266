/// The parser's refusals: they begin with an offset alone, and their path is found when one is thrown.
extension JSONError {
    @inline(never)
    static func tooDeep(_ limit: Int, at offset: Int) -> JSONError {
        JSONError(
            code: .tooDeep, message: "arrays and objects nested deeper than \(limit)",
            offset: offset)
    }

    @inline(never)
    static func tooMany(_ limit: Int, at offset: Int) -> JSONError {
        JSONError(
            code: .tooLarge, message: "\(limit) values and member names, and there are more",
            offset: offset)
    }

    @inline(never)
    static func duplicateMember(at offset: Int) -> JSONError {
        JSONError(
            code: .duplicateMember, message: "duplicate member name",
            offset: offset)
    }

    @inline(never)
    static func malformed(at offset: Int, found: String, wanted: String) -> JSONError {
        JSONError(
            code: .malformed, message: "found \(found), wanted \(wanted)", offset: offset)
    }

    /// Names a byte by its class only, so that no piece of a value reaches the message.
    @inline(never)
    static func malformed(
        _ bytes: borrowing Span<UInt8>, _ offset: Int, wanted: String
    ) -> JSONError {
        let found: String
        if offset >= bytes.count {
            found = "the end of the text"
        } else {
            switch bytes[offset] {
            case ASCII.quote: found = "a quotation mark"
            case ASCII.comma, ASCII.colon, ASCII.openBrace, ASCII.closeBrace, ASCII.openBracket,
                ASCII.closeBracket:
                found = "\"\(Character(Unicode.Scalar(bytes[offset])))\""
            case ASCII.zero...ASCII.nine: found = "a digit"
            case 0x41...0x5a, 0x61...0x7a: found = "a letter"
            case 0x00...0x20, 0x7f: found = "a space or control character"
            case 0x80...: found = "a byte that is not ASCII"
            default: found = "a punctuation character"
            }
        }
        return .malformed(at: offset, found: found, wanted: wanted)
    }

    // MARK: Path

    /// The same refusal with the path to its place, which is told in the message too.
    ///
    /// The parser keeps no path while all is well, so the bytes before the offset, which are valid, are
    /// gone through once more.
    @inline(never)
    func located(in bytes: borrowing Span<UInt8>) -> JSONError {
        guard let offset else { return self }
        var path = JSONError.path(to: offset, in: bytes)
        if code == .duplicateMember, let name = JSONError.name(in: bytes, at: offset) {
            path.append(name)
        }
        return .at(path, offset: offset, code, message)
    }

    /// The path to the value that is open at an offset or came last before it.
    private static func path(
        to offset: Int, in bytes: borrowing Span<UInt8>
    ) -> [any CodingKey] {
        let before = bytes.extracting(..<min(offset, bytes.count))
        // Of each open container its key: of an array one that counts, of an object none until a colon
        // has come. What stands before a missing colon may be a value that was put in the wrong place.
        var keys: [OpenKey] = []
        var name = 0
        var at = 0
        walk: while at < before.count {
            switch before[at] {
            case ASCII.quote:
                var isEscaped = false
                // What does not end before the offset is the string that is refused.
                guard let end = try? JSONScanner.stringEnd(before, at, &isEscaped) else {
                    break walk
                }
                name = at
                at = end
                continue
            case ASCII.openBrace: keys.append(.none)
            case ASCII.openBracket: keys.append(.index(0))
            case ASCII.closeBrace, ASCII.closeBracket: keys.removeLast()
            case ASCII.colon: keys[keys.count - 1] = .name(name)
            case ASCII.comma: keys[keys.count - 1].goOn()
            default: break
            }
            at += 1
        }
        var path: [any CodingKey] = []
        for key in keys.prefix(shownKeys + 1) {
            switch key {
            case .none: break
            case .index(let index): path.append(AnyCodingKey(intValue: index))
            case .name(let start): if let key = self.name(in: bytes, at: start) { path.append(key) }
            }
        }
        return path
    }

    /// The member name whose quotation mark is at a position, its escapes undone.
    private static func name(
        in bytes: borrowing Span<UInt8>, at start: Int
    ) -> AnyCodingKey? {
        var isEscaped = false
        guard let end = try? JSONScanner.stringEnd(bytes, start, &isEscaped) else { return nil }
        var name: [UInt8] = []
        JSONScanner.unescape(bytes, start + 1..<end - 1, into: &name)
        return AnyCodingKey(stringValue: String(decoding: name, as: UTF8.self))
    }

    /// Where in an open container its last value stands.
    private enum OpenKey {
        case none
        case index(Int)
        /// Where the member name begins.
        case name(Int)

        /// Goes behind a comma.
        mutating func goOn() {
            if case .index(let index) = self { self = .index(index + 1) } else { self = .none }
        }
    }
}
