internal import CSignetOpenSSL
internal import SignetJSON
internal import SignetSystem

/// A key of OpenSSL, generated or read from DER, that can be written as a JWK.
@safe struct KeyPair: ~Copyable {
    private let pair: OpaquePointer

    /// Takes over a key, which OpenSSL failed to make if it is nil.
    init(owning pair: OpaquePointer?) throws(KeyError) {
        guard let pair = unsafe pair else { throw KeyPair.failure() }
        unsafe self.pair = pair
    }

    /// Generates an Ed25519 pair (RFC 8037, section 2).
    static func ed25519() throws(KeyError) -> JSONObject {
        try unsafe KeyPair(owning: copenssl_generate_ed25519()).generated()
    }

    /// Generates an ECDSA pair on P-256 (RFC 7518, section 6.2). Numbers keep their leading zeros.
    static func p256() throws(KeyError) -> JSONObject {
        try unsafe KeyPair(owning: copenssl_generate_ec("P-256")).generated()
    }

    /// Generates an ECDSA pair on P-384.
    static func p384() throws(KeyError) -> JSONObject {
        try unsafe KeyPair(owning: copenssl_generate_ec("P-384")).generated()
    }

    /// Generates an RSA pair of 3072 bits (RFC 7518, section 6.3). Numbers have no leading zeros.
    static func rsa() throws(KeyError) -> JSONObject {
        try unsafe KeyPair(owning: copenssl_generate_rsa(3072)).generated()
    }

    /// The kind of the key; `unsupported` for one that this package cannot use.
    var kind: Key.Kind {
        if unsafe EVP_PKEY_is_a(pair, "ED25519") == 1 { return .ed25519 }
        if unsafe EVP_PKEY_is_a(pair, "RSA") == 1 { return .rsa }
        guard unsafe EVP_PKEY_is_a(pair, "EC") == 1 else { return .unsupported }
        return switch unsafe copenssl_key_curve(pair) {
        case NID_X9_62_prime256v1: .p256
        case NID_secp384r1: .p384
        default: .unsupported
        }
    }

    /// Returns the key as the members of a JWK, or nil for a key that this package cannot use.
    ///
    /// - Parameter isPrivate: Whether to include the private half, which the key must then have.
    func members(isPrivate: Bool) throws(KeyError) -> JSONObject? {
        var members: JSONObject
        switch kind {
        case .ed25519:
            members = [
                "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA",
                "x": try octets("pub", count: 32),
            ]
            if isPrivate { members["d"] = try octets("priv", count: 32) }
        case .p256:
            members = try ecdsa(
                curve: "P-256", algorithm: "ES256", count: 32, isPrivate: isPrivate)
        case .p384:
            members = try ecdsa(
                curve: "P-384", algorithm: "ES384", count: 48, isPrivate: isPrivate)
        case .rsa:
            members = [
                "kty": "RSA", "alg": "PS512", "n": try integer("n"), "e": try integer("e"),
            ]
            guard isPrivate else { break }
            for (name, parameter) in [
                ("d", "d"), ("p", "rsa-factor1"), ("q", "rsa-factor2"), ("dp", "rsa-exponent1"),
                ("dq", "rsa-exponent2"), ("qi", "rsa-coefficient1"),
            ] {
                members[name] = try integer(parameter)
            }
        default: return nil
        }
        return members
    }

    private func generated() throws(KeyError) -> JSONObject {
        guard let members = try members(isPrivate: true) else { throw KeyPair.failure() }
        return members
    }

    private func ecdsa(
        curve: String, algorithm: String, count: Int, isPrivate: Bool
    ) throws(KeyError) -> JSONObject {
        var members: JSONObject = [
            "kty": "EC", "crv": .string(curve), "alg": .string(algorithm),
            "x": try integer("qx", width: count), "y": try integer("qy", width: count),
        ]
        if isPrivate { members["d"] = try integer("priv", width: count) }
        return members
    }

    private func octets(_ name: String, count: Int) throws(KeyError) -> JSONValue {
        try unsafe text(capacity: count) { target in
            let written = unsafe copenssl_key_octets(pair, name, target.baseAddress, target.count)
            return written == count ? written : 0
        }
    }

    private func integer(_ name: String, width: Int = 0) throws(KeyError) -> JSONValue {
        try unsafe text(capacity: 2048) { target in
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
