/// Encodes an array's elements.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let state: EncodingState
    let place: Int

    var codingPath: [any CodingKey] { state.path(to: place) }
    var count: Int { state.change { $0.count(of: place) } }

    private func element() -> Int { state.element(of: place) }

    func encodeNil() { state.append(.null, to: place) }
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
