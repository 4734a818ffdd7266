import SignetBase

/// The parser's errors. They hold only an offset until `located(in:)` adds the path.
extension JSONError {
    @inline(never)
    static func tooDeep(_ limit: Int, at offset: Int) -> JSONError {
        JSONError(
            .tooDeep, "arrays and objects are nested deeper than the limit of \(limit)",
            offset: offset)
    }

    @inline(never)
    static func malformed(at offset: Int, found: String, expected: String) -> JSONError {
        JSONError(.malformedJSON, "found \(found), expected \(expected)", offset: offset)
    }

    /// Names only the kind of the byte, so that the message holds no part of a value.
    @inline(never)
    static func malformed(
        _ bytes: borrowing Span<UInt8>, at offset: Int, expected: String
    ) -> JSONError {
        let found: String
        if offset >= bytes.count {
            found = "the end of the text"
        } else {
            switch bytes[offset] {
            case ASCII.quote: found = "a quotation mark"
            case ASCII.comma, ASCII.colon, ASCII.leftBrace, ASCII.rightBrace, ASCII.leftBracket,
                ASCII.rightBracket:
                found = "\"\(Character(Unicode.Scalar(bytes[offset])))\""
            case ASCII.zero...ASCII.nine: found = "a digit"
            case 0x41...0x5a, 0x61...0x7a: found = "a letter"
            case 0x00...0x20, 0x7f: found = "a space or control character"
            case 0x80...: found = "a byte that is not ASCII"
            default: found = "a punctuation character"
            }
        }
        return .malformed(at: offset, found: found, expected: expected)
    }

    // MARK: Path

    /// Returns the error with the path to its offset. Its message begins with the path.
    ///
    /// The parser keeps no path, so this scans the valid bytes before the offset again.
    @inline(never)
    func located(in bytes: borrowing Span<UInt8>) -> JSONError {
        guard let offset else { return self }
        var path = JSONError.path(to: offset, in: bytes)
        if code == .duplicateMember, let name = JSONError.name(in: bytes, at: offset) {
            path.append(name)
        }
        return JSONError(code, message, at: path, offset: offset)
    }

    /// Returns the path to the value that is open at an offset, or that ended last before it.
    private static func path(
        to offset: Int, in bytes: borrowing Span<UInt8>
    ) -> [any CodingKey] {
        let before = bytes.extracting(..<min(offset, bytes.count))
        // The current key of each open container. An object has none before the colon: the string
        // in front of a missing colon may be a misplaced value rather than a name.
        var keys: [OpenKey] = []
        var name = 0
        var at = 0
        walk: while at < before.count {
            switch before[at] {
            case ASCII.quote:
                var isEscaped = false
                // A string that doesn't end before the offset is the one with the error.
                guard
                    let end = try? JSONScanner.stringEnd(before, from: at, isEscaped: &isEscaped)
                else {
                    break walk
                }
                name = at
                at = end
                continue
            case ASCII.leftBrace: keys.append(.none)
            case ASCII.leftBracket: keys.append(.index(0))
            case ASCII.rightBrace, ASCII.rightBracket: keys.removeLast()
            case ASCII.colon: keys[keys.count - 1] = .name(name)
            case ASCII.comma: keys[keys.count - 1].advance()
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

    /// Returns the member name whose quotation mark is at a position, unescaped.
    private static func name(
        in bytes: borrowing Span<UInt8>, at start: Int
    ) -> AnyCodingKey? {
        var isEscaped = false
        guard let end = try? JSONScanner.stringEnd(bytes, from: start, isEscaped: &isEscaped)
        else { return nil }
        var name: [UInt8] = []
        JSONScanner.unescape(bytes, in: start + 1..<end - 1, into: &name)
        return AnyCodingKey(stringValue: String(decoding: name, as: UTF8.self))
    }

    /// The key of an open container's current value.
    private enum OpenKey {
        case none
        case index(Int)
        /// The position of the member name.
        case name(Int)

        /// Moves past a comma.
        mutating func advance() {
            if case .index(let index) = self { self = .index(index + 1) } else { self = .none }
        }
    }
}
