import SignetBase

/// An object's members by key.
///
/// It has no mutable state, so that the standard library's box is the only allocation: the document
/// holds the position of the next search.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let document: JSONDocument
    private let object: Int

    init(_ document: JSONDocument, at index: Int) throws(JSONError) {
        guard document.kind(at: index) == .object else {
            throw document.mismatch("an object", at: index)
        }
        self.document = document
        self.object = index
    }

    /// The name of a key's member.
    @inline(__always)
    private func name(of key: Key) -> String {
        document.conventions.keys.memberName(of: key)
    }

    var codingPath: [any CodingKey] { document.path(to: object) }
    var allKeys: [Key] {
        let names = document.memberNames(of: object)
        guard document.conventions.keys.renames(Key.self) else {
            return names.compactMap { Key(stringValue: $0) }
        }
        return names.compactMap { member in
            // Keep only a key whose member name is this one.
            SnakeCase.propertyNames(of: member).lazy
                .filter { sameBytes(SnakeCase.memberName(of: $0), member) }
                .compactMap { Key(stringValue: $0) }.first
        }
    }

    func contains(_ key: Key) -> Bool { document.find(name(of: key), in: object) != nil }
    func decodeNil(forKey key: Key) throws -> Bool {
        let name = name(of: key)
        guard let node = document.find(name, in: object) else {
            throw document.missing(name, in: object)
        }
        return document.isNull(at: node)
    }

    // MARK: Required members

    /// Returns the node of a member's value.
    @inline(__always)
    private func node(of key: Key) throws(JSONError) -> Int {
        try document.member(name(of: key), of: object)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try document.bool(at: node(of: key))
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try document.string(at: node(of: key))
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try document.double(at: node(of: key))
    }
    @inline(__always)
    func decode<Integer: FixedWidthInteger & Decodable>(
        _ type: Integer.Type, forKey key: Key
    ) throws -> Integer {
        try document.integer(type, at: node(of: key))
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try document.value(type, at: node(of: key))
    }

    // MARK: Optional members, with one search instead of the default implementation's three

    /// Decodes a member's value, or returns nil if it is missing or null.
    @inline(__always)
    private func ifPresent<Value>(
        _ key: Key, decode: (_ document: JSONDocument, _ index: Int) throws -> Value
    ) throws -> Value? {
        guard let node = document.presentMember(name(of: key), of: object) else { return nil }
        return try decode(document, node)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try ifPresent(key) { try $0.bool(at: $1) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try ifPresent(key) { try $0.string(at: $1) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try ifPresent(key) { try $0.double(at: $1) }
    }
    @inline(__always)
    func decodeIfPresent<Integer: FixedWidthInteger & Decodable>(
        _ type: Integer.Type, forKey key: Key
    ) throws -> Integer? {
        try ifPresent(key) { try $0.integer(type, at: $1) }
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try ifPresent(key) { try $0.value(type, at: $1) }
    }

    // MARK: Nested containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        ValueDecoder(document: document, index: try document.member("super", of: object))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ValueDecoder(document: document, index: try node(of: key))
    }
}
