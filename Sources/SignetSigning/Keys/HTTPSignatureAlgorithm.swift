import SignetBase
import SignetCrypto

/// An algorithm of RFC 9421, section 3.3, with its name in IANA's registry.
///
/// The key determines the algorithm. A message whose `alg` contradicts the key is refused.
public struct HTTPSignatureAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// The registered name.
    public let name: String

    /// HMAC with SHA-256 (JWK `alg` HS256).
    public static let hmacSHA256 = Self("hmac-sha256")
    /// Ed25519 (EdDSA).
    public static let ed25519 = Self(SignatureAlgorithm.ed25519)
    /// ECDSA on P-256 with SHA-256, r followed by s (ES256).
    public static let ecdsaP256SHA256 = Self(SignatureAlgorithm.ecdsaP256SHA256)
    /// ECDSA on P-384 with SHA-384, r followed by s (ES384).
    public static let ecdsaP384SHA384 = Self(SignatureAlgorithm.ecdsaP384SHA384)
    /// RSASSA-PSS with SHA-512 and a salt of 64 bytes (PS512).
    public static let rsaPSSSHA512 = Self(SignatureAlgorithm.rsaPSSSHA512)
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RS256).
    public static let rsaPKCS1SHA256 = Self(SignatureAlgorithm.rsaPKCS1SHA256)

    /// All six, in the order of RFC 9421, section 6.2.2.
    public static let all = [
        rsaPSSSHA512, rsaPKCS1SHA256, hmacSHA256, ecdsaP256SHA256, ecdsaP384SHA384, ed25519,
    ]

    private init(_ name: String) { self.name = name }

    init(_ algorithm: SignatureAlgorithm) { self.init(algorithm.rawValue) }

    /// Creates the algorithm with a registered name; nil for an unknown name.
    public init?(name: String) {
        guard let known = Self.all.first(where: { sameBytes($0.name, name) })
        else { return nil }
        self = known
    }

    /// The registered name.
    public var description: String { name }

    /// The possible lengths of a signature in bytes. An RSA signature is as long as the modulus.
    var byteCounts: ClosedRange<Int> {
        switch self {
        case .hmacSHA256: 32...32
        case .ed25519, .ecdsaP256SHA256: 64...64
        case .ecdsaP384SHA384: 96...96
        default: 256...2048
        }
    }
}

/// A key that is bound to one algorithm.
enum RFC9421Key: Sendable {
    case hmac(HMACKey)
    case asymmetric(SignatureKey, SignatureAlgorithm)

    var algorithm: HTTPSignatureAlgorithm {
        switch self {
        case .hmac: .hmacSHA256
        case .asymmetric(_, let algorithm): HTTPSignatureAlgorithm(algorithm)
        }
    }

    func sign(_ base: [UInt8]) throws(SigningError) -> [UInt8] {
        try convertingCryptoFailure { () throws(CryptoFailure) in
            switch self {
            case .hmac(let key): try key.tag(of: base.span)
            case .asymmetric(let key, let algorithm): try key.sign(base.span, by: algorithm)
            }
        }
    }

    /// Whether a signature is valid for a base. Compares a MAC in constant time.
    func verifies(_ signature: [UInt8], of base: [UInt8]) throws(SigningError) -> Bool {
        try convertingCryptoFailure { () throws(CryptoFailure) in
            switch self {
            case .hmac(let key): constantTimeEqual(signature, try key.tag(of: base.span))
            case .asymmetric(let key, let algorithm):
                try key.verifies(signature.span, of: base.span, by: algorithm)
            }
        }
    }
}
