import SignetBase

extension CompiledScheme.Encoding {
    func encode(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .hex: Self.hex(bytes, ten: 0x61)
        case .upperHex: Self.hex(bytes, ten: 0x41)
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

    /// - Parameter ten: The digit after 9, `a` or `A`.
    private static func hex(_ bytes: [UInt8], ten: UInt8) -> [UInt8] {
        // Branch-free: the digits are random, so a branch would often be mispredicted.
        func digit(_ value: UInt8) -> UInt8 {
            ASCII.zero &+ value &+ (value &+ 6) >> 4 &* (ten &- ASCII.zero &- 10)
        }
        var text = [UInt8](repeating: 0, count: 2 * bytes.count)
        var digits = text.mutableSpan
        for index in bytes.indices {
            digits[2 * index] = digit(bytes[index] >> 4)
            digits[2 * index + 1] = digit(bytes[index] & 15)
        }
        return text
    }
}
