/// A place that is about to be encoded, as `Encodable` sees it.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let tree: EncodedTree
    let node: Int

    var codingPath: [any CodingKey] { tree.path(to: node) }
    var userInfo: [CodingUserInfoKey: Any] { tree.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        tree.begin(.object, at: node)
        return KeyedEncodingContainer(KeyedEncoding<Key>(tree: tree, node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        tree.begin(.array, at: node)
        return UnkeyedEncoding(tree: tree, node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { tree.set(.null, at: node) }
    func encode(_ value: Bool) { tree.set(.bool(value), at: node) }
    func encode(_ value: String) { tree.set(.string(value), at: node) }
    func encode(_ value: Double) throws { try tree.setFinite(value, at: node) }
    func encode(_ value: Float) throws { try tree.setFinite(value, at: node) }
    func encode(_ value: Int) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: Int8) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: Int16) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: Int32) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: Int64) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: UInt) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: UInt8) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: UInt16) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: UInt32) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: UInt64) { tree.set(.number(JSONNumber(value)), at: node) }
    func encode(_ value: some Encodable) throws { try tree.encode(value, at: node) }
}
