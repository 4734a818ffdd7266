/// Decodes Swift types from strict JSON.
///
/// - Integers are exact: a number with a fraction or an exponent is none, and one that does not fit
///   is `out-of-range`, with its path.
/// - `Double` and `Float` are the nearest value; a number without a finite one is `not-finite`.
/// - `Bool` comes from `true` and `false` only, never from a number.
/// - A member of the JSON text that the type does not ask for is ignored.
/// - `Decimal` is exact: a number that it would round is `out-of-range`.
/// - `URL` comes from a string of RFC 3986's characters, none of which is escaped on the way; `Data` from
///   base64 with its padding and nothing else (RFC 4648, section 4).
/// - `Date` comes from what its own `Codable` takes, a number of seconds since 2001.
/// - `JSONValue` and `JSONNumber` are taken as they stand.
///
/// Errors name code, path and byte offset, and never a value, also where a type's own decoder threw.
public struct StrictJSONDecoder: Sendable {
    /// What `Decoder.userInfo` gives to the types that are decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder.
    public init() {}

    /// Decodes a type from a whole JSON text.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - bytes: The text, UTF-8; see `JSONReader` for what is refused.
    /// - Returns: The decoded value.
    /// - Throws: `JSONError`; `offset` is that of the value that does not fit.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8]
    ) throws(JSONError) -> Value {
        try decode(type, JSONDocument(reader: JSONReader(bytes), hasOffsets: true, userInfo))
    }

    /// Decodes a type from a text that has been validated before.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - reader: The text; one whose values are not all recorded is read once more.
    /// - Returns: The decoded value.
    /// - Throws: `JSONError`; `offset` is that of the value that does not fit.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from reader: JSONReader
    ) throws(JSONError) -> Value {
        let whole = try reader.isComplete ? reader : JSONReader(reader.bytes)
        return try decode(type, JSONDocument(reader: whole, hasOffsets: true, userInfo))
    }

    /// Decodes a type from a value that has been read before.
    ///
    /// - Throws: `JSONError`, without an offset.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from value: JSONValue
    ) throws(JSONError) -> Value {
        let reader = try JSONReader(value.serialized())
        return try decode(type, JSONDocument(reader: reader, hasOffsets: false, userInfo))
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, _ document: JSONDocument
    ) throws(JSONError) -> Value {
        do {
            return try document.value(type, at: 0)
        } catch {
            throw .withoutValues(error)
        }
    }
}
