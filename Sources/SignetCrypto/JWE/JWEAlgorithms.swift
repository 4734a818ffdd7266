/// An algorithm that protects the key of a sealed body (`alg`; RFC 7518, section 4.1).
public enum JWEKeyAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// The shared key encrypts the body itself. Its JWK is of type `oct` with the `alg` of the
    /// content encryption, `A128GCM` or `A256GCM`.
    case direct = "dir"
    /// AES key wrap with a shared key of 16 bytes (`oct`, `alg` `A128KW`).
    case a128KW = "A128KW"
    /// AES key wrap with a shared key of 32 bytes (`oct`, `alg` `A256KW`).
    case a256KW = "A256KW"
    /// Key agreement with an ephemeral key (X25519, P-256 or P-384), whose result encrypts the
    /// body.
    case ecdhES = "ECDH-ES"
    /// Key agreement as `ecdhES`, and AES key wrap with its result.
    case ecdhESA256KW = "ECDH-ES+A256KW"
    /// RSAES-OAEP with SHA-256 and MGF1 with SHA-256.
    case rsaOAEP256 = "RSA-OAEP-256"

    /// Whether one secret both seals and opens.
    package var isSymmetric: Bool {
        switch self {
        case .direct, .a128KW, .a256KW: true
        case .ecdhES, .ecdhESA256KW, .rsaOAEP256: false
        }
    }

    /// Whether an ephemeral key is a part of the header.
    var isAgreement: Bool { self == .ecdhES || self == .ecdhESA256KW }
}

/// An algorithm that encrypts a sealed body (`enc`; RFC 7518, section 5.3), with a nonce of 12
/// bytes and a tag of 16.
public enum JWEContentEncryption: String, Sendable, Hashable, CaseIterable {
    /// AES-128 in Galois/Counter Mode.
    case a128GCM = "A128GCM"
    /// AES-256 in Galois/Counter Mode.
    case a256GCM = "A256GCM"

    /// The size of the content's key.
    var keySize: AESGCM.KeySize { self == .a128GCM ? .bits128 : .bits256 }
}

extension CryptoKey.Kind {
    /// Returns the number of bytes of a secret for sealed bodies, by its `alg`; nil for another
    /// one.
    static func sealingByteCount(algorithm: String?) -> Int? {
        switch algorithm {
        case "A128KW", "A128GCM": 16
        case "A256KW", "A256GCM": 32
        default: nil
        }
    }
}

extension CryptoKey {
    /// Checks that the key may seal or open bodies with an algorithm.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` if it may not.
    package func requireSealing(
        _ algorithm: JWEKeyAlgorithm, _ encryption: JWEContentEncryption
    ) throws(KeyError) {
        if algorithm.isSymmetric {
            try withSealingSecret(for: algorithm, encryption) { _ throws(KeyError) in }
        } else {
            _ = try sealingKey(algorithm)
        }
    }

    /// Calls `body` with the secret for sealed bodies, which it must not keep.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` if the key has another type, size or algorithm, and
    ///   what `body` throws.
    func withSealingSecret<Result: ~Copyable>(
        for algorithm: JWEKeyAlgorithm, _ encryption: JWEContentEncryption,
        _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        let expected = algorithm == .direct ? encryption.rawValue : algorithm.rawValue
        guard kind == .aes, let own = self.algorithm, own == expected else {
            throw wrongKeyUse("expected a key for \(algorithm.rawValue) (kty oct, alg \(expected))")
        }
        return try withSecret(body)
    }

    /// Returns the asymmetric key for sealed bodies.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` if the key has another type, use or algorithm.
    func sealingKey(_ algorithm: JWEKeyAlgorithm) throws(KeyError) -> SignatureKey {
        let kinds: [Kind] = algorithm.isAgreement ? [.x25519, .p256, .p384] : [.rsa]
        guard let key = encryptingKey, kinds.contains(kind), use == nil || use == "enc",
            self.algorithm == nil || self.algorithm == algorithm.rawValue
        else {
            let types = kinds.map(\.name).joined(separator: ", ")
            throw wrongKeyUse(
                "expected a key for \(algorithm.rawValue) (\(types), use enc)")
        }
        return key
    }
}
