import FoundationEssentials

extension EncodingState {
    /// Encodes a value of one of Foundation's types.
    @inline(never)
    func encodeFoundation(_ value: some Encodable, at place: Int) throws {
        switch value {
        case let value as Decimal:
            guard !value.isNaN else { throw notFinite(at: place) }
            set(.number(JSONNumber(validText: value.description)), at: place)
        case let value as URL: set(.string(value.absoluteString), at: place)
        case let value as Data: set(.string(value.base64EncodedString()), at: place)
        case let value as Date: set(try scalar(of: value, at: place), at: place)
        default: try value.encode(to: ValueEncoder(state: self, place: place))
        }
    }
}
