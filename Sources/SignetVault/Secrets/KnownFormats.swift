internal import SignetBase

/// Recognises formats of text and bytes that look random: pins, UUIDs, hashes, certificates and
/// keys.
enum KnownFormats {
    /// Returns whether a text is a pin: `sha256/` and the base64 of 32 bytes.
    static func isPin(_ text: ArraySlice<UInt8>) -> Bool {
        text.count == 51 && text.starts(with: "sha256/".utf8) && text.last == UInt8(ascii: "=")
            && text.dropFirst(7).dropLast().allSatisfy(base64Bytes.contains)
    }

    /// Returns whether a text is a UUID (RFC 9562): hexadecimal digits in groups of 8, 4, 4, 4 and
    /// 12.
    static func isUUID(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        let groups = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy(\.isHexDigit)
    }

    /// Returns a text without the named hash at its end: `sha256:` and hexadecimal (container
    /// images), or `sha384-` and base64 (Subresource Integrity, section 3).
    static func removingHash(from text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        for (name, hex, base64) in [("sha256", 64, 44), ("sha384", 96, 64), ("sha512", 128, 88)] {
            let tail = text.suffix(name.utf8.count + 1 + hex)
            if tail.starts(with: "\(name):".utf8), tail.dropFirst(7).count == hex,
                tail.dropFirst(7).allSatisfy(\.isHexDigit)
            {
                return text[..<tail.startIndex]
            }
            let other = text.suffix(name.utf8.count + 1 + base64)
            if other.starts(with: "\(name)-".utf8), other.dropFirst(7).count == base64,
                other.dropFirst(7).allSatisfy({
                    base64Bytes.contains($0) || $0 == UInt8(ascii: "=")
                })
            {
                return text[..<other.startIndex]
            }
        }
        return text
    }

    /// Returns whether bytes are a public key or a certificate in DER, or a public key of SSH (RFC
    /// 4253, section 6.6).
    static func isKeyOrCertificate(_ bytes: [UInt8]) -> Bool {
        if bytes.count > 12, bytes[0] == 0, bytes[1] == 0, bytes[2] == 0 {
            let name = bytes[4...].prefix(Int(bytes[3]))
            return ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].contains {
                name.starts(with: $0.utf8)
            }
        }
        // SubjectPublicKeyInfo, Certificate, CertificationRequest and CertificateList are sequences
        // that start with a sequence and end with a bit string (RFC 5280, section 4.1).
        guard let parts = members(of: bytes) else { return false }
        return parts.count <= 3 && parts.first == 0x30 && parts.count > 1 && parts.last == 0x03
    }

    /// Returns whether bytes are a private key in DER (PKCS #8, even encrypted, PKCS #1, SEC 1 or
    /// PKCS #12) or in OpenSSH's format.
    static func isPrivateKey(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: "openssh-key-v1".utf8) { return true }
        guard let parts = members(of: bytes) else { return false }
        return parts.starts(with: [0x02, 0x30, 0x04]) || parts.starts(with: [0x02, 0x30, 0x30])
            || parts.starts(with: [0x02, 0x04])
            || parts == [0x30, 0x04] || parts.count >= 9 && parts.allSatisfy { $0 == 0x02 }
    }

    /// Returns the tags in a sequence that spans all of the bytes, or nil.
    private static func members(of bytes: [UInt8]) -> [UInt8]? {
        guard let outer = element(bytes[...]), outer.tag == 0x30, outer.end == bytes.endIndex
        else { return nil }
        var tags: [UInt8] = []
        var rest = outer.content
        while !rest.isEmpty {
            guard let inner = element(rest), tags.count < 16 else { return nil }
            tags.append(inner.tag)
            rest = rest[inner.end...]
        }
        return tags
    }

    private static func element(
        _ bytes: ArraySlice<UInt8>
    ) -> (tag: UInt8, content: ArraySlice<UInt8>, end: Int)? {
        guard bytes.count >= 2 else { return nil }
        var position = bytes.startIndex + 1
        var count = Int(bytes[position])
        position += 1
        if count >= 0x80 {
            let octets = count & 0x7f
            guard (1...4).contains(octets), bytes.endIndex - position >= octets else { return nil }
            count = bytes[position..<(position + octets)].reduce(0) { $0 << 8 | Int($1) }
            position += octets
        }
        guard bytes.endIndex - position >= count else { return nil }
        return (bytes[bytes.startIndex], bytes[position..<(position + count)], position + count)
    }

    private static let base64Bytes = ASCIISet(lettersDigitsAnd: "+/")
}
