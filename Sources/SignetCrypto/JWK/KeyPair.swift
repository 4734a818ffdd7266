internal import CSignetOpenSSL
internal import SignetJSON

/// A key pair that OpenSSL made, and its members as JWK writes them.
@safe struct KeyPair: ~Copyable {
    private let pair: OpaquePointer

    private init(owning pair: OpaquePointer?) throws(KeyError) {
        guard let pair = unsafe pair else { throw KeyPair.failure() }
        unsafe self.pair = pair
    }

    /// Ed25519 (RFC 8037, section 2).
    static func ed25519() throws(KeyError) -> JSONObject {
        let pair = unsafe try KeyPair(owning: copenssl_generate_ed25519())
        return [
            "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA",
            "x": try pair.octets("pub", count: 32), "d": try pair.octets("priv", count: 32),
        ]
    }

    /// ECDSA on P-256 (RFC 7518, section 6.2); numbers keep their leading zeros.
    static func p256() throws(KeyError) -> JSONObject {
        try curve("P-256", "ES256", count: 32)
    }

    /// ECDSA on P-384.
    static func p384() throws(KeyError) -> JSONObject {
        try curve("P-384", "ES384", count: 48)
    }

    /// RSA of 3072 bits (RFC 7518, section 6.3); numbers are as short as can be.
    static func rsa() throws(KeyError) -> JSONObject {
        let pair = unsafe try KeyPair(owning: copenssl_generate_rsa(3072))
        return [
            "kty": "RSA", "alg": "PS512",
            "n": try pair.integer("n"), "e": try pair.integer("e"), "d": try pair.integer("d"),
            "p": try pair.integer("rsa-factor1"), "q": try pair.integer("rsa-factor2"),
            "dp": try pair.integer("rsa-exponent1"), "dq": try pair.integer("rsa-exponent2"),
            "qi": try pair.integer("rsa-coefficient1"),
        ]
    }

    private static func curve(
        _ name: String, _ algorithm: String, count: Int
    ) throws(KeyError) -> JSONObject {
        let pair = unsafe try KeyPair(owning: copenssl_generate_ec(name))
        return [
            "kty": "EC", "crv": .string(name), "alg": .string(algorithm),
            "x": try pair.integer("qx", width: count), "y": try pair.integer("qy", width: count),
            "d": try pair.integer("priv", width: count),
        ]
    }

    private func octets(_ name: String, count: Int) throws(KeyError) -> JSONValue {
        try unsafe text(capacity: count) { target in
            let written = unsafe copenssl_key_octets(pair, name, target.baseAddress, target.count)
            return written == count ? written : 0
        }
    }

    private func integer(_ name: String, width: Int = 0) throws(KeyError) -> JSONValue {
        try unsafe text(capacity: 512) { target in
            unsafe copenssl_key_integer(pair, name, target.baseAddress, target.count, width)
        }
    }

    private func text(
        capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) throws(KeyError) -> JSONValue {
        var written = 0
        let bytes = SecretBytes(count: capacity) { target in
            written = unsafe target.withUnsafeMutableBytes { unsafe write($0) }
        }
        guard written > 0 else { throw KeyPair.failure() }
        return .string(Base64.encode(bytes.bytes.extracting(first: written), as: .url))
    }

    private static func failure() -> KeyError {
        KeyError(
            code: .cryptography, message: CryptoFailure.library("making a key pair").description)
    }

    deinit { unsafe EVP_PKEY_free(pair) }
}
