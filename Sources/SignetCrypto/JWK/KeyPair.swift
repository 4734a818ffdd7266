internal import CSignetOpenSSL
internal import SignetJSON
internal import SignetSystem

/// Generates key pairs with OpenSSL and writes them as JWKs.
@safe struct KeyPair: ~Copyable {
    private let pair: OpaquePointer

    private init(owning pair: OpaquePointer?) throws(KeyError) {
        guard let pair = unsafe pair else { throw KeyPair.failure() }
        unsafe self.pair = pair
    }

    /// Generates an Ed25519 pair (RFC 8037, section 2).
    static func ed25519() throws(KeyError) -> JSONObject {
        let pair = unsafe try KeyPair(owning: copenssl_generate_ed25519())
        return [
            "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA",
            "x": try pair.octets("pub", count: 32), "d": try pair.octets("priv", count: 32),
        ]
    }

    /// Generates an ECDSA pair on P-256 (RFC 7518, section 6.2). Numbers keep their leading zeros.
    static func p256() throws(KeyError) -> JSONObject {
        try ecdsa(curve: "P-256", algorithm: "ES256", count: 32)
    }

    /// Generates an ECDSA pair on P-384.
    static func p384() throws(KeyError) -> JSONObject {
        try ecdsa(curve: "P-384", algorithm: "ES384", count: 48)
    }

    /// Generates an RSA pair of 3072 bits (RFC 7518, section 6.3). Numbers have no leading zeros.
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

    private static func ecdsa(
        curve: String, algorithm: String, count: Int
    ) throws(KeyError) -> JSONObject {
        let pair = unsafe try KeyPair(owning: copenssl_generate_ec(curve))
        return [
            "kty": "EC", "crv": .string(curve), "alg": .string(algorithm),
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
        KeyError(CryptoFailure.library("generating a key pair"))
    }

    deinit { unsafe EVP_PKEY_free(pair) }
}
