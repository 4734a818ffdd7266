/// Returns a text's bytes.
package func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns the text of bytes in UTF-8.
package func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// The lowercase hexadecimal digits of bytes.
package func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
}

/// The bytes that hexadecimal digits stand for.
package func bytes(ofHex text: some StringProtocol) -> [UInt8] {
    let digits = Array(text.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
        UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
    }
}
