import RawStructuredFieldValues
import SignetBase
import SignetCrypto

/// The strict serialization of a structured field of any type (RFC 9421, sections 2.1.1 and 2.1.2).
///
/// Uses swift-http-structured-headers and adds two things: base64 is decoded and encoded again (RFC
/// 9651, section 4.2.7), and the number of members, parameters and items is limited, because the
/// library searches its maps linearly.
struct StructuredField {
    private static let maximumCount = 1024

    /// Returns the strict serialization of a whole field.
    ///
    /// - Throws: `SigningError` with `malformed-field`.
    static func serialize(
        _ text: [UInt8], as type: StructuredFieldType, field: String
    ) throws(SigningError) -> [UInt8] {
        try requireFewMembers(in: text, field: field)
        do {
            var parser = StructuredFieldValueParser(text)
            var serializer = StructuredFieldValueSerializer()
            switch type {
            case .dictionary:
                var dictionary = try parser.parseDictionaryFieldValue()
                for index in dictionary.indices {
                    dictionary[index].1 = try canonical(dictionary[index].1)
                }
                return try serializer.writeDictionaryFieldValue(dictionary)
            case .list:
                let list = try parser.parseListFieldValue().map { try canonical($0) }
                return try serializer.writeListFieldValue(list)
            case .item:
                return try serializer.writeItemFieldValue(
                    canonical(try parser.parseItemFieldValue()))
            }
        } catch {
            throw malformed(field: field, "expected a \(type.rawValue) of RFC 9651")
        }
    }

    /// The members of a dictionary field.
    struct Members {
        private let members: OrderedMap<String, ItemOrInnerList>
        private let field: String

        /// - Throws: `SigningError` with `malformed-field`.
        init(parsing text: [UInt8], field: String) throws(SigningError) {
            self.field = field
            try requireFewMembers(in: text, field: field)
            do {
                var parser = StructuredFieldValueParser(text)
                self.members = try parser.parseDictionaryFieldValue()
            } catch {
                throw malformed(field: field, "expected a dictionary of RFC 9651")
            }
        }

        /// Returns the strict serialization of a member's value with its parameters.
        ///
        /// - Throws: `SigningError` with `missing-component` if the member is missing, and with
        ///   `malformed-field`.
        func serialize(_ key: String) throws(SigningError) -> [UInt8] {
            guard let member = members[key] else {
                throw SigningError(.missingComponent, "the field \(field) has no member \(key)")
            }
            do {
                // A list of one member is written as that member, true as ?1.
                var serializer = StructuredFieldValueSerializer()
                return try serializer.writeListFieldValue([canonical(member)])
            } catch {
                throw malformed(field: field, "found a member that RFC 9651 doesn't allow")
            }
        }
    }

    private static func requireFewMembers(in text: [UInt8], field: String) throws(SigningError) {
        let count = text.count { $0 == ASCII.comma || $0 == ASCII.semicolon }
        guard count <= maximumCount else {
            throw malformed(field: field, "expected at most \(maximumCount) members and parameters")
        }
    }

    private static func malformed(field: String, _ problem: String) -> SigningError {
        SigningError(.malformedField, "the value of \(field): \(problem)")
    }

    private static func canonical(_ member: ItemOrInnerList) throws -> ItemOrInnerList {
        switch member {
        case .item(let item): return .item(try canonical(item))
        case .innerList(var list):
            for index in list.bareInnerList.indices {
                list.bareInnerList[index] = try canonical(list.bareInnerList[index])
            }
            list.rfc9651Parameters = try canonical(list.rfc9651Parameters)
            return .innerList(list)
        }
    }

    private static func canonical(_ item: Item) throws -> Item {
        Item(
            bareItem: try canonical(item.rfc9651BareItem),
            parameters: try canonical(item.rfc9651Parameters))
    }

    private static func canonical(
        _ parameters: OrderedMap<String, RFC9651BareItem>
    ) throws -> OrderedMap<String, RFC9651BareItem> {
        var result = parameters
        for index in result.indices { result[index].1 = try canonical(result[index].1) }
        return result
    }

    /// Adds missing padding to base64: parsers accept it without, but serializers must write it.
    private static func canonical(_ value: RFC9651BareItem) throws -> RFC9651BareItem {
        guard case .undecodedByteSequence(let text) = value else { return value }
        var padded = Array(text.utf8)
        if padded.last != ASCII.equals {
            padded += [UInt8](repeating: ASCII.equals, count: (4 - padded.count % 4) % 4)
        }
        guard let bytes = Base64.decode(padded, from: .standard) else {
            throw SigningError(.malformedField, "expected base64")
        }
        return .undecodedByteSequence(Base64.encode(bytes, as: .standard))
    }
}
