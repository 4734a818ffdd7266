internal import CSignetOpenSSL
internal import SignetSystem

/// Generates key pairs with OpenSSL and writes them as JWKs.
@safe struct KeyPair: ~Copyable {
    private let pair: OpaquePointer

    private init(owning pair: OpaquePointer?) throws(KeyError) {
        guard let pair = unsafe pair else { throw KeyPair.failure() }
        unsafe self.pair = pair
    }

    /// Generates an Ed25519 pair (RFC 8037, section 2).
    static func ed25519(for key: NewKeyText) throws(KeyError) {
        let pair = unsafe try KeyPair(owning: copenssl_generate_ed25519())
        key.set("kty", to: "OKP")
        key.set("crv", to: "Ed25519")
        key.set("alg", to: "EdDSA")
        key.set("x", to: try pair.octets("pub", count: 32))
        key.set("d", to: try pair.octets("priv", count: 32))
    }

    /// Generates an ECDSA pair on P-256 (RFC 7518, section 6.2). Numbers keep their leading zeros.
    static func p256(for key: NewKeyText) throws(KeyError) {
        try ecdsa(curve: "P-256", algorithm: "ES256", count: 32, for: key)
    }

    /// Generates an ECDSA pair on P-384.
    static func p384(for key: NewKeyText) throws(KeyError) {
        try ecdsa(curve: "P-384", algorithm: "ES384", count: 48, for: key)
    }

    /// Generates an RSA pair of 3072 bits (RFC 7518, section 6.3). Numbers have no leading zeros.
    static func rsa(for key: NewKeyText) throws(KeyError) {
        let pair = unsafe try KeyPair(owning: copenssl_generate_rsa(3072))
        key.set("kty", to: "RSA")
        key.set("alg", to: "PS512")
        for (member, name) in [
            ("n", "n"), ("e", "e"), ("d", "d"), ("p", "rsa-factor1"), ("q", "rsa-factor2"),
            ("dp", "rsa-exponent1"), ("dq", "rsa-exponent2"), ("qi", "rsa-coefficient1"),
        ] { key.set(member, to: try pair.integer(name)) }
    }

    private static func ecdsa(
        curve: String, algorithm: String, count: Int, for key: NewKeyText
    ) throws(KeyError) {
        let pair = unsafe try KeyPair(owning: copenssl_generate_ec(curve))
        key.set("kty", to: "EC")
        key.set("crv", to: curve)
        key.set("alg", to: algorithm)
        key.set("x", to: try pair.integer("qx", width: count))
        key.set("y", to: try pair.integer("qy", width: count))
        key.set("d", to: try pair.integer("priv", width: count))
    }

    private func octets(_ name: String, count: Int) throws(KeyError) -> SecretBytes {
        try unsafe bytes(capacity: count) { target in
            let written = unsafe copenssl_key_octets(pair, name, target.baseAddress, target.count)
            return written == count ? written : 0
        }
    }

    private func integer(_ name: String, width: Int = 0) throws(KeyError) -> SecretBytes {
        try unsafe bytes(capacity: 512) { target in
            unsafe copenssl_key_integer(pair, name, target.baseAddress, target.count, width)
        }
    }

    private func bytes(
        capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) throws(KeyError) -> SecretBytes {
        var written = 0
        let bytes = SecretBytes(count: capacity) { target in
            written = unsafe target.withUnsafeMutableBytes { unsafe write($0) }
        }
        guard written > 0 else { throw KeyPair.failure() }
        return SecretBytes(copying: bytes.bytes.extracting(first: written))
    }

    private static func failure() -> KeyError {
        KeyError(CryptoFailure.library("generating a key pair"))
    }

    deinit { unsafe EVP_PKEY_free(pair) }
}
