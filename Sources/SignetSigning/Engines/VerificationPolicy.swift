/// The requirements that a verifier checks before any cryptography.
///
/// ```swift
/// var policy = VerificationPolicy()
/// policy.coveredComponents = try ComponentIdentifier.list(
///     parsing: "@method,@authority,@path,content-digest")
/// policy.tag = "orders"
/// policy.maximumAge = 60
/// policy.allow([.ed25519], forKey: "orders-2026")
/// let verifier = try Verifier(
///     keys: KeySource("partner-keys.json").load(), policy: policy, nonces: MemoryNonceStore())
/// print("accepts", verifier.scheme)
/// ```
public struct VerificationPolicy: Sendable, Hashable {
    /// The components that a signature must cover; nil for the scheme's default.
    ///
    /// The default of `rfc9421` for a request is `@method`, `@authority`, `@path`, `@query` if the
    /// target contains `?`, and `content-digest` if there is a body; for a response `@status` and,
    /// if there is a body, `content-digest`. With the default, a signature over `@target-uri` also
    /// counts as one over `@scheme`, `@authority`, `@path` and `@query`, and one over
    /// `@request-target` as one over `@path` and `@query`. A list set here must be covered
    /// literally.
    ///
    /// `salted-hmac-v1` always covers method, authority, path, query and body; the list names the
    /// fields that must be covered in addition, by default none.
    public var coveredComponents: [ComponentIdentifier]?
    /// The signature's purpose (`rfc9421`, parameter `tag`). The message must have exactly one
    /// signature with this tag. If it is nil, the message must have exactly one signature.
    public var tag: String?
    /// Seconds after `created` during which a signature is accepted.
    public var maximumAge: Int64 = 300
    /// Seconds that `created` may be ahead of the verifier's clock.
    public var clockSkew: Int64 = 60
    /// The settings of a scheme document, such as SigV4's region and service.
    public var settings: [String: String] = [:]
    /// Whether a signature must have a nonce. A nonce store requires one too.
    public var requiresNonce = false
    /// The only accepted nonce, for example one sent in Accept-Signature (`rfc9421`).
    public var nonce: String?
    /// The accepted algorithms (`rfc9421`); nil for all six. Each key is bound to one algorithm in
    /// any case.
    public var algorithms: Set<HTTPSignatureAlgorithm>?
    /// The types of the fields that are covered with `;sf` or `;key` (`rfc9421`).
    public var fieldTypes = StructuredFieldTypes()
    /// Whether a covered Repr-Digest is recomputed from the body (`rfc9421`). Then a message with
    /// only a part of its representation is refused. If it is false, check the digest with
    /// ``ReprDigest/check(_:of:)``.
    public var checksRepresentation = true

    private var algorithmsByKey: [[UInt8]: Set<HTTPSignatureAlgorithm>] = [:]

    /// Creates the default policy.
    public init() {}

    /// Creates a policy that requires what an Accept-Signature requested: its components, tag,
    /// nonce and algorithm (`rfc9421`).
    public init(acceptSignature request: AcceptSignature) {
        coveredComponents = request.components
        tag = request.tag
        nonce = request.nonce
        algorithms = request.algorithm.map { name in
            HTTPSignatureAlgorithm(name: name).map { [$0] } ?? []
        }
    }

    /// Restricts the algorithms that are accepted from one key (`rfc9421`).
    ///
    /// - Parameters:
    ///   - algorithms: The accepted algorithms; an empty set refuses the key.
    ///   - keyID: The key's id, compared as UTF-8 bytes.
    public mutating func allow(_ algorithms: Set<HTTPSignatureAlgorithm>, forKey keyID: String) {
        algorithmsByKey[Array(keyID.utf8)] = algorithms
    }

    /// Whether the policy restricts the algorithms of all keys or of one key.
    var restrictsAlgorithms: Bool { algorithms != nil || !algorithmsByKey.isEmpty }

    /// Requires that the policy accepts an algorithm from a key.
    func require(
        _ algorithm: HTTPSignatureAlgorithm, ofKey keyID: String
    ) throws(SigningError) {
        guard restrictsAlgorithms else { return }
        guard algorithms?.contains(algorithm) ?? true,
            algorithmsByKey[Array(keyID.utf8)]?.contains(algorithm) ?? true
        else {
            throw SigningError(
                .algorithmNotAllowed, "the policy does not allow \(algorithm.name) for the key")
        }
    }

    var clampedMaximumAge: Int64 { min(max(maximumAge, 0), SigningTime.latest) }

    var clampedClockSkew: Int64 { min(max(clockSkew, 0), SigningTime.latest) }

    /// Checks the signature's times against the clock.
    func check(_ claims: SignatureClaims, now: Int64) throws(SigningError) {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        guard (0...SigningTime.latest).contains(claims.created) else {
            throw SigningError(
                .malformedSignature,
                "found created \(claims.created), expected 0 to \(SigningTime.latest) (year 9999)"
            )
        }
        if let expiration = claims.expiration, expiration > SigningTime.latest {
            throw SigningError(
                .malformedSignature,
                "found expires \(expiration), expected at most \(SigningTime.latest) (year 9999)")
        }
        guard claims.created - now <= clampedClockSkew else {
            throw SigningError(
                .createdInFuture,
                "created is \(claims.created - now) s in the future, "
                    + "expected at most \(clockSkew) s")
        }
        guard now - claims.created <= clampedMaximumAge else {
            throw SigningError(
                .tooOld,
                "created is \(now - claims.created) s old, expected at most \(maximumAge) s")
        }
        if let expiration = claims.expiration, now >= expiration {
            throw SigningError(.signatureExpired, "the signature expired \(now - expiration) s ago")
        }
    }
}
