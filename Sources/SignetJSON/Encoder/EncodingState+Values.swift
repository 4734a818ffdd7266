extension EncodingState {
    /// Encodes a value of any type.
    func encode<Value: Encodable>(_ value: Value, at place: Int) throws {
        if let plain = Self.plain(value) { return set(plain, at: place) }
        try encodeParts(value, at: place)
    }

    /// Encodes a value of a type with its own `encode(to:)`.
    @inline(__always)
    private func encodeParts<Value: Encodable>(_ value: Value, at place: Int) throws {
        if FoundationTypes.contains(Value.self) { return try encodeFoundation(value, at: place) }
        do {
            try value.encode(to: ValueEncoder(state: self, place: place))
        } catch {
            change { $0.remove(place) }
            throw error
        }
    }

    func encodeMember<Value: Encodable>(
        _ name: String, with value: Value, of parent: Int
    ) throws {
        if let plain = Self.plain(value) { return setMember(name, to: plain, of: parent) }
        try encodeParts(value, at: member(name, of: parent))
    }

    func encodeElement<Value: Encodable>(_ value: Value, of parent: Int) throws {
        if let plain = Self.plain(value) { return append(plain, to: parent) }
        try encodeParts(value, at: element(of: parent))
    }

    /// Returns a value of the types that need no encoder; otherwise nil.
    @inline(__always)
    private static func plain<Value: Encodable>(_ value: Value) -> JSONScalar? {
        if Value.self == String.self { return (value as? String).map(JSONScalar.string) }
        if Value.self == JSONValue.self { return (value as? JSONValue).map(JSONScalar.tree) }
        if Value.self == JSONNumber.self { return (value as? JSONNumber).map(JSONScalar.number) }
        return nil
    }
}
