public import SignetJSON

/// One key of a JWK Set, bound to its algorithm, its use and its time (RFC 7517, section 4).
///
/// It never prints, and its secret bytes are wiped when it goes.
public final class Key: Sendable, CustomStringConvertible, CustomReflectable {
    /// What a key is for; more kinds may come.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        enum Value: String, CaseIterable {
            case hmac, ed25519, p256, p384, rsa, vault, unsupported
        }
        let value: Value

        /// A secret for message authentication (`oct`).
        public static let hmac = Kind(value: .hmac)
        /// Ed25519 (`OKP`).
        public static let ed25519 = Kind(value: .ed25519)
        /// ECDSA on P-256 (`EC`).
        public static let p256 = Kind(value: .p256)
        /// ECDSA on P-384 (`EC`).
        public static let p384 = Kind(value: .p384)
        /// RSA of 2048 bits or more.
        public static let rsa = Kind(value: .rsa)
        /// A vault's root: 32 bytes (`oct`, use `enc`).
        public static let vault = Kind(value: .vault)
        /// A key that RFC 7517 allows and this package cannot use.
        public static let unsupported = Kind(value: .unsupported)

        /// The kinds that can be made, in the order in which help names them.
        public static let all: [Kind] = [.hmac, .ed25519, .p256, .p384, .rsa, .vault]

        /// The name, as `signet keys new --type` takes it.
        public var name: String { value.rawValue }

        /// The same as `name`.
        public var description: String { name }

        /// The kind of a name, or nil.
        public init?(name: String) {
            guard let kind = Kind.all.first(where: { $0.name == name }) else { return nil }
            self = kind
        }

        init(value: Value) { self.value = value }
    }

    /// `kid`. Ids compare as UTF-8 bytes.
    public let id: String
    /// What the key is for.
    public let kind: Kind
    /// `alg`, such as `HS256`; a key without one says so with nil.
    public let algorithm: String?
    /// `use`: `sig` or `enc`, or nil.
    public let use: String?
    /// `nbf`: the first second of its use, in Unix seconds.
    public let notBefore: Int64?
    /// `exp`: the second at which its use is over, in Unix seconds.
    public let expires: Int64?
    /// `revoked`.
    public let isRevoked: Bool
    /// Whether there is a half that must not be seen.
    public let isPrivate: Bool

    private let secret: SecretBytes?
    private let mac: HMACKey?
    private let signature: SignatureKey?
    private let publicMembers: JSONObject?

    init(_ parts: consuming KeyParts) {
        id = parts.id
        kind = parts.kind
        algorithm = parts.algorithm
        use = parts.use
        notBefore = parts.notBefore
        expires = parts.expires
        isRevoked = parts.isRevoked
        isPrivate = parts.isPrivate
        publicMembers = parts.publicMembers
        mac = parts.mac
        signature = parts.signature
        let count = parts.secretByteCount
        let isShort = parts.kind == .hmac && count < Self.minimumHMACByteCount
        shortHMACByteCount = isShort ? count : nil
        secret = parts.secret
    }

    /// Checks that the key may be used at a time.
    ///
    /// - Parameter now: Unix seconds.
    /// - Throws: `KeyError` with `keyRevoked`, `keyNotYetValid` or `keyExpired`.
    public func requireUsable(at now: Int64) throws(KeyError) {
        if isRevoked {
            throw KeyError(code: .keyRevoked, message: "the key \(shownID) is revoked")
        }
        if let notBefore, now < notBefore {
            throw KeyError(
                code: .keyNotYetValid,
                message: "the key \(shownID) is valid from \(UnixTime.rfc3339(notBefore)), "
                    + "now it is \(UnixTime.rfc3339(now))")
        }
        if let expires, now >= expires {
            throw KeyError(
                code: .keyExpired,
                message: "the key \(shownID) expired at \(UnixTime.rfc3339(expires)), "
                    + "now it is \(UnixTime.rfc3339(now))")
        }
    }

    /// The fewest bytes of an HMAC key that signs and verifies (`rfc9421`, `salted-hmac-v1`).
    package static let minimumHMACByteCount = 16

    /// The number of bytes of an HMAC key that is too short to sign or verify with; nil for any other.
    package let shortHMACByteCount: Int?

    /// The public half as a JWK, or nil where the key has none.
    public var publicHalf: JSONObject? { publicMembers }

    /// The id and the kind; never a byte of the key.
    public var description: String { "Key(\(shownID), \(kind.name), redacted)" }

    /// No children: reflection and `dump` see no more than `description` says.
    public var customMirror: Mirror { Mirror(self, children: []) }

    var shownID: String { "\"\(printable(id))\"" }
}

