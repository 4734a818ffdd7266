/// An object's members, as a type encodes them.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let tree: EncodedTree
    let node: Int

    var codingPath: [any CodingKey] { tree.path(to: node) }

    private func member(_ key: some CodingKey) -> Int { tree.member(key.stringValue, of: node) }
    private func set(_ key: Key, _ value: JSONValue) {
        tree.setMember(key.stringValue, value, of: node)
    }

    func encodeNil(forKey key: Key) { set(key, .null) }
    func encode(_ value: Bool, forKey key: Key) { set(key, .bool(value)) }
    func encode(_ value: String, forKey key: Key) { set(key, .string(value)) }
    func encode(_ value: Double, forKey key: Key) throws {
        guard let number = JSONNumber(value) else {
            return try tree.setFinite(value, at: member(key))  // which throws, naming the path
        }
        set(key, .number(number))
    }
    func encode(_ value: Float, forKey key: Key) throws {
        try tree.setFinite(value, at: member(key))
    }
    func encode(_ value: Int, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: Int8, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: Int16, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: Int32, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: Int64, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: UInt, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: UInt8, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: UInt16, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: UInt32, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode(_ value: UInt64, forKey key: Key) { set(key, .number(JSONNumber(value))) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if Value.self == String.self, let text = value as? String {
            return set(key, .string(text))
        }
        try tree.encode(value, at: member(key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        ValueEncoder(tree: tree, node: member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ValueEncoder(tree: tree, node: member(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        ValueEncoder(tree: tree, node: member(AnyCodingKey(stringValue: "super")))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        ValueEncoder(tree: tree, node: member(key))
    }
}
