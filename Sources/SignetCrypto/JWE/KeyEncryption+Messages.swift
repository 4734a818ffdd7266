import SignetJSON
import SignetSystem

/// The keys of sealed bodies (RFC 7518, sections 4.3 to 4.6).
extension KeyEncryption {
    /// A content key, and its form in the message.
    struct ProtectedKey: ~Copyable {
        let key: SecretBytes
        let encrypted: Encrypted

        fileprivate init(
            _ key: consuming SecretBytes, encrypted: [UInt8] = [], ephemeral: JSONObject? = nil
        ) {
            self.key = key
            self.encrypted = Encrypted(bytes: encrypted, ephemeral: ephemeral)
        }
    }

    /// Makes a content key and protects it.
    static func contentKey(
        for key: CryptoKey, by algorithm: JWEKeyAlgorithm, _ encryption: JWEContentEncryption
    ) throws(KeyError) -> ProtectedKey {
        let count = encryption.keySize.rawValue
        switch algorithm {
        case .direct:
            let secret = try key.withSealingSecret(for: algorithm, encryption) { secret in
                SecretBytes(copying: secret)
            }
            return ProtectedKey(secret)
        case .a128KW, .a256KW:
            let content = try random(count)
            let bytes = try key.withSealingSecret(for: algorithm, encryption) {
                secret throws(KeyError) in
                try wrapped(content, by: secret)
            }
            return ProtectedKey(content, encrypted: bytes)
        case .rsaOAEP256:
            let content = try random(count)
            let bytes = try oaep(key.sealingKey(algorithm), content)
            return ProtectedKey(content, encrypted: bytes)
        case .ecdhES:
            let (own, half) = try ephemeral(key.kind)
            let agreed = try agreedKey(
                of: own, with: key.sealingKey(algorithm), for: encryption.rawValue, count: count)
            return ProtectedKey(agreed, ephemeral: half)
        case .ecdhESA256KW:
            let peer = try key.sealingKey(algorithm)
            let content = try random(count)
            let (own, half) = try ephemeral(key.kind)
            let wrapping = try agreedKey(of: own, with: peer, for: algorithm.rawValue)
            let bytes = try wrapped(content, by: wrapping.bytes)
            return ProtectedKey(content, encrypted: bytes, ephemeral: half)
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
        let count = encryption.keySize.rawValue
        switch algorithm {
        case .direct:
            return try key.withSealingSecret(for: algorithm, encryption) {
                SecretBytes(copying: $0)
            }
        case .a128KW, .a256KW:
            return try key.withSealingSecret(for: algorithm, encryption) {
                secret throws(KeyError) in
                try unwrapped(encrypted.bytes, by: secret)
            }
        case .rsaOAEP256:
            var content = try oaep(
                own(key, for: algorithm), encrypts: false, encrypted.bytes.span)
            defer { wipe(&content) }
            guard content.count == count else { throw tampered }
            return SecretBytes(copying: content.span)
        case .ecdhES, .ecdhESA256KW:
            let own = try own(key, for: algorithm)
            let peer = try publicKey(encrypted.ephemeral ?? [:], family: own.family)
            let isDirect = algorithm == .ecdhES
            let agreed: SecretBytes
            do {
                agreed = try agreedKey(
                    of: own, with: peer, for: (isDirect ? encryption.rawValue : algorithm.rawValue),
                    count: isDirect ? count : AESGCM.keyByteCount, parties: parties)
            } catch {
                throw tampered
            }
            if isDirect { return agreed }
            return try unwrapped(encrypted.bytes, with: agreed)
        }
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

    private static func oaep(
        _ key: SignatureKey, _ content: borrowing SecretBytes
    ) throws(KeyError) -> [UInt8] {
        try oaep(key, encrypts: true, content.bytes)
    }

    private static func wrapped(
        _ content: borrowing SecretBytes, by key: Span<UInt8>
    ) throws(KeyError) -> [UInt8] {
        try wrap(content.bytes, by: key, wraps: true)
    }

    private static func unwrapped(
        _ bytes: [UInt8], with key: borrowing SecretBytes
    ) throws(KeyError) -> SecretBytes {
        try unwrapped(bytes, by: key.bytes)
    }

    private static func unwrapped(
        _ bytes: [UInt8], by key: Span<UInt8>
    ) throws(KeyError) -> SecretBytes {
        var content = try wrap(bytes.span, by: key, wraps: false)
        defer { wipe(&content) }
        return SecretBytes(copying: content.span)
    }

    private static func random(_ count: Int) throws(KeyError) -> SecretBytes {
        do throws(CryptoFailure) {
            return try RandomBytes.secret(count)
        } catch {
            throw KeyError(error)
        }
    }
}
