/// An object's members, as a type encodes them.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let container: EncodedContainer
    let userInfo: [CodingUserInfoKey: any Sendable]
    let path: CodingPathNode?

    var codingPath: [any CodingKey] { CodingPathNode.keys(path) }

    private func set(_ key: Key, _ value: JSONValue) {
        container.set(key.stringValue, .value(value))
    }

    func encodeNil(forKey key: Key) { set(key, .null) }
    func encode(_ value: Bool, forKey key: Key) { set(key, .bool(value)) }
    func encode(_ value: String, forKey key: Key) { set(key, .string(value)) }
    func encode(_ value: Double, forKey key: Key) throws {
        container.set(key.stringValue, try .of(value, path, key))
    }
    func encode(_ value: Float, forKey key: Key) throws {
        container.set(key.stringValue, try .of(value, path, key))
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
    func encode(_ value: some Encodable, forKey key: Key) throws {
        container.set(key.stringValue, try .of(value, userInfo, path, key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let nested = EncodedContainer(isObject: true)
        container.set(key.stringValue, .container(nested))
        return KeyedEncodingContainer(
            KeyedEncoding<NestedKey>(
                container: nested, userInfo: userInfo, path: CodingPathNode(key, in: path)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let nested = EncodedContainer(isObject: false)
        container.set(key.stringValue, .container(nested))
        return UnkeyedEncoding(
            container: nested, userInfo: userInfo, path: CodingPathNode(key, in: path))
    }

    func superEncoder() -> any Encoder { encoder(AnyCodingKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: some CodingKey) -> ValueEncoder {
        let encoder = ValueEncoder(userInfo: userInfo, path: CodingPathNode(key, in: path))
        container.set(key.stringValue, .encoder(encoder))
        return encoder
    }
}
