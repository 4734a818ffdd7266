import SignetCrypto
internal import SignetSystem

/// The keys of one dump: content key, nonce and commitment, 76 bytes from HKDF-SHA256 (RFC 5869).
struct DumpKeys: ~Copyable {
    static let contentKey = 0..<32
    static let nonce = 32..<44
    static let commitment = 44..<76
    static let byteCount = 76

    let material: SecretBytes

    /// Whether a dump's commitment is that of these keys; in constant time.
    borrowing func fit(_ commitment: [UInt8]) -> Bool {
        constantTimeEqual(material.bytes.extracting(Self.commitment), commitment.span)
    }
}

extension VaultError {
    init(_ failure: CryptoFailure) { self.init(.cryptoFailure, "\(failure)") }
}