extension Key {
    /// The key's HMAC, with contexts that all callers share.
    ///
    /// - Returns: SHA-256 for `HS256`, SHA-512 for `HS512`.
    /// - Throws: `KeyError` with `wrongUse` for any other key.
    package func hmacKey() throws(KeyError) -> HMACKey {
        guard let mac else {
            throw wrongUse("wanted a key for HMAC (kty oct, alg HS256 or HS512, use sig)")
        }
        return mac
    }

    /// The key's signature algorithm (RFC 9421, section 3.3), and the key for it.
    ///
    /// `EdDSA`, `ES256` and `ES384` are those of their curves, also where `alg` is missing; an RSA key
    /// must say `PS512` or `RS256`.
    ///
    /// - Throws: `KeyError` with `wrongUse` for any other key.
    package func signatureKey() throws(KeyError) -> (SignatureKey, SignatureAlgorithm) {
        guard let signature, use == nil || use == "sig" else {
            throw wrongUse("wanted a key for signatures (kty OKP, EC or RSA, use sig)")
        }
        switch (kind, algorithm) {
        case (.ed25519, nil), (.ed25519, "EdDSA"): return (signature, .ed25519)
        case (.p256, nil), (.p256, "ES256"): return (signature, .ecdsaP256SHA256)
        case (.p384, nil), (.p384, "ES384"): return (signature, .ecdsaP384SHA384)
        case (.rsa, "PS512"): return (signature, .rsaPSSSHA512)
        case (.rsa, "RS256"): return (signature, .rsaPKCS1SHA256)
        default: throw wrongUse("wanted alg EdDSA, ES256, ES384, PS512 or RS256")
        }
    }

    /// Lends a vault's root, 32 bytes.
    ///
    /// - Parameter body: Gets the root; must not keep it.
    /// - Returns: What `body` returns.
    /// - Throws: `KeyError` with `wrongUse` for a key that is no vault root.
    package func withVaultRoot<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        guard kind == .vault, secret != nil else {
            throw wrongUse("wanted a vault root (kty oct, use enc, 32 bytes)")
        }
        return try withSecret(body)
    }

    /// Lends the bytes of `k`, for schemes that derive from a partner's secret.
    ///
    /// - Parameter body: Gets the secret; must not keep it.
    /// - Returns: What `body` returns.
    /// - Throws: `KeyError` with `wrongUse` for a vault root and for keys that are not `oct`.
    package func withSigningSecret<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        guard kind == .hmac, secret != nil else {
            throw wrongUse("wanted a key for HMAC (kty oct, use sig)")
        }
        return try withSecret(body)
    }

    func withSecret<Result: ~Copyable>(
        _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        switch secret {
        case .some(let bytes): return try body(bytes.bytes)
        case .none: throw wrongUse("the key has no secret")
        }
    }

    private func wrongUse(_ wanted: String) -> KeyError {
        let found =
            "kind \(kind.name), alg \(printable(algorithm ?? "none")), "
            + "use \(printable(use ?? "none"))"
        return KeyError(
            code: .wrongUse, message: "the key \(shownID) is bound to \(found); \(wanted)")
    }
}
