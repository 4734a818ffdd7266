import SignetCrypto

/// A hash function that a scheme document can name.
enum HashFunction: String, Sendable, CaseIterable {
    case sha256, sha512, sha1, md5

    /// Whether collisions are known. Only ``SigningScheme/Insecure`` creates a scheme that signs
    /// with such a hash.
    var isBroken: Bool { self == .sha1 || self == .md5 }

    /// The body digest of the same algorithm, if a message can hold one in place of its body.
    var bodyDigest: BodyDigest? {
        switch self {
        case .sha256: .sha256
        case .sha512: .sha512
        case .sha1, .md5: nil
        }
    }

    func hash(_ bytes: Span<UInt8>) throws(CryptoFailure) -> [UInt8] {
        switch self {
        case .sha256: try Digest.of(bytes, using: .sha256)
        case .sha512: try Digest.of(bytes, using: .sha512)
        case .sha1: try InsecureDigest.of(bytes, using: .sha1)
        case .md5: try InsecureDigest.of(bytes, using: .md5)
        }
    }
}

/// The hash function of an HMAC, as a scheme document names it.
enum HMACHash: String, Sendable, CaseIterable {
    case sha256, sha384, sha512
    /// Only ``SigningScheme/Insecure`` creates a scheme that signs with it.
    case sha1

    /// The algorithm; `nil` for SHA-1.
    var digest: DigestAlgorithm? { DigestAlgorithm(rawValue: rawValue) }
}
