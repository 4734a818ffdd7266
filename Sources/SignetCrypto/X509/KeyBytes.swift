/// Recognises keys and certificates in bytes, without reading them.
package enum KeyBytes {
    /// Returns whether bytes are a public key or a certificate in DER, or a public key of SSH (RFC
    /// 4253, section 6.6).
    package static func isKeyOrCertificate(_ bytes: [UInt8]) -> Bool {
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
    package static func isPrivateKey(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: "openssh-key-v1".utf8) { return true }
        guard let parts = members(of: bytes) else { return false }
        return parts.starts(with: [0x02, 0x30, 0x04])
            || parts.starts(with: [0x02, 0x04])
            || parts == [0x30, 0x04] || isPKCS12(bytes)
            || parts.count >= 9 && parts.allSatisfy { $0 == 0x02 }
    }

    /// Returns whether bytes are a PKCS #12 file in DER (RFC 7292, section 4).
    package static func isPKCS12(_ bytes: [UInt8]) -> Bool {
        guard let parts = members(of: bytes) else { return false }
        return parts == [0x02, 0x30, 0x30] || parts == [0x02, 0x30]
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
}
