/// Base64 (RFC 4648) in the one spelling that each value has.
///
/// Decoding refuses what other decoders forgive: white space, letters of the other alphabet,
/// padding in `url` form, missing padding in `standard` form, and bits set behind the last byte. So
/// two texts are the same bytes exactly when they are the same text.
package enum Base64 {
    package enum Form: Sendable, Hashable {
        /// Section 4: `+` and `/`, padded with `=`.
        case standard
        /// Section 5: `-` and `_`, without padding, as JOSE wants it.
        case url
    }

    /// The text of `bytes`, as a string.
    package static func encode(_ bytes: Span<UInt8>, _ form: Form) -> String {
        let count = encodedCount(bytes.count, form)
        return unsafe String(unsafeUninitializedCapacity: count) { target in
            unsafe write(bytes, form, to: target)
            return count
        }
    }

    /// The text of an array's bytes, as a string.
    package static func encode(_ bytes: [UInt8], _ form: Form) -> String {
        encode(bytes.span, form)
    }

    /// The text of `bytes`, as ASCII.
    package static func encodeBytes(_ bytes: Span<UInt8>, _ form: Form) -> [UInt8] {
        let count = encodedCount(bytes.count, form)
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, written in
            unsafe write(bytes, form, to: target)
            written = count
        }
    }

    /// Adds the text of `bytes`, as ASCII, to the end of `text`.
    package static func append(_ bytes: Span<UInt8>, _ form: Form, to text: inout [UInt8]) {
        let count = encodedCount(bytes.count, form)
        text.append(addingCapacity: count) { (target: inout OutputSpan<UInt8>) in
            unsafe target.withUnsafeMutableBufferPointer { target, written in
                unsafe write(
                    bytes, form, to: UnsafeMutableBufferPointer(rebasing: target[written...]))
                written += count
            }
        }
    }

    /// The bytes that `text` stands for, or nil where it is not their one spelling.
    package static func decode(_ text: Span<UInt8>, _ form: Form) -> [UInt8]? {
        var count = text.count
        if form == .standard {
            guard count % 4 == 0 else { return nil }
            if count > 0, text[count - 1] == UInt8(ascii: "=") {
                count -= text[count - 2] == UInt8(ascii: "=") ? 2 : 1
            }
        }
        guard count % 4 != 1 else { return nil }
        let byteCount = count / 4 * 3 + [0, 0, 1, 2][count % 4]
        var isCanonical = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { target, written in
            isCanonical = unsafe read(text.extracting(first: count), form, to: target)
            written = isCanonical ? byteCount : 0
        }
        return isCanonical ? bytes : nil
    }

    /// The bytes that an array's ASCII stands for, or nil.
    package static func decode(_ text: [UInt8], _ form: Form) -> [UInt8]? {
        decode(text.span, form)
    }

    /// The bytes that a string stands for, or nil.
    package static func decode(_ text: String, _ form: Form) -> [UInt8]? {
        decode([UInt8](text.utf8).span, form)
    }

    /// Bytes of text that `byteCount` bytes take.
    package static func encodedCount(_ byteCount: Int, _ form: Form) -> Int {
        switch form {
        case .standard: (byteCount + 2) / 3 * 4
        case .url: byteCount / 3 * 4 + [0, 2, 3][byteCount % 3]
        }
    }
}
