/// Encodes Swift types as strict JSON.
///
/// Integers are written exactly, a `Double` as the shortest text that gives it back (RFC 8785, section
/// 3.2.2.3); an infinity or a NaN is refused. `JSONValue` and `JSONNumber` are written as they stand.
/// `Decimal` is a number with all its digits and no exponent, `URL` a string, `Data` base64 with padding, and
/// `Date` what its own `Codable` makes of it, a number of seconds since 2001.
/// Members stand in the order in which the type encodes them; one that is encoded twice has its last
/// value. A type that encodes nothing is `{}`.
public struct StrictJSONEncoder: Sendable {
    /// How `encode` lays out the text.
    public var style: JSONStyle
    /// What `Encoder.userInfo` gives to the types that are encoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder.
    public init(style: JSONStyle = .compact) { self.style = style }

    /// Encodes a value as a JSON text, without a final newline.
    ///
    /// - Throws: `JSONError` that names the path: `not-finite`, or `refused` where a type's own
    ///   `encode(to:)` threw.
    public func encode(_ value: some Encodable) throws(JSONError) -> [UInt8] {
        let state = try state(value, isDirect: style == .compact)
        return style == .compact ? try state.bytes() : try state.value().serialized(style)
    }

    /// Encodes a value as a tree; otherwise as `encode(_:)`.
    public func encodeValue(_ value: some Encodable) throws(JSONError) -> JSONValue {
        try state(value, isDirect: false).value()
    }

    private func state(
        _ value: some Encodable, isDirect: Bool
    ) throws(JSONError) -> EncodingState {
        let state = EncodingState(userInfo, isDirect: isDirect)
        do {
            try state.encode(value, at: EncodingState.root)
        } catch {
            throw .withoutValues(error)
        }
        return state
    }
}
