/// Encodes an array's elements.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let state: EncodingState
    let place: Int

    var codingPath: [any CodingKey] { state.path(to: place) }
    var count: Int { state.count(of: place) }

    private func append(_ value: JSONScalar) { state.append(value, to: place) }
    private func element() -> Int { state.element(of: place) }

    func encodeNil() { append(.null) }
    func encode(_ value: Double) throws {
        guard value.isFinite else { throw state.notFinite(at: element()) }
        append(.double(value))
    }
    func encode(_ value: Float) throws {
        guard let number = JSONScalar(value) else { throw state.notFinite(at: element()) }
        append(number)
    }
    func encode(_ value: Bool) { append(.bool(value)) }
    func encode(_ value: String) { append(.string(value)) }
    @inline(__always)
    func encode(_ value: some FixedWidthInteger & Encodable) {
        append(JSONScalar(value))
    }
    func encode(_ value: some Encodable) throws { try state.encodeElement(value, of: place) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        ValueEncoder(state: state, place: element()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ValueEncoder(state: state, place: element()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(state: state, place: element()) }
}
