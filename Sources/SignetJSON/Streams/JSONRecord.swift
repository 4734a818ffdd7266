/// A validated value of a stream.
public struct JSONRecord: Sendable {
    /// The record's number, from one. Defective records count, empty lines don't.
    public let number: Int
    /// The offset of the record's first byte in the stream, from zero.
    public let offset: Int
    /// The record's text with the positions of its values, relative to the record.
    public let reader: JSONReader

    /// The record as a tree.
    public var value: JSONValue { reader.value(reader.root) }

    /// The record's text.
    public var bytes: [UInt8] { reader.bytes }

    /// Decodes the record.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - decoder: The decoder; the default has no user information.
    /// - Throws: `JSONError` with the record's number and the offset in the stream.
    public func decode<Value: Decodable>(
        _ type: Value.Type, with decoder: StrictJSONDecoder = StrictJSONDecoder()
    ) throws(JSONError) -> Value {
        do {
            return try decoder.decode(type, from: reader)
        } catch {
            throw error.inRecord(number, at: offset)
        }
    }
}

extension JSONError {
    /// Returns the error for a record that begins at an offset of a stream.
    func inRecord(_ number: Int, at base: Int, code: Code? = nil) -> JSONError {
        JSONError(
            code ?? self.code,
            "record \(number), which begins at byte \(base): \(message)",
            offset: base + (offset ?? 0), path: path, record: number)
    }
}
