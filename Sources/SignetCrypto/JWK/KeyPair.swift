import CSignetOpenSSL
import SignetSystem

/// A key of OpenSSL, generated or read from DER, that can be written as a JWK.
@safe struct KeyPair: ~Copyable {
    private let pair: OpaquePointer

    /// Takes ownership of a key. Nil means that OpenSSL failed to create it.
    init(owning pair: OpaquePointer?) throws(KeyError) {
        guard let pair = unsafe pair else { throw KeyPair.failure() }
        unsafe self.pair = pair
    }

    /// Generates a pair: Ed25519, X25519, ECDSA on P-256 or P-384, or RSA of 3072 bits.
    init(generating kind: CryptoKey.Kind) throws(KeyError) {
        switch kind {
        case .ed25519, .x25519:
            try unsafe self.init(owning: signet_openssl_generate_25519(kind.name.uppercased()))
        case .p256: try unsafe self.init(owning: signet_openssl_generate_ec("P-256"))
        case .p384: try unsafe self.init(owning: signet_openssl_generate_ec("P-384"))
        case .rsa: try unsafe self.init(owning: signet_openssl_generate_rsa(3072))
        default:
            throw KeyError(.wrongKeyUse, "keys of kind \(kind) cannot be generated")
        }
    }

    /// The kind of the key; `unsupported` for one that this package cannot use.
    var kind: CryptoKey.Kind {
        if unsafe EVP_PKEY_is_a(pair, "ED25519") == 1 { return .ed25519 }
        if unsafe EVP_PKEY_is_a(pair, "X25519") == 1 { return .x25519 }
        if unsafe EVP_PKEY_is_a(pair, "RSA") == 1 { return .rsa }
        if isPSS {
            // Such a key may be restricted to other digests or a longer salt.
            return unsafe signet_openssl_allows(pair, signet_openssl_rsa_pss_sha512) == 1
                ? .rsa : .unsupported
        }
        guard unsafe EVP_PKEY_is_a(pair, "EC") == 1 else { return .unsupported }
        return switch unsafe signet_openssl_key_curve(pair) {
        case NID_X9_62_prime256v1: .p256
        case NID_secp384r1: .p384
        default: .unsupported
        }
    }

    /// Whether it is an RSA key for RSASSA-PSS alone (RFC 4055, section 1.2).
    private var isPSS: Bool { unsafe EVP_PKEY_is_a(pair, "RSA-PSS") == 1 }

    /// The values of `alg` that the key allows, the default first.
    var algorithms: [String] { isPSS ? ["PS512"] : kind.algorithms }

    /// Writes the members of a JWK: those of RFC 8037, section 2, or RFC 7518, sections 6.2 and
    /// 6.3.
    ///
    /// - Parameters:
    ///   - key: The text, which already has the members `kid` and `use`.
    ///   - algorithm: `alg`.
    ///   - isPrivate: Whether to write the private half, which the key must then have.
    /// - Throws: `KeyError` with `malformedKeys` for an unsupported key.
    func write(to key: NewKeyText, algorithm: String, isPrivate: Bool) throws(KeyError) {
        switch kind {
        case .ed25519, .x25519:
            key.set("kty", to: "OKP")
            key.set("crv", to: kind == .ed25519 ? "Ed25519" : "X25519")
            key.set("alg", to: algorithm)
            key.set("x", to: try octets("pub", count: 32))
            if isPrivate { key.set("d", to: try octets("priv", count: 32)) }
        case .p256, .p384:
            // Numbers keep their leading zeros.
            let count = kind == .p256 ? 32 : 48
            key.set("kty", to: "EC")
            key.set("crv", to: kind == .p256 ? "P-256" : "P-384")
            key.set("alg", to: algorithm)
            key.set("x", to: try integer("qx", width: count))
            key.set("y", to: try integer("qy", width: count))
            if isPrivate { key.set("d", to: try integer("priv", width: count)) }
        case .rsa:
            // Numbers have no leading zeros.
            key.set("kty", to: "RSA")
            key.set("alg", to: algorithm)
            key.set("n", to: try integer("n"))
            key.set("e", to: try integer("e"))
            guard isPrivate else { break }
            for (member, name) in [
                ("d", "d"), ("p", "rsa-factor1"), ("q", "rsa-factor2"), ("dp", "rsa-exponent1"),
                ("dq", "rsa-exponent2"), ("qi", "rsa-coefficient1"),
            ] { key.set(member, to: try integer(name)) }
        default:
            throw KeyParts.malformed(
                isPSS
                    ? "found an RSA key that is restricted to another digest or salt than those of "
                        + "PS512, expected one for PS512"
                    : "found a key that is neither Ed25519, X25519, P-256, P-384 nor RSA, expected one of them"
            )
        }
    }

    private func octets(_ name: String, count: Int) throws(KeyError) -> SecretBytes {
        try unsafe bytes(capacity: count) { target in
            let written = unsafe signet_openssl_key_octets(
                pair, name, target.baseAddress, target.count)
            return written == count ? written : 0
        }
    }

    private func integer(_ name: String, width: Int = 0) throws(KeyError) -> SecretBytes {
        try unsafe bytes(capacity: 2048) { target in
            unsafe signet_openssl_key_integer(pair, name, target.baseAddress, target.count, width)
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
