import CSignetOpenSSL
import SignetSystem

/// The asymmetric signature algorithms of RFC 9421, section 3.3, with their names.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    case ed25519
    case ecdsaP256SHA256 = "ecdsa-p256-sha256"
    case ecdsaP384SHA384 = "ecdsa-p384-sha384"
    /// RSASSA-PSS with SHA-512, MGF1 with SHA-512 and a salt of 64 bytes.
    case rsaPSSSHA512 = "rsa-pss-sha512"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rsaPKCS1SHA256 = "rsa-v1_5-sha256"

    var scheme: signet_openssl_scheme {
        switch self {
        case .ed25519: signet_openssl_ed25519
        case .ecdsaP256SHA256: signet_openssl_ecdsa_sha256
        case .ecdsaP384SHA384: signet_openssl_ecdsa_sha384
        case .rsaPSSSHA512: signet_openssl_rsa_pss_sha512
        case .rsaPKCS1SHA256: signet_openssl_rsa_pkcs1_sha256
        }
    }

    /// The kind of key that it needs.
    var family: SignatureKey.Family {
        switch self {
        case .ed25519: .ed25519
        case .ecdsaP256SHA256: .p256
        case .ecdsaP384SHA384: .p384
        case .rsaPSSSHA512, .rsaPKCS1SHA256: .rsa
        }
    }
}

/// A public key or a key pair for signatures, or for the encryption of other keys. Threads share
/// it.
@safe package final class SignatureKey: Sendable {
    /// A kind of key, with the name that `CryptoKey.Kind` gives it.
    enum Family: String, Sendable {
        case ed25519, x25519, p256, p384, rsa

        /// The JWK members of its numbers, in the order in which `init` expects them.
        var members: [String] {
            switch self {
            case .ed25519, .x25519: ["x", "d"]
            case .p256, .p384: ["x", "y", "d"]
            case .rsa: ["n", "e", "d", "p", "q", "dp", "dq", "qi"]
            }
        }

        /// The number of bytes of each number, or nil if it differs from key to key.
        var size: Int? {
            switch self {
            case .ed25519, .x25519, .p256: 32
            case .p384: 48
            case .rsa: nil
            }
        }
    }

    // Not changed after `init`; OpenSSL allows several threads to use a key.
    nonisolated(unsafe) let key: OpaquePointer
    let family: Family
    /// Whether the key includes its private half.
    package let isPair: Bool
    /// The number of bytes in a signature, 0 for X25519. An ECDSA signature is r followed by s.
    package let signatureByteCount: Int

    /// Creates a key from its numbers.
    ///
    /// - Parameters:
    ///   - family: The kind of key.
    ///   - numbers: The numbers, big-endian and concatenated, in the order of `family.members`.
    ///   - counts: The number of bytes of each number, 0 for a missing one.
    /// - Throws: `CryptoFailure` if a number has the wrong size, the point is not on the curve, or
    ///   the halves do not match.
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
        else { throw CryptoFailure(operation: "key", reason: "a number has the wrong size") }
        let isPair = counts[secretIndex] != 0
        let sizes = counts.map { Int32($0) }
        let made: OpaquePointer? = unsafe numbers.bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            switch family {
            case .ed25519, .x25519:
                return unsafe signet_openssl_25519_key(
                    family.rawValue.uppercased(), base, isPair ? base + 32 : nil)
            case .p256, .p384:
                return unsafe signet_openssl_ec_key(
                    family == .p256 ? "P-256" : "P-384", base, base + size,
                    isPair ? base + 2 * size : nil, Int32(size))
            case .rsa:
                return unsafe signet_openssl_rsa_key(
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
            case .x25519: 0
            case .p256, .p384: 2 * size
            case .rsa: Int(unsafe EVP_PKEY_get_size(key))
            }
    }

    /// Returns the public half as a SubjectPublicKeyInfo in DER.
    func subjectPublicKeyInfo() throws(CryptoFailure) -> [UInt8] {
        var count: Int32 = 0
        guard let der = unsafe signet_openssl_key_spki(key, &count) else {
            throw CryptoFailure.library("public key")
        }
        defer { unsafe signet_openssl_free(der) }
        return unsafe Array(UnsafeBufferPointer(start: der, count: Int(count)))
    }

    /// Signs a message.
    ///
    /// - Returns: `signatureByteCount` bytes.
    /// - Throws: `CryptoFailure` if this is a public key, or the algorithm needs another kind of
    ///   key.
    package func sign(
        _ message: Span<UInt8>, by algorithm: SignatureAlgorithm
    ) throws(CryptoFailure) -> [UInt8] {
        try require(algorithm)
        guard isPair else {
            throw CryptoFailure(operation: "sign", reason: "a public key cannot sign")
        }
        var signature = [UInt8](repeating: 0, count: signatureByteCount)
        let count = signature.count
        let status = unsafe message.withUnsafeBytes { message in
            unsafe signature.withUnsafeMutableBytes { signature in
                unsafe signet_openssl_sign(
                    key, algorithm.scheme, message.baseAddress, message.count,
                    signature.baseAddress, count)
            }
        }
        guard status == 1 else { throw CryptoFailure.library("sign") }
        return signature
    }

    /// Returns whether the signature is valid; one of the wrong length is not.
    ///
    /// - Throws: `CryptoFailure` if the algorithm needs another kind of key.
    package func verifies(
        _ signature: Span<UInt8>, of message: Span<UInt8>, by algorithm: SignatureAlgorithm
    ) throws(CryptoFailure) -> Bool {
        try require(algorithm)
        guard signature.count == signatureByteCount else { return false }
        let status = unsafe message.withUnsafeBytes { message in
            unsafe signature.withUnsafeBytes { signature in
                unsafe signet_openssl_verify(
                    key, algorithm.scheme, message.baseAddress, message.count,
                    signature.baseAddress, signature.count)
            }
        }
        guard status >= 0 else { throw CryptoFailure.library("verify") }
        if status == 0 { signet_openssl_forget_errors() }
        return status == 1
    }

    private func require(_ algorithm: SignatureAlgorithm) throws(CryptoFailure) {
        guard algorithm.family == family else {
            throw CryptoFailure(
                operation: "\(algorithm)",
                reason: "found a key of kind \(family), expected \(algorithm.family)")
        }
    }

    deinit { unsafe EVP_PKEY_free(key) }
}
