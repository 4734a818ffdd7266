import SignetBase

/// The compact serialization (RFC 7516, section 7.1) with an empty encrypted key (`dir`).
extension JWEContent {
    /// Reads a compact string and checks its form, but not the members of its header.
    ///
    /// - Parameters:
    ///   - bytes: The string and nothing else.
    ///   - headerLimit: The maximum size of the header's base64url text, in bytes.
    ///   - textLimit: The maximum size of the plaintext, in bytes.
    package init(
        compact bytes: [UInt8], headerLimit: Int, textLimit: Int
    ) throws(Malformed) {
        let dots = try Self.dots(in: bytes, headerLimit: headerLimit)
        func part(_ range: Range<Int>, named name: String) throws(Malformed) -> [UInt8] {
            try Self.decode(bytes.span.extracting(range), named: name)
        }
        guard dots[3] - dots[2] - 1 <= Base64.encodedCount(of: textLimit, as: .url) else {
            throw Malformed(problem: "more than \(textLimit >> 20) MiB of plaintext")
        }
        try self.init(
            protected: Array(bytes[..<dots[0]]),
            nonce: part(dots[1] + 1..<dots[2], named: "the nonce"),
            ciphertext: part(dots[2] + 1..<dots[3], named: "the ciphertext"),
            tag: part(dots[3] + 1..<bytes.count, named: "the tag"))
    }

    /// The compact string.
    package var compact: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            protected.count + Base64.encodedCount(of: ciphertext.count, as: .url) + 48)
        bytes.append(contentsOf: protected)
        bytes.append(contentsOf: "..".utf8)
        Base64.append(nonce.span, as: .url, to: &bytes)
        bytes.append(ASCII.dot)
        Base64.append(ciphertext.span, as: .url, to: &bytes)
        bytes.append(ASCII.dot)
        Base64.append(tag.span, as: .url, to: &bytes)
        return bytes
    }

    /// Returns the positions of the four dots. Finds the last one by the tag's length, so that the
    /// ciphertext is read only once, by the decoder.
    private static func dots(
        in bytes: [UInt8], headerLimit: Int
    ) throws(Malformed) -> [Int] {
        var dots: [Int] = []
        for index in 0..<min(bytes.count, headerLimit + 64) where bytes[index] == ASCII.dot {
            dots.append(index)
            if dots.count == 3 { break }
        }
        guard dots.count == 3 else {
            throw Malformed(
                problem: "expected a JWE compact string of five parts with a short header")
        }
        guard dots[0] <= headerLimit else { throw Malformed(problem: "the header is too long") }
        guard dots[1] == dots[0] + 1 else {
            throw Malformed(problem: "the encrypted key is not empty")
        }
        let last = bytes.count - Base64.encodedCount(of: AES256GCM.tagByteCount, as: .url) - 1
        guard last > dots[2], bytes[last] == ASCII.dot else {
            throw Malformed(problem: "expected a tag of 16 bytes at the end")
        }
        return dots + [last]
    }
}
