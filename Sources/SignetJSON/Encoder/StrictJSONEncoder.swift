/// Encodes Swift types as strict JSON.
///
/// ```swift
/// struct Order: Encodable {
///     var id = 7
///     var items = ["tea"]
/// }
/// let text = try StrictJSONEncoder().encode(Order())  // {"id":7,"items":["tea"]}
/// let toSign = try StrictJSONEncoder(style: .canonical).encode(Order())
/// ```
///
/// - Integers are exact. A `Double` gets the shortest text that reads back as its value (RFC 8785,
///   section 3.2.2.3); an infinity or a NaN is `not-finite`.
/// - `JSONValue` and `JSONNumber` keep the values and the texts of numbers.
/// - `Decimal` becomes a number with all its digits and no exponent, `URL` a string, `Data` base64
///   with padding. `Date` becomes a string as in RFC 3339, unless ``conventions`` say otherwise.
/// - Members are in the order in which the type encodes them. If a type encodes a member twice, the
///   last value wins. A type that encodes nothing becomes `{}`.
public struct StrictJSONEncoder: Sendable {
    /// The layout of the text.
    public var style: JSONStyle
    /// The `Encoder.userInfo` of the types that are encoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// How dates are written, and how the members of properties are named.
    public var conventions: JSONConventions

    /// Creates an encoder.
    public init(
        style: JSONStyle = .compact, conventions: JSONConventions = JSONConventions()
    ) {
        self.style = style
        self.conventions = conventions
    }

    /// Encodes a value as a JSON text, without a final newline.
    ///
    /// - Throws: `JSONError` with the path: `not-finite`, `out-of-range` for a date, or `refused`
    ///   if a type's `encode(to:)` threw.
    public func encode(_ value: some Encodable) throws(JSONError) -> [UInt8] {
        let state = try state(encoding: value, isStreaming: style == .compact)
        return style == .compact ? try state.bytes() : try state.value().serialized(style)
    }

    /// Encodes a value as a tree, like `encode(_:)`.
    public func encodeValue(_ value: some Encodable) throws(JSONError) -> JSONValue {
        try state(encoding: value, isStreaming: false).value()
    }

    private func state(
        encoding value: some Encodable, isStreaming: Bool
    ) throws(JSONError) -> EncodingState {
        let state = EncodingState(
            userInfo: userInfo, conventions: conventions, isStreaming: isStreaming)
        do {
            try state.encode(value, at: EncodingStorage.root)
        } catch {
            throw .withoutValues(error)
        }
        return state
    }
}
