/// An array's elements, as a type encodes them.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let tree: EncodedTree
    let node: Int

    var codingPath: [any CodingKey] { tree.path(to: node) }
    var count: Int { tree.count(of: node) }

    private func element() -> Int { tree.element(of: node) }
    private func append(_ value: JSONValue) { tree.set(value, at: element()) }

    func encodeNil() { append(.null) }
    func encode(_ value: Bool) { append(.bool(value)) }
    func encode(_ value: String) { append(.string(value)) }
    func encode(_ value: Double) throws { try tree.setFinite(value, at: element()) }
    func encode(_ value: Float) throws { try tree.setFinite(value, at: element()) }
    func encode(_ value: Int) { append(.number(JSONNumber(value))) }
    func encode(_ value: Int8) { append(.number(JSONNumber(value))) }
    func encode(_ value: Int16) { append(.number(JSONNumber(value))) }
    func encode(_ value: Int32) { append(.number(JSONNumber(value))) }
    func encode(_ value: Int64) { append(.number(JSONNumber(value))) }
    func encode(_ value: UInt) { append(.number(JSONNumber(value))) }
    func encode(_ value: UInt8) { append(.number(JSONNumber(value))) }
    func encode(_ value: UInt16) { append(.number(JSONNumber(value))) }
    func encode(_ value: UInt32) { append(.number(JSONNumber(value))) }
    func encode(_ value: UInt64) { append(.number(JSONNumber(value))) }
    func encode(_ value: some Encodable) throws { try tree.encode(value, at: element()) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        ValueEncoder(tree: tree, node: element()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ValueEncoder(tree: tree, node: element()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(tree: tree, node: element()) }
}
