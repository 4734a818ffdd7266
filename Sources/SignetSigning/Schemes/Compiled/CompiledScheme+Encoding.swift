import SignetBase

extension CompiledScheme.Encoding {
    func encode(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .hex: bytes.hexadecimal()
        case .upperHex: bytes.hexadecimal(ten: 0x41)
        case .base64: Base64.encodeBytes(bytes.span, as: .standard)
        case .base64URL: Base64.encodeBytes(bytes.span, as: .url)
        }
    }

    /// Decodes a text, or returns `nil` if it is invalid. Hexadecimal digits may be of either case.
    func decode(_ text: [UInt8]) -> [UInt8]? {
        switch self {
        case .base64: Base64.decode(text, from: .standard)
        case .base64URL: Base64.decode(text, from: .url)
        case .hex, .upperHex: text.decodingHexadecimal()
        }
    }
}
