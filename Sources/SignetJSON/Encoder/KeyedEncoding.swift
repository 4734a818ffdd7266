/// Encodes an object's members.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: EncodingState
    let place: Int

    /// The name of a key's member.
    @inline(__always)
    private func name(of key: Key) -> String {
        state.conventions.keys.memberName(of: key)
    }

    var codingPath: [any CodingKey] { state.path(to: place) }

    @inline(__always)
    private func set(_ key: Key, to value: JSONScalar) {
        state.setMember(name(of: key), to: value, of: place)
    }
    private func member(_ key: Key) -> Int { state.member(name(of: key), of: place) }

    func encodeNil(forKey key: Key) { set(key, to: .null) }
    func encode(_ value: Double, forKey key: Key) throws {
        guard value.isFinite else { throw state.notFinite(at: member(key)) }
        set(key, to: .double(value))
    }
    func encode(_ value: Bool, forKey key: Key) { set(key, to: .bool(value)) }
    func encode(_ value: String, forKey key: Key) { set(key, to: .string(value)) }
    @inline(__always)
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) {
        set(key, to: JSONScalar(value))
    }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try state.encodeMember(name(of: key), with: value, of: place)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        ValueEncoder(state: state, place: member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ValueEncoder(state: state, place: member(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        ValueEncoder(state: state, place: state.member("super", of: place))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        ValueEncoder(state: state, place: member(key))
    }
}
