/// The encoder of one value.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let state: EncodingState
    let place: Int

    var codingPath: [any CodingKey] { state.path(to: place) }
    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        state.change { $0.start(.object, at: place) }
        return KeyedEncodingContainer(KeyedEncoding<Key>(state: state, place: place))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        state.change { $0.start(.array, at: place) }
        return UnkeyedEncoding(state: state, place: place)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    private func set(_ value: JSONScalar) { state.set(value, at: place) }

    func encodeNil() { set(.null) }
    func encode(_ value: Double) throws {
        guard value.isFinite else { throw state.notFinite(at: place) }
        set(.double(value))
    }
    func encode(_ value: Float) throws {
        guard let number = JSONScalar(value) else { throw state.notFinite(at: place) }
        set(number)
    }
    func encode(_ value: Bool) { set(.bool(value)) }
    func encode(_ value: String) { set(.string(value)) }
    @inline(__always)
    func encode(_ value: some FixedWidthInteger & Encodable) {
        set(JSONScalar(value))
    }
    func encode(_ value: some Encodable) throws { try state.encode(value, at: place) }
}
