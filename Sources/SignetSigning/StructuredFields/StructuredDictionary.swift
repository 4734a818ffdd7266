internal import RawStructuredFieldValues
internal import SignetCrypto

/// A Dictionary of RFC 9651 in which no key and no parameter comes twice.
///
/// RFC 9651 lets the last of two equal keys win, so that two readers of Signature-Input could each
/// believe another one; here both are refused. What serialisers write is read in one pass over its
/// bytes. Any other spelling is first brought to that one by swift-http-structured-headers.
struct StructuredDictionary: Sendable {
    /// The most members, and the most parameters of a member or an item, that are read: looking for
    /// the same name twice takes time that grows with their square.
    static let maximumCount = 128

    /// The text in the spelling of RFC 9651, section 4.1.2.
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
        /// What stands between the quotes, escapes kept.
        case string(Range<Int>)
        /// The boolean true, which is written by leaving the value out.
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

    /// Reads a combined field value.
    ///
    /// - Throws: `SigningError` with `malformed-signature`, which the caller may rename.
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
            throw SigningError(.malformedSignature, "\(field) holds a value of an unknown type")
        }
        self.text = canonical
        self.members = members
    }

    /// The items of an inner list that stands in a range.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where it is none.
    func items(of list: Range<Int>) throws(SigningError) -> [Item] {
        var reader = CanonicalReader(self, from: list.lowerBound)
        guard let items = try reader.items() else {
            throw SigningError(.malformedSignature, "no inner list of RFC 9651")
        }
        return items
    }

    subscript(range: Range<Int>) -> ArraySlice<UInt8> { text[range] }

    /// The member of a key.
    func member(_ key: [UInt8]) -> Member? {
        for member in members where matches(member.key, bytes: key) { return member }
        return nil
    }

    /// Whether the bytes in a range are those given; on the way of every message.
    func matches(_ range: Range<Int>, bytes: [UInt8]) -> Bool {
        guard range.count == bytes.count else { return false }
        for offset in 0..<bytes.count where text[range.lowerBound + offset] != bytes[offset] {
            return false
        }
        return true
    }

    /// The same for longer bytes.
    func isSame(_ range: Range<Int>, as bytes: [UInt8]) -> Bool {
        range.count == bytes.count
            && constantTimeEqual(text.span.extracting(range), bytes.span)
    }

    /// What base64 in a range stands for, or nil where it is not canonical.
    func decoded(_ range: Range<Int>) -> [UInt8]? {
        Base64.decode(text.span.extracting(range), .standard)
    }

    /// The text of a string, its escapes resolved.
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
    /// Reads each member alone with the library, which then cannot let one hide another.
    private static func canonical(_ text: [UInt8], field: String) throws(SigningError) -> [UInt8] {
        var result: [UInt8] = []
        let members = try members(of: text, field: field)
        guard members.count <= maximumCount,
            members.allSatisfy({ $0.parameters <= ComponentIdentifier.maximumCount * 4 })
        else {
            throw SigningError(.malformedSignature, "\(field) holds too many members or parameters")
        }
        for member in members {
            if !result.isEmpty { result.append(contentsOf: [ASCII.comma, ASCII.space]) }
            do {
                var parser = StructuredFieldValueParser(member.text)
                let parsed = try parser.parseDictionaryFieldValue()
                guard parsed.count == 1, parameterCount(parsed) == member.parameters else {
                    throw SigningError(.malformedSignature, "\(field) holds a parameter twice")
                }
                var serializer = StructuredFieldValueSerializer()
                result.append(contentsOf: try serializer.writeDictionaryFieldValue(parsed))
            } catch let error as SigningError {
                throw error
            } catch {
                throw SigningError(
                    .malformedSignature, "\(field) is no dictionary of RFC 9651 (\(error))")
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

    /// The parts between top-level commas, each with the number of its semicolons outside strings.
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
                // A display string has other escapes; nothing that is read here may be one.
                guard members[members.count - 1].text.last != 0x25 else {
                    throw SigningError(.malformedSignature, "\(field) holds a display string")
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
                throw SigningError(.malformedSignature, "\(field) has an empty member")
            }
            members[index].text = trimmed
        }
        return members
    }
}
