extension JSONDocument {
    /// Decodes a value of any type.
    func value<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        if type == String.self || type == JSONValue.self || type == JSONNumber.self {
            return try plainValue(type, at: index)
        }
        if kind(at: index) == .array { return try arrayValue(type, at: index) }
        if FoundationTypes.contains(type) { return try foundationValue(type, at: index) }
        return try Value(from: ValueDecoder(document: self, index: index))
    }

    /// Decodes the types that need no decoder. This is a separate function, because its casts need
    /// more type lookups.
    @inline(never)
    private func plainValue<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        if type == String.self, let text = try string(at: index) as? Value { return text }
        var next = index
        if type == JSONValue.self, let value = reader.value(at: &next) as? Value { return value }
        return try Value(from: ValueDecoder(document: self, index: index))
    }

    /// Decodes a type from an array.
    @inline(never)
    private func arrayValue<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        if let array = type as? any DirectlyDecodableArray.Type,
            let value = try self.array(array, as: type, at: index)
        {
            return value
        }
        if FoundationTypes.contains(type) { return try foundationValue(type, at: index) }
        return try Value(from: ValueDecoder(document: self, index: index))
    }
}
