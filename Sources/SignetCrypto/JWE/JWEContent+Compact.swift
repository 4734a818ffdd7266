import SignetBase

/// The compact serialization (RFC 7516, section 7.1).
extension JWEContent {
    /// Reads a compact string with an empty encrypted key (`dir`) and checks its form, but not the
    /// members of its header.
    ///
    /// - Parameters:
    ///   - bytes: The string and nothing else.
    ///   - headerLimit: The maximum size of the header's base64url text, in bytes.
    ///   - textLimit: The maximum size of the plaintext, in bytes.
    package init(
        compact bytes: [UInt8], headerLimit: Int, textLimit: Int
    ) throws(Malformed) {
        let parts = try Self.parts(
            compact: bytes, headerLimit: headerLimit, keyLimit: 0, textLimit: textLimit)
        try self.init(
            protected: parts.protected, nonce: parts.nonce, ciphertext: parts.ciphertext,
            tag: parts.tag)
    }

    /// The five parts of a compact string, decoded but for the header.
    struct Parts {
        let protected, encryptedKey, nonce, ciphertext, tag: [UInt8]
    }

    /// Splits a compact string.
    ///
    /// - Parameter keyLimit: The maximum size of the encrypted key's base64url text; with 0 it must
    ///   be empty.
    static func parts(
        compact bytes: [UInt8], headerLimit: Int, keyLimit: Int, textLimit: Int
    ) throws(Malformed) -> Parts {
        let dots = try dots(in: bytes, headerLimit: headerLimit, keyLimit: keyLimit)
        func part(_ range: Range<Int>, named name: String) throws(Malformed) -> [UInt8] {
            try decode(bytes.span.extracting(range), named: name)
        }
        guard dots[3] - dots[2] - 1 <= Base64.encodedCount(of: textLimit, as: .url) else {
            throw Malformed(
                problem: textLimit < 1 << 20
                    ? "more than \(textLimit) bytes of plaintext"
                    : "more than \(textLimit >> 20) MiB of plaintext")
        }
        return Parts(
            protected: Array(bytes[..<dots[0]]),
            encryptedKey: try part(dots[0] + 1..<dots[1], named: "the encrypted key"),
            nonce: try part(dots[1] + 1..<dots[2], named: "the nonce"),
            ciphertext: try part(dots[2] + 1..<dots[3], named: "the ciphertext"),
            tag: try part(dots[3] + 1..<bytes.count, named: "the tag"))
    }

    /// The compact string of a content whose key isn't encrypted.
    package var compact: [UInt8] { compact(encryptedKey: []) }

    /// Returns the compact string.
    func compact(encryptedKey: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            protected.count + Base64.encodedCount(of: ciphertext.count, as: .url)
                + Base64.encodedCount(of: encryptedKey.count, as: .url) + 48)
        bytes.append(contentsOf: protected)
        bytes.append(ASCII.dot)
        Base64.append(encryptedKey.span, as: .url, to: &bytes)
        bytes.append(ASCII.dot)
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
        in bytes: [UInt8], headerLimit: Int, keyLimit: Int
    ) throws(Malformed) -> [Int] {
        var dots: [Int] = []
        for index in 0..<min(bytes.count, headerLimit + keyLimit + 64)
        where bytes[index] == ASCII.dot {
            dots.append(index)
            if dots.count == 3 { break }
        }
        guard dots.count == 3 else {
            throw Malformed(
                problem: "expected a JWE compact string of five parts with a short header")
        }
        guard dots[0] <= headerLimit else { throw Malformed(problem: "the header is too long") }
        guard dots[1] - dots[0] - 1 <= keyLimit else {
            throw Malformed(
                problem: keyLimit == 0
                    ? "the encrypted key is not empty" : "the encrypted key is too long")
        }
        let last = bytes.count - Base64.encodedCount(of: AESGCM.tagByteCount, as: .url) - 1
        guard last > dots[2], bytes[last] == ASCII.dot else {
            throw Malformed(problem: "expected a tag of 16 bytes at the end")
        }
        return dots + [last]
    }
}
