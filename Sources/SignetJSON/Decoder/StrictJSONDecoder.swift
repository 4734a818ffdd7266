/// Decodes Swift types from strict JSON.
///
/// ```swift
/// struct Order: Decodable {
///     var id: Int
///     var note: String?
/// }
/// let text = Array(#"{"id": "7"}"#.utf8)
/// do throws(JSONError) {
///     let order = try StrictJSONDecoder().decode(Order.self, from: text)
/// } catch {
///     let code = error.code  // .typeMismatch
///     let message = error.message  // at $.id (byte 7): found a string, expected an integer
/// }
/// ```
///
/// - Integers are exact: a number with a fraction or an exponent is `type-mismatch`, and one that
///   doesn't fit is `out-of-range`.
/// - `Double` and `Float` are rounded to the nearest value; a number without a finite one is
///   `not-finite`.
/// - `Bool` accepts only `true` and `false`, no numbers.
/// - Members that the type doesn't request are ignored.
/// - `Decimal` is exact: a number that it would round is `out-of-range`.
/// - `URL` accepts a string with only the characters of RFC 3986, and escapes nothing. `Data`
///   accepts base64 with padding and nothing else (RFC 4648, section 4).
/// - `Date` accepts a string as in RFC 3339, unless ``conventions`` say otherwise.
/// - `JSONValue` and `JSONNumber` keep the values and the texts of numbers.
///
/// Errors hold a code, the path and the byte offset but never a value, even if a type's own
/// `init(from:)` threw.
public struct StrictJSONDecoder: Sendable {
    /// The `Decoder.userInfo` of the types that are decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// How dates are read, and how the members of properties are named.
    public var conventions: JSONConventions

    /// Creates a decoder.
    public init(conventions: JSONConventions = JSONConventions()) {
        self.conventions = conventions
    }

    /// Decodes a type from a whole JSON text.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - bytes: The text, UTF-8. `JSONReader` lists what it refuses.
    /// - Returns: The decoded value.
    /// - Throws: `JSONError` with the path and the offset of the value that doesn't fit.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8]
    ) throws(JSONError) -> Value {
        try decode(type, in: document(JSONReader(bytes), hasOffsets: true))
    }

    /// Decodes a type from a validated text.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - reader: The text. If the reader didn't record all values, the text is validated again.
    /// - Returns: The decoded value.
    /// - Throws: `JSONError` with the path and the offset of the value that doesn't fit.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from reader: JSONReader
    ) throws(JSONError) -> Value {
        let whole = try reader.isComplete ? reader : JSONReader(reader.bytes)
        return try decode(type, in: document(whole, hasOffsets: true))
    }

    /// Decodes a type from a tree.
    ///
    /// - Throws: `JSONError` with the path, without an offset.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from value: JSONValue
    ) throws(JSONError) -> Value {
        let reader = try JSONReader(value.serialized())
        return try decode(type, in: document(reader, hasOffsets: false))
    }

    private func document(_ reader: JSONReader, hasOffsets: Bool) -> JSONDocument {
        JSONDocument(
            reader: reader, hasOffsets: hasOffsets, userInfo: userInfo, conventions: conventions)
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, in document: JSONDocument
    ) throws(JSONError) -> Value {
        do {
            return try document.value(type, at: 0)
        } catch {
            throw .withoutValues(error)
        }
    }
}
