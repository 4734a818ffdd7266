import SignetBase

/// A text with placeholders: `{name}` is replaced by a value; `{{` and `}}` are braces.
///
/// A signer writes a field by a template, and a verifier reads the field back by the same template.
struct SchemeTemplate: Sendable, Hashable {
    /// A literal, or the source of a placeholder's value.
    enum Source: Sendable, Hashable {
        case literal([UInt8])
        case method, lowercaseMethod, target, path, query, host, body
        case keyID, nonce, lifetime, signature, secret
        case time(SchemeTime)
        case headerLines, headerNames
        case header([UInt8])
        /// A setting, by index.
        case setting(Int)
        /// A value that the document defines, by index.
        case value(Int)

        /// The sources whose placeholders have the same name in every document.
        static let named: [String: Source] = [
            "method": .method, "method.lower": .lowercaseMethod, "target": .target, "path": .path,
            "query": .query, "host": .host,
            "body": .body, "keyid": .keyID, "nonce": .nonce, "lifetime": .lifetime,
            "signature": .signature, "secret": .secret, "time": .time(.unix),
        ]

        var isLiteral: Bool { if case .literal = self { true } else { false } }

        /// Whether the source is the time, to the second or finer.
        var isTimeToTheSecond: Bool {
            if case .time(let format) = self { format.isWhole } else { false }
        }
    }

    /// The value of a placeholder in a text that was read.
    struct Capture {
        let source: Source
        let value: ArraySlice<UInt8>
    }

    /// The literals and placeholders in order, without adjacent literals.
    let sources: [Source]

    init(_ sources: [Source]) { self.sources = sources }

    /// Joins templates by a separator.
    init(joining templates: [SchemeTemplate], separator: [UInt8]) {
        var sources: [Source] = []
        for (index, template) in templates.enumerated() {
            let separators = index > 0 && !separator.isEmpty ? [Source.literal(separator)] : []
            for source in separators + template.sources {
                if case .literal(let bytes) = source, case .literal(let before)? = sources.last {
                    sources[sources.count - 1] = .literal(before + bytes)
                } else {
                    sources.append(source)
                }
            }
        }
        self.sources = sources
    }

    /// Parses a template.
    ///
    /// - Parameters:
    ///   - text: The template.
    ///   - source: Returns the source of a placeholder's name, or throws if the name is unknown.
    init(
        parsing text: String, source: (String) throws(SigningError) -> Source
    ) throws(SigningError) {
        var sources: [Source] = []
        var literal: [UInt8] = []
        let bytes = Array(text.utf8)
        var index = 0
        func malformed(_ found: String) -> SigningError {
            SigningError(
                .malformedScheme, "found \(found), expected {name}, or {{ and }} for braces")
        }
        while index < bytes.count {
            let byte = bytes[index]
            let isDoubled = index + 1 < bytes.count && bytes[index + 1] == byte
            switch byte {
            case 0x7B where isDoubled, 0x7D where isDoubled:
                literal.append(byte)
                index += 2
            case 0x7B:
                guard let end = bytes[index...].firstIndex(of: 0x7D) else {
                    throw malformed("{ without its }")
                }
                if !literal.isEmpty { sources.append(.literal(literal)) }
                literal = []
                sources.append(
                    try source(String(decoding: bytes[(index + 1)..<end], as: UTF8.self)))
                index = end + 1
            case 0x7D: throw malformed("} without its {")
            default:
                literal.append(byte)
                index += 1
            }
        }
        if !literal.isEmpty { sources.append(.literal(literal)) }
        self.sources = sources
    }

    /// Reads the values of the placeholders from a text. A value ends where the next literal
    /// begins, and has at least one byte.
    ///
    /// After a comma, any number of spaces matches, as in lists of HTTP fields.
    ///
    /// - Returns: The value of each placeholder, or `nil` if the text does not match.
    func match(_ text: ArraySlice<UInt8>) -> [Capture]? {
        var captures: [Capture] = []
        captures.reserveCapacity(sources.count)
        var position = text.startIndex
        for index in sources.indices {
            if case .literal(let literal) = sources[index] {
                guard let end = Self.skip(literal, in: text, at: position) else { return nil }
                position = end
                continue
            }
            var end = text.endIndex
            if index + 1 < sources.count {
                guard case .literal(let next) = sources[index + 1],
                    let start = Self.firstIndex(of: next, in: text[position...])
                else { return nil }
                end = start
            }
            guard end > position else { return nil }
            captures.append(Capture(source: sources[index], value: text[position..<end]))
            position = end
        }
        return position == text.endIndex ? captures : nil
    }

    /// Returns the first position where a literal begins, or `nil` if it does not occur.
    private static func firstIndex(of literal: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        let first = literal[0]
        let bytes = text.span
        for index in bytes.indices where bytes[index] == first {
            let position = text.startIndex + index
            if skip(literal, in: text, at: position) != nil { return position }
        }
        return nil
    }

    /// Returns the end of a literal that begins at a position, or `nil` if it does not begin there.
    private static func skip(
        _ literal: [UInt8], in text: ArraySlice<UInt8>, at start: Int
    ) -> Int? {
        let (literal, bytes) = (literal.span, text.span)
        var position = start - text.startIndex
        var index = 0
        while index < literal.count {
            let expected = literal[index]
            guard position < bytes.count, bytes[position] == expected else { return nil }
            position += 1
            index += 1
            guard expected == ASCII.comma else { continue }
            while index < literal.count, literal[index] == ASCII.space { index += 1 }
            while position < bytes.count, bytes[position] == ASCII.space { position += 1 }
        }
        return text.startIndex + position
    }
}
