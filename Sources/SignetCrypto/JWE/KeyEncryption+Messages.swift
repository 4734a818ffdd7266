import SignetJSON
import SignetSystem

/// The keys of sealed bodies (RFC 7518, sections 4.3 to 4.6).
extension KeyEncryption {
    /// A content key, and its form in the message.
    struct ProtectedKey: ~Copyable {
        let key: SecretBytes
        let encrypted: Encrypted

        fileprivate init(_ key: consuming SecretBytes, as encrypted: Encrypted) {
            self.key = key
            self.encrypted = encrypted
        }
    }

    /// Makes a content key and protects it.
    static func contentKey(
        for key: CryptoKey, by algorithm: JWEKeyAlgorithm, _ encryption: JWEContentEncryption
    ) throws(KeyError) -> ProtectedKey {
        let count = encryption.keySize.rawValue
        switch algorithm {
        case .direct:
            let secret = try key.withSealingSecret(for: algorithm, encryption) {
                SecretBytes(copying: $0)
            }
            return ProtectedKey(secret, as: Encrypted(bytes: [], ephemeral: nil))
        case .a128KW, .a256KW:
            let content = try random(count)
            let bytes = try key.withSealingSecret(for: algorithm, encryption) {
                secret throws(KeyError) in
                try wrap(content.bytes, by: secret, wraps: true)
            }
            return ProtectedKey(content, as: Encrypted(bytes: bytes, ephemeral: nil))
        case .ecdhES:
            let peer = try key.sealingKey(algorithm)
            let (own, half) = try ephemeral(key.kind)
            let agreed = try agreedKey(
                of: own, with: peer, for: encryption.rawValue, count: count)
            return ProtectedKey(agreed, as: Encrypted(bytes: [], ephemeral: half))
        case .rsaOAEP256, .ecdhESA256KW:
            let peer = try key.sealingKey(algorithm)
            let content = try random(count)
            let encrypted = try encrypt(content, with: peer, kind: key.kind)
            return ProtectedKey(content, as: encrypted)
        }
    }

    /// Returns a content key that was protected.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse`, `malformedKeys` for an `epk` that isn't a public
    ///   key of the key's curve, and `tampered`.
    static func contentKey(
        of encrypted: Encrypted, with key: CryptoKey, by algorithm: JWEKeyAlgorithm,
        _ encryption: JWEContentEncryption, parties: Parties
    ) throws(KeyError) -> SecretBytes {
        switch algorithm {
        case .direct:
            try key.withSealingSecret(for: algorithm, encryption) { SecretBytes(copying: $0) }
        case .a128KW, .a256KW:
            try key.withSealingSecret(for: algorithm, encryption) { secret throws(KeyError) in
                try unwrapped(encrypted.bytes, by: secret, for: encryption)
            }
        case .rsaOAEP256, .ecdhES, .ecdhESA256KW:
            try contentKey(
                of: encrypted, with: own(key, for: algorithm), by: algorithm, encryption,
                parties: parties)
        }
    }

    /// Returns a content key that was protected for an asymmetric key.
    static func contentKey(
        of encrypted: Encrypted, with own: SignatureKey, by algorithm: JWEKeyAlgorithm,
        _ encryption: JWEContentEncryption, parties: Parties = Parties()
    ) throws(KeyError) -> SecretBytes {
        let count = encryption.keySize.rawValue
        guard algorithm.isAgreement else {
            var content = try oaep(own, encrypts: false, encrypted.bytes.span)
            defer { wipe(&content) }
            guard content.count == count else { throw tampered }
            return SecretBytes(copying: content.span)
        }
        let peer = try publicKey(encrypted.ephemeral ?? [:], family: own.family)
        let isDirect = algorithm == .ecdhES
        let agreed: SecretBytes
        do {
            agreed = try agreedKey(
                of: own, with: peer, for: isDirect ? encryption.rawValue : algorithm.rawValue,
                count: isDirect ? count : AESGCM.keyByteCount, parties: parties)
        } catch {
            throw tampered
        }
        if isDirect { return agreed }
        return try unwrapped(encrypted.bytes, by: agreed, for: encryption)
    }

    private static func own(
        _ key: CryptoKey, for algorithm: JWEKeyAlgorithm
    ) throws(KeyError) -> SignatureKey {
        let own = try key.sealingKey(algorithm)
        guard own.isPair else {
            throw KeyError(
                .wrongKeyUse, "the key \(key.shownID) is a public key, expected its private half")
        }
        return own
    }

    // A key whose bytes are borrowed in a scope can't be returned from it.

    private static func encrypt(
        _ content: borrowing SecretBytes, with key: SignatureKey, kind: CryptoKey.Kind
    ) throws(KeyError) -> Encrypted {
        try encrypt(content.bytes, with: key, kind: kind)
    }

    private static func unwrapped(
        _ bytes: [UInt8], by key: borrowing SecretBytes, for encryption: JWEContentEncryption
    ) throws(KeyError) -> SecretBytes {
        try unwrapped(bytes, by: key.bytes, for: encryption)
    }

    private static func unwrapped(
        _ bytes: [UInt8], by key: Span<UInt8>, for encryption: JWEContentEncryption
    ) throws(KeyError) -> SecretBytes {
        guard bytes.count == encryption.keySize.rawValue + 8 else { throw tampered }
        var content = try wrap(bytes.span, by: key, wraps: false)
        defer { wipe(&content) }
        return SecretBytes(copying: content.span)
    }

    static func random(_ count: Int) throws(KeyError) -> SecretBytes {
        do throws(CryptoFailure) {
            return try RandomBytes.secret(count)
        } catch {
            throw KeyError(error)
        }
    }
}
