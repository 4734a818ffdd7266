import SignetCrypto

/// The keys of one dump: content key, nonce and commitment, 76 bytes from HKDF-SHA256 (RFC 5869).
struct DumpKeys: ~Copyable {
    static let contentKey = 0..<32
    static let nonce = 32..<44
    static let commitment = 44..<76

    let material: SecretBytes

    /// Derives the keys.
    ///
    /// - Parameters:
    ///   - root: 32 bytes of a key set, or scrypt's.
    ///   - salt: The dump's own 32 random bytes.
    ///   - info: `DumpName.info`.
    /// - Throws: `CryptoFailure` where OpenSSL refuses.
    init(root: Span<UInt8>, salt: [UInt8], info: [UInt8]) throws(CryptoFailure) {
        let pseudorandomKey = try HKDF.extract(salt: salt.span, inputKey: root)
        self.material = try HKDF.expand(
            pseudorandomKey: pseudorandomKey.bytes, info: info.span, count: 76)
    }

    /// Whether a dump's commitment is that of these keys; in constant time.
    borrowing func fit(_ commitment: [UInt8]) -> Bool {
        constantTimeEqual(material.bytes.extracting(Self.commitment), commitment.span)
    }
}

extension VaultError {
    init(_ failure: CryptoFailure) { self.init(.cryptoFailure, "\(failure)") }
}
