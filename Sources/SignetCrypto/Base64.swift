/// Base64 (RFC 4648). Each byte sequence has exactly one valid encoding.
///
/// Decoding refuses what other decoders tolerate: white space, characters of the other alphabet,
/// padding in the `url` form, missing padding in the `standard` form, and nonzero unused bits at
/// the end. Two texts therefore decode to the same bytes only if the texts are equal.
package enum Base64 {
    /// The alphabet, and with it the padding.
    package enum Form: Sendable, Hashable {
        /// Section 4: `+` and `/`, padded with `=`.
        case standard
        /// Section 5: `-` and `_`, without padding, as in JOSE.
        case url
    }

    /// Returns the encoded bytes as a string.
    package static func encode(_ bytes: Span<UInt8>, as form: Form) -> String {
        let count = encodedCount(of: bytes.count, as: form)
        return unsafe String(unsafeUninitializedCapacity: count) { target in
            unsafe write(bytes, as: form, to: target)
            return count
        }
    }

    /// Returns the encoded bytes of an array as a string.
    package static func encode(_ bytes: [UInt8], as form: Form) -> String {
        encode(bytes.span, as: form)
    }

    /// Returns the encoded bytes as ASCII.
    package static func encodeBytes(_ bytes: Span<UInt8>, as form: Form) -> [UInt8] {
        var text: [UInt8] = []
        append(bytes, as: form, to: &text)
        return text
    }

    /// Appends the encoded bytes, as ASCII, to `text`.
    package static func append(_ bytes: Span<UInt8>, as form: Form, to text: inout [UInt8]) {
        let count = encodedCount(of: bytes.count, as: form)
        guard count > 0 else { return }
        text.append(addingCapacity: count) { (target: inout OutputSpan<UInt8>) in
            unsafe target.withUnsafeMutableBufferPointer { target, written in
                unsafe write(
                    bytes, as: form, to: UnsafeMutableBufferPointer(rebasing: target[written...]))
                written += count
            }
        }
    }

    /// Returns the decoded bytes, or nil if `text` is not a valid encoding in this form.
    package static func decode(_ text: Span<UInt8>, from form: Form) -> [UInt8]? {
        var count = text.count
        if form == .standard {
            guard count % 4 == 0 else { return nil }
            if count > 0, text[count - 1] == UInt8(ascii: "=") {
                count -= text[count - 2] == UInt8(ascii: "=") ? 2 : 1
            }
        }
        guard count % 4 != 1 else { return nil }
        let byteCount = count / 4 * 3 + [0, 0, 1, 2][count % 4]
        guard byteCount > 0 else { return [] }
        return unsafe [UInt8].written(count: byteCount) { target in
            unsafe read(text.extracting(first: count), from: form, to: target)
        }
    }

    /// Returns the decoded bytes of an array of ASCII, or nil if it is not a valid encoding.
    package static func decode(_ text: [UInt8], from form: Form) -> [UInt8]? {
        decode(text.span, from: form)
    }

    /// Returns the decoded bytes of a string, or nil if it is not a valid encoding.
    package static func decode(_ text: String, from form: Form) -> [UInt8]? {
        decode([UInt8](text.utf8).span, from: form)
    }

    /// Returns the number of characters in the encoding of `byteCount` bytes.
    package static func encodedCount(of byteCount: Int, as form: Form) -> Int {
        switch form {
        case .standard: (byteCount + 2) / 3 * 4
        case .url: byteCount / 3 * 4 + [0, 2, 3][byteCount % 3]
        }
    }
}
