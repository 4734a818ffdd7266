/// An array's elements, as a type encodes them.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let container: EncodedContainer
    let userInfo: [CodingUserInfoKey: any Sendable]
    let path: CodingPathNode?

    var codingPath: [any CodingKey] { CodingPathNode.keys(path) }
    var count: Int { container.count }

    private var key: AnyCodingKey { AnyCodingKey(intValue: count) }

    private func append(_ value: JSONValue) { container.append(.value(value)) }

    func encodeNil() { append(.null) }
    func encode(_ value: Bool) { append(.bool(value)) }
    func encode(_ value: String) { append(.string(value)) }
    func encode(_ value: Double) throws { container.append(try .of(value, path, key)) }
    func encode(_ value: Float) throws { container.append(try .of(value, path, key)) }
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
    func encode(_ value: some Encodable) throws {
        container.append(try .of(value, userInfo, path, key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        let nestedPath = CodingPathNode(key, in: path)
        let nested = EncodedContainer(isObject: true)
        container.append(.container(nested))
        return KeyedEncodingContainer(
            KeyedEncoding<NestedKey>(container: nested, userInfo: userInfo, path: nestedPath))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let nestedPath = CodingPathNode(key, in: path)
        let nested = EncodedContainer(isObject: false)
        container.append(.container(nested))
        return UnkeyedEncoding(container: nested, userInfo: userInfo, path: nestedPath)
    }

    func superEncoder() -> any Encoder {
        let encoder = ValueEncoder(userInfo: userInfo, path: CodingPathNode(key, in: path))
        container.append(.encoder(encoder))
        return encoder
    }
}
