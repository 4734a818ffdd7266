import SignetBase

extension CompiledScheme.Encoding {
    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return text
    }

    /// Appends encoded bytes.
    func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        switch self {
        case .hex: text.append(hexadecimal: bytes)
        case .upperHex: text.append(hexadecimal: bytes, ten: 0x41)
        case .base64: Base64.append(bytes.span, as: .standard, to: &text)
        case .base64URL: Base64.append(bytes.span, as: .url, to: &text)
        }
    }

    /// Decodes a text, or returns `nil` if it is invalid. Hexadecimal digits may be of either case.
    func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        switch self {
        case .base64: Base64.decode(text.span, from: .standard)
        case .base64URL: Base64.decode(text.span, from: .url)
        case .hex, .upperHex: text.decodingHexadecimal()
        }
    }
}
