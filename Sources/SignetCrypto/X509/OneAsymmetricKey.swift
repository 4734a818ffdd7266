import SignetSystem

/// A private key in version 2 of PKCS #8 (RFC 5958, section 2), with its public key. OpenSSL 3.0
/// reads only version 1, which has none.
struct OneAsymmetricKey: ~Copyable {
    /// The same private key in version 1.
    let version1: SecretBytes
    /// The public key as in a SubjectPublicKeyInfo's `BIT STRING`, without the count of unused
    /// bits.
    let publicKey: [UInt8]

    /// Reads a structure. Returns nil for bytes that aren't version 2 with a public key.
    ///
    /// The public key is `[1] IMPLICIT`. The library ring wrote it as `[1] EXPLICIT` for some
    /// years.
    init?(der: Span<UInt8>) {
        var outer = DERCursor(over: 0..<der.count)
        guard let structure = outer.next(DERCursor.Tag.sequence, in: der), outer.isAtEnd else {
            return nil
        }
        var members = DERCursor(over: structure.contents)
        guard let version = members.next(DERCursor.Tag.integer, in: der)?.contents,
            version.count == 1, der[version.lowerBound] == 1,
            let algorithm = members.next(DERCursor.Tag.sequence, in: der)?.whole,
            let secret = members.next(DERCursor.Tag.octetString, in: der)?.whole
        else { return nil }
        _ = members.next(0xA0, in: der)  // The attributes, such as a name for people.
        var found = members.next(0x81, in: der)?.contents
        if found == nil, let explicit = members.next(0xA1, in: der)?.contents {
            var inner = DERCursor(over: explicit)
            found = inner.next(DERCursor.Tag.bitString, in: der)?.contents
            guard inner.isAtEnd else { return nil }
        }
        // The first byte counts the unused bits of the last one.
        guard let found, members.isAtEnd, found.count > 1, der[found.lowerBound] == 0 else {
            return nil
        }
        publicKey = found.dropFirst().map { der[$0] }
        version1 = Self.version1(of: der.extracting(algorithm.lowerBound..<secret.upperBound))
    }

    /// Returns version 1 with the algorithm and the private key of version 2.
    private static func version1(of members: Span<UInt8>) -> SecretBytes {
        let version: [UInt8] = [DERCursor.Tag.integer, 1, 0]
        let count = version.count + members.count
        var length = [UInt8(truncatingIfNeeded: count)]
        if count >= 0x80 {
            length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
            length = Array(length.drop { $0 == 0 })
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        let head = [DERCursor.Tag.sequence] + length + version
        return SecretBytes(count: head.count + members.count) { target in
            for index in head.indices { target[index] = head[index] }
            for index in members.indices { target[head.count + index] = members[index] }
        }
    }
}
