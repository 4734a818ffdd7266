import RawStructuredFieldValues
import SignetBase
import SignetCrypto

/// A Dictionary of RFC 9651 without repeated keys or parameters.
///
/// In RFC 9651 the last of two equal keys wins, so two readers of Signature-Input could use
/// different ones; here both are refused. Canonical text, which is what serializers write, is
/// parsed in one pass. Any other text is first converted with swift-http-structured-headers.
struct StructuredDictionary: Sendable {
    /// The largest number of members, and of parameters of a member or an item. The search for
    /// repetitions takes quadratic time.
    static let maximumCount = 128
    /// The largest number of parameters of a member and of the items in its inner list together.
    private static let maximumParameters = 1024

    /// The text in canonical form (RFC 9651, section 4.1.2).
    let text: [UInt8]
    let members: [Member]

    struct Member: Sendable {
        let key: Range<Int>
        let value: Value
        /// The value with its parameters.
        let whole: Range<Int>
        let parameters: [Parameter]
    }

    enum Value: Sendable {
        /// An inner list with its parentheses.
        case innerList(Range<Int>)
        /// Base64 between its colons.
        case bytes(Range<Int>)
        case integer(Int64)
        /// The text between the quotes, with its escapes.
        case string(Range<Int>)
        /// The boolean true, which is written without a value.
        case yes
        /// The boolean false or a token.
        case other
    }

    /// One item of an inner list.
    struct Item: Sendable {
        let value: Value
        let parameters: [Parameter]
    }

    struct Parameter: Sendable {
        let name: Range<Int>
        let value: Value
    }

    /// Parses a combined field value.
    ///
    /// - Throws: `SigningError` with `malformed-signature`; callers may replace the code.
    init(parsing text: [UInt8], field: String) throws(SigningError) {
        var reader = CanonicalReader(text: text, field: field)
        if let members = try reader.dictionary() {
            self.text = text
            self.members = members
            return
        }
        let canonical = try Self.canonical(text, field: field)
        reader = CanonicalReader(text: canonical, field: field)
        guard let members = try reader.dictionary() else {
            throw SigningError(.malformedSignature, "\(field): found a value of an unknown type")
        }
        self.text = canonical
        self.members = members
    }

    /// Returns the items of the inner list in a range.
    ///
    /// - Throws: `SigningError` with `malformed-signature` if it isn't an inner list.
    func items(of list: Range<Int>) throws(SigningError) -> [Item] {
        var reader = CanonicalReader(self, from: list.lowerBound)
        guard let items = try reader.items() else {
            throw SigningError(.malformedSignature, "expected an inner list of RFC 9651")
        }
        return items
    }

    subscript(range: Range<Int>) -> ArraySlice<UInt8> { text[range] }

    /// Returns the member with a key.
    func member(_ key: [UInt8]) -> Member? { members.first { matches($0.key, bytes: key) } }

    /// Whether the bytes in a range are equal to others.
    func matches(_ range: Range<Int>, bytes: [UInt8]) -> Bool {
        constantTimeEqual(text.span.extracting(range), bytes.span)
    }

    /// Decodes base64 in a range. Returns nil if it isn't canonical.
    func decoded(_ range: Range<Int>) -> [UInt8]? {
        Base64.decode(text.span.extracting(range), from: .standard)
    }

    /// Returns the text of a string without its escapes.
    func string(_ range: Range<Int>) -> String {
        let bytes = text[range]
        guard bytes.contains(ASCII.backslash) else { return String(decoding: bytes, as: UTF8.self) }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            isEscaped = byte == ASCII.backslash && !isEscaped
            if !isEscaped { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension StructuredDictionary {
    /// Converts each member on its own with the library, so that none can hide another.
    private static func canonical(_ text: [UInt8], field: String) throws(SigningError) -> [UInt8] {
        var result: [UInt8] = []
        let members = try members(of: text, field: field)
        guard members.count <= maximumCount,
            members.allSatisfy({ $0.parameters <= maximumParameters })
        else {
            throw SigningError(
                .malformedSignature,
                "\(field): expected at most \(maximumCount) members and "
                    + "\(maximumParameters) parameters each")
        }
        for member in members {
            if !result.isEmpty { result.append(contentsOf: [ASCII.comma, ASCII.space]) }
            do {
                var parser = StructuredFieldValueParser(member.text)
                let parsed = try parser.parseDictionaryFieldValue()
                guard parsed.count == 1, parameterCount(parsed) == member.parameters else {
                    throw SigningError(.malformedSignature, "\(field): found a parameter twice")
                }
                var serializer = StructuredFieldValueSerializer()
                result.append(contentsOf: try serializer.writeDictionaryFieldValue(parsed))
            } catch let error as SigningError {
                throw error
            } catch {
                throw SigningError(
                    .malformedSignature, "\(field): expected a dictionary of RFC 9651 (\(error))")
            }
        }
        return result
    }

    private static func parameterCount(_ map: OrderedMap<String, ItemOrInnerList>) -> Int {
        map.reduce(0) { count, member in
            switch member.1 {
            case .item(let item): count + item.rfc9651Parameters.count
            case .innerList(let list):
                list.bareInnerList.reduce(count + list.rfc9651Parameters.count) {
                    $0 + $1.rfc9651Parameters.count
                }
            }
        }
    }

    /// Splits the text at top-level commas, and counts the semicolons outside strings of each part.
    private static func members(
        of text: [UInt8], field: String
    ) throws(SigningError) -> [(text: [UInt8], parameters: Int)] {
        var members: [(text: [UInt8], parameters: Int)] = [([], 0)]
        var isQuoted = false
        var isEscaped = false
        for byte in text {
            if isQuoted {
                isQuoted = byte != ASCII.quote || isEscaped
                isEscaped = byte == ASCII.backslash && !isEscaped
            } else if byte == ASCII.comma {
                members.append(([], 0))
                continue
            } else if byte == ASCII.quote {
                // Display strings have other escapes, and no member may be one.
                guard members[members.count - 1].text.last != 0x25 else {
                    throw SigningError(.malformedSignature, "\(field): found a display string")
                }
                isQuoted = true
                isEscaped = false
            } else if byte == ASCII.semicolon {
                members[members.count - 1].parameters += 1
            }
            members[members.count - 1].text.append(byte)
        }
        for index in members.indices {
            let trimmed = members[index].text.trimmingWhiteSpace()
            guard !trimmed.isEmpty else {
                throw SigningError(.malformedSignature, "\(field): found an empty member")
            }
            members[index].text = trimmed
        }
        return members
    }
}
