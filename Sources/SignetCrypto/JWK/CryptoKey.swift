import SignetBase
public import SignetJSON
import SignetSystem

/// A key of a JWK Set, bound to an algorithm, a use and a period of validity (RFC 7517, section 4).
///
/// Its secret is never printed, and is wiped when the key is destroyed.
///
/// ```swift
/// let keys = try KeySource.file("keys.json").load()
/// let key = try keys.key(id: "orders-2026")
/// try key.requireUsable()
/// print(key)  // CryptoKey("orders-2026", hmac, redacted)
/// print(key.kind, key.algorithm ?? "no algorithm", key.isPrivate)
/// ```
public final class CryptoKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The kind of a key. Later versions may add more.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        enum Value: String, CaseIterable {
            case hmac, ed25519, x25519, p256, p384, rsa, vault, aes, unsupported
        }
        let value: Value

        /// A secret for HMAC (`oct`).
        public static let hmac = Kind(value: .hmac)
        /// Ed25519 (`OKP`).
        public static let ed25519 = Kind(value: .ed25519)
        /// X25519 (`OKP`), for the encryption of key sets alone.
        public static let x25519 = Kind(value: .x25519)
        /// ECDSA on P-256 (`EC`).
        public static let p256 = Kind(value: .p256)
        /// ECDSA on P-384 (`EC`).
        public static let p384 = Kind(value: .p384)
        /// RSA of 2048 bits or more.
        public static let rsa = Kind(value: .rsa)
        /// The root key of a vault: 32 bytes (`oct`, use `enc`).
        public static let vault = Kind(value: .vault)
        /// A secret for sealed bodies (`oct`, `alg` `A128KW`, `A256KW`, `A128GCM` or `A256GCM`).
        public static let aes = Kind(value: .aes)
        /// A key that RFC 7517 allows but this package cannot use.
        public static let unsupported = Kind(value: .unsupported)

        /// The kinds that can be generated, in the order of the tool's help.
        public static let all: [Kind] = [
            .hmac, .ed25519, .x25519, .p256, .p384, .rsa, .vault, .aes,
        ]

        /// The name, as for `signet keys new --type`.
        public var name: String { value.rawValue }

        /// The name.
        public var description: String { name }

        /// Returns the kind with a name, or nil.
        public init?(name: String) {
            guard let kind = Kind.all.first(where: { $0.name == name }) else { return nil }
            self = kind
        }

        init(value: Value) { self.value = value }
    }

    /// `kid`, or the thumbprint of a public key without it. Ids are compared as UTF-8 bytes.
    public let id: String
    /// The kind of the key.
    public let kind: Kind
    /// `alg`, such as `HS256`, or nil if it is missing.
    public let algorithm: String?
    /// `use`, such as `sig` or `enc`, or nil if it is missing.
    public let use: String?
    /// `nbf`: the first second of its validity, in Unix seconds.
    public let notBefore: Int64?
    /// `exp`: the first second after its validity, in Unix seconds.
    public let expires: Int64?
    /// `revoked`.
    public let isRevoked: Bool
    /// Whether the key includes secret bytes or a private half.
    public let isPrivate: Bool
    /// The public half as a JWK, or nil if the key has none.
    public let publicHalf: JSONObject?

    private let secret: SecretBytes?
    private let mac: HMACKey?
    private let signature: SignatureKey?

    init(_ parts: consuming KeyParts) {
        id = parts.id
        kind = parts.kind
        algorithm = parts.algorithm
        use = parts.use
        notBefore = parts.notBefore
        expires = parts.expires
        isRevoked = parts.isRevoked
        isPrivate = parts.isPrivate
        publicHalf = parts.publicHalf
        mac = parts.mac
        signature = parts.signature
        let count = parts.secretByteCount
        let isShort = parts.kind == .hmac && count < Self.minimumHMACByteCount
        shortHMACByteCount = isShort ? count : nil
        secret = parts.secret
    }

    /// Checks that the key is valid at a time and not revoked.
    ///
    /// - Parameter now: Unix seconds; nil means now.
    /// - Throws: `KeyError` with `keyRevoked`, `keyNotYetValid` or `keyExpired`.
    public func requireUsable(at now: Int64? = nil) throws(KeyError) {
        let now = now ?? UnixTime.now()
        if isRevoked {
            throw KeyError(.keyRevoked, "the key \(shownID) is revoked")
        }
        if let notBefore, now < notBefore {
            throw KeyError(
                .keyNotYetValid,
                "the key \(shownID) is valid from \(UnixTime.rfc3339(notBefore)), "
                    + "now it is \(UnixTime.rfc3339(now))")
        }
        if let expires, now >= expires {
            throw KeyError(
                .keyExpired,
                "the key \(shownID) expired at \(UnixTime.rfc3339(expires)), "
                    + "now it is \(UnixTime.rfc3339(now))")
        }
    }

    /// The minimum number of bytes of an HMAC key for the schemes `rfc9421` and `salted-hmac-v1`.
    package static let minimumHMACByteCount = 16

    /// The number of bytes of an HMAC key that is too short for those schemes, or nil for any other
    /// key.
    package let shortHMACByteCount: Int?

    /// The id and the kind; never a byte of the key.
    public var description: String { "CryptoKey(\(shownID), \(kind.name), redacted)" }

    /// No children, so that reflection and `dump` show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }

    var shownID: String { "\"\(printable(id))\"" }
}

