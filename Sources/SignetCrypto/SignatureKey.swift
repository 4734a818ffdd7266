internal import CSignetOpenSSL
internal import SignetSystem

/// The asymmetric signature algorithms of RFC 9421, section 3.3.
package enum SignatureAlgorithm: Sendable, Hashable, CaseIterable {
    case ed25519
    case ecdsaP256SHA256
    case ecdsaP384SHA384
    /// RSASSA-PSS with SHA-512, MGF1 with SHA-512 and a salt of 64 bytes.
    case rsaPSSSHA512
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rsaPKCS1SHA256

    var scheme: copenssl_scheme {
        switch self {
        case .ed25519: copenssl_ed25519
        case .ecdsaP256SHA256: copenssl_ecdsa_sha256
        case .ecdsaP384SHA384: copenssl_ecdsa_sha384
        case .rsaPSSSHA512: copenssl_rsa_pss_sha512
        case .rsaPKCS1SHA256: copenssl_rsa_pkcs1_sha256
        }
    }

    /// The kind of key that it takes.
    var family: SignatureKey.Family {
        switch self {
        case .ed25519: .ed25519
        case .ecdsaP256SHA256: .p256
        case .ecdsaP384SHA384: .p384
        case .rsaPSSSHA512, .rsaPKCS1SHA256: .rsa
        }
    }
}

/// A public key, or a pair, that signs and verifies; shared between threads.
@safe package final class SignatureKey: Sendable {
    enum Family: Sendable {
        case ed25519, p256, p384, rsa

        /// The members of a JWK that hold its numbers, in the order in which they are given.
        var members: [String] {
            switch self {
            case .ed25519: ["x", "d"]
            case .p256, .p384: ["x", "y", "d"]
            case .rsa: ["n", "e", "d", "p", "q", "dp", "dq", "qi"]
            }
        }

        /// Bytes of each number; nil where they differ from key to key.
        var size: Int? {
            switch self {
            case .ed25519, .p256: 32
            case .p384: 48
            case .rsa: nil
            }
        }
    }

    // Never changed after `init`; OpenSSL counts references and uses a key from several threads.
    private nonisolated(unsafe) let key: OpaquePointer
    private let family: Family
    /// Whether it has the half that signs.
    package let isPair: Bool
    /// Bytes of a signature; ECDSA's are r and s side by side.
    package let signatureByteCount: Int

    /// Makes a key of its numbers, big-endian and one behind the other, in the order of the family's
    /// members; a number that is not there has a count of 0.
    ///
    /// - Throws: `CryptoFailure` for numbers of the wrong size, a point that is not on the curve, and
    ///   halves that do not belong together.
    init(
        _ family: Family, numbers: borrowing SecretBytes, counts: [Int]
    ) throws(CryptoFailure) {
        let size = family.size ?? 0
        let secretIndex = family.members.firstIndex(of: "d") ?? 0
        guard counts.count == family.members.count, counts.reduce(0, +) == numbers.count,
            counts.indices.allSatisfy({ index in
                counts[index] == size || (index >= secretIndex && counts[index] == 0)
                    || family.size == nil && (0...2048).contains(counts[index])
            })
        else { throw CryptoFailure(operation: "key", reason: "a number of the wrong size") }
        let isPair = counts[secretIndex] != 0
        let sizes = counts.map { Int32($0) }
        let made: OpaquePointer? = unsafe numbers.bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            switch family {
            case .ed25519:
                return unsafe copenssl_ed25519_key(base, isPair ? base + 32 : nil)
            case .p256, .p384:
                return unsafe copenssl_ec_key(
                    family == .p256 ? "P-256" : "P-384", base, base + size,
                    isPair ? base + 2 * size : nil, Int32(size))
            case .rsa:
                return unsafe copenssl_rsa_key(
                    base.assumingMemoryBound(to: UInt8.self), sizes)
            }
        }
        guard let key = unsafe made else { throw CryptoFailure.library("key") }
        unsafe self.key = key
        self.family = family
        self.isPair = isPair
        self.signatureByteCount =
            switch family {
            case .ed25519: 64
            case .p256, .p384: 2 * size
            case .rsa: Int(unsafe copenssl_key_byte_count(key))
            }
    }

    /// Signs a message.
    ///
    /// - Returns: `signatureByteCount` bytes.
    /// - Throws: `CryptoFailure` for a public key, and for an algorithm of another kind of key.
    package func sign(
        _ message: Span<UInt8>, by algorithm: SignatureAlgorithm
    ) throws(CryptoFailure) -> [UInt8] {
        try demand(algorithm)
        guard isPair else {
            throw CryptoFailure(operation: "sign", reason: "a public key cannot sign")
        }
        var signature = [UInt8](repeating: 0, count: signatureByteCount)
        let count = signature.count
        let status = unsafe message.withUnsafeBytes { message in
            unsafe signature.withUnsafeMutableBytes { signature in
                unsafe copenssl_sign(
                    key, algorithm.scheme, message.baseAddress, message.count,
                    signature.baseAddress, count)
            }
        }
        guard status == 1 else { throw CryptoFailure.library("sign") }
        return signature
    }

    /// Whether a signature is this key's of that message; one of another length is not.
    ///
    /// - Throws: `CryptoFailure` for an algorithm of another kind of key.
    package func verifies(
        _ signature: Span<UInt8>, of message: Span<UInt8>, by algorithm: SignatureAlgorithm
    ) throws(CryptoFailure) -> Bool {
        try demand(algorithm)
        guard signature.count == signatureByteCount else { return false }
        let status = unsafe message.withUnsafeBytes { message in
            unsafe signature.withUnsafeBytes { signature in
                unsafe copenssl_verify(
                    key, algorithm.scheme, message.baseAddress, message.count,
                    signature.baseAddress, signature.count)
            }
        }
        guard status >= 0 else { throw CryptoFailure.library("verify") }
        if status == 0 { copenssl_forget_errors() }
        return status == 1
    }

    private func demand(_ algorithm: SignatureAlgorithm) throws(CryptoFailure) {
        guard algorithm.family == family else {
            throw CryptoFailure(
                operation: "\(algorithm)", reason: "the key is of another kind")
        }
    }

    deinit { unsafe EVP_PKEY_free(key) }
}