extension CryptoKey {
    /// Returns the key for HMAC, with SHA-256 for `HS256` and SHA-512 for `HS512`. All callers
    /// share it.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` for any other key.
    package func hmacKey() throws(KeyError) -> HMACKey {
        guard let mac else {
            throw wrongKeyUse("expected a key for HMAC (kty oct, alg HS256 or HS512, use sig)")
        }
        return mac
    }

    /// Returns the key for signatures and its algorithm (RFC 9421, section 3.3).
    ///
    /// If `alg` is missing, the curve implies `Ed25519`, `ES256` or `ES384`. An RSA key must have
    /// the `alg` `PS512` or `RS256`.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` for any other key.
    package func signatureKey() throws(KeyError) -> (SignatureKey, SignatureAlgorithm) {
        guard let signature, use == nil || use == "sig" else {
            throw wrongKeyUse("expected a key for signatures (kty OKP, EC or RSA, use sig)")
        }
        switch (kind, algorithm) {
        case (.ed25519, nil), (.ed25519, "Ed25519"), (.ed25519, "EdDSA"):
            return (signature, .ed25519)
        case (.p256, nil), (.p256, "ES256"): return (signature, .ecdsaP256SHA256)
        case (.p384, nil), (.p384, "ES384"): return (signature, .ecdsaP384SHA384)
        case (.rsa, "PS512"): return (signature, .rsaPSSSHA512)
        case (.rsa, "RS256"): return (signature, .rsaPKCS1SHA256)
        default: throw wrongKeyUse("expected alg Ed25519, EdDSA, ES256, ES384, PS512 or RS256")
        }
    }

    /// Returns the public half as a SubjectPublicKeyInfo in DER, or nil if the key has none.
    package func subjectPublicKeyInfo() throws(CryptoFailure) -> [UInt8]? {
        try signature?.subjectPublicKeyInfo()
    }

    /// The key's numbers, if it's asymmetric; what it may be used for is checked by the caller.
    var encryptingKey: SignatureKey? { signature }

    /// Returns the key with which other keys are encrypted for its owner.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` for any other key.
    func encryptionKey() throws(KeyError) -> SignatureKey {
        guard let signature, let expected = kind.encryptionAlgorithm, use == nil || use == "enc",
            algorithm == nil || algorithm == expected
        else {
            throw wrongKeyUse(
                "expected a key for encryption (X25519, P-256, P-384 or RSA, use enc)")
        }
        return signature
    }

    /// Calls `body` with a vault's root key, 32 bytes. `body` must not keep it.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` if this isn't a vault's root key, and what `body`
    ///   throws.
    package func withVaultRoot<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        guard kind == .vault, secret != nil else {
            throw wrongKeyUse("expected a vault root (kty oct, use enc, 32 bytes)")
        }
        return try withSecret(body)
    }

    /// Calls `body` with the bytes of `k`, for schemes that derive a key from a partner's secret.
    /// `body` must not keep them.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` for a vault's root key and for keys that aren't
    ///   `oct`, and what `body` throws.
    package func withSigningSecret<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        guard kind == .hmac, secret != nil else {
            throw wrongKeyUse("expected a key for HMAC (kty oct, use sig)")
        }
        return try withSecret(body)
    }

    func withSecret<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        switch secret {
        case .some(let bytes): return try body(bytes.bytes)
        case .none: throw wrongKeyUse("expected a key with a secret")
        }
    }

    func wrongKeyUse(_ expected: String) -> KeyError {
        let found =
            "kind \(kind.name), alg \(printable(algorithm ?? "none")), "
            + "use \(printable(use ?? "none"))"
        return KeyError(.wrongKeyUse, "the key \(shownID) is bound to \(found); \(expected)")
    }
}
