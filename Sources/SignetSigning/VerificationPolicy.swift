/// What a verifier demands of a signature before it does any cryptography.
public struct VerificationPolicy: Sendable, Hashable {
    /// What must be covered; nil for the default.
    ///
    /// For `rfc9421` that is `@method`, `@authority`, `@path`, also `@query` if the target contains `?`
    /// and `content-digest` if there is a body; for a response `@status` and, with a body,
    /// `content-digest`. `@target-uri` counts as `@scheme`, `@authority`, `@path` and `@query`, and
    /// `@request-target` as `@path` and `@query`; a list given here is demanded as it is. For `salted-hmac-v1`, which always covers method, authority, path, query
    /// and body, it is the fields that must be covered besides: none by default.
    public var coveredComponents: [ComponentIdentifier]?
    /// The signature's purpose (`rfc9421`, parameter `tag`). Exactly one signature must have it;
    /// without a tag here, the message must have exactly one signature.
    public var tag: String?
    /// Seconds after `created` in which a signature is taken.
    public var maximumAge: Int64 = 300
    /// Seconds that `created` may lie ahead of our clock.
    public var clockSkew: Int64 = 60
    /// What a scheme of a document must know besides, such as SigV4's region and service.
    public var settings: [String: String] = [:]
    /// Whether a signature must have a nonce; a nonce store demands one too.
    public var requiresNonce = false
    /// The one nonce that is taken, such as the one that was asked for (`rfc9421`).
    public var nonce: String?
    /// The algorithms that are taken, whatever the key (`rfc9421`); nil for all six. A key is bound to
    /// one of them in any case.
    public var algorithms: Set<HTTPSignatureAlgorithm>?
    /// The types of fields that are covered with `;sf` or `;key` (`rfc9421`).
    public var fieldTypes = StructuredFieldTypes()
    /// Whether a covered Repr-Digest is recomputed over the body (`rfc9421`). A message that holds a
    /// part of its representation is then refused; without it, the program checks the digest itself by
    /// ``ReprDigest/check(_:of:)``.
    public var checksRepresentation = true

    private var algorithmsByKey: [[UInt8]: Set<HTTPSignatureAlgorithm>] = [:]

    /// The default policy.
    public init() {}

    /// Demands of an answer what was asked for in Accept-Signature (`rfc9421`): its components, tag,
    /// nonce and algorithm.
    public init(acceptSignature request: AcceptSignature) {
        coveredComponents = request.components
        tag = request.tag
        nonce = request.nonce
        algorithms = request.algorithm.map { name in
            HTTPSignatureAlgorithm(name: name).map { [$0] } ?? []
        }
    }

    /// Narrows the algorithms that are taken from one key.
    ///
    /// - Parameters:
    ///   - algorithms: Those that are taken; none bars the key.
    ///   - keyID: The key's id, compared as UTF-8 bytes.
    public mutating func allow(_ algorithms: Set<HTTPSignatureAlgorithm>, forKey keyID: String) {
        algorithmsByKey[Array(keyID.utf8)] = algorithms
    }

    /// Demands that the policy takes an algorithm from a key.
    func require(
        _ algorithm: HTTPSignatureAlgorithm, ofKey keyID: String
    ) throws(SigningError) {
        if algorithms == nil, algorithmsByKey.isEmpty { return }
        guard algorithms?.contains(algorithm) ?? true,
            algorithmsByKey[Array(keyID.utf8)]?.contains(algorithm) ?? true
        else {
            throw SigningError(
                .algorithmNotAllowed, "the policy does not take \(algorithm.name) from the key")
        }
    }

    var clampedMaximumAge: Int64 { min(max(maximumAge, 0), SigningTime.latest) }

    var clampedClockSkew: Int64 { min(max(clockSkew, 0), SigningTime.latest) }

    /// Checks a signature's times against the clock.
    func check(_ claims: SignatureClaims, now: Int64) throws(SigningError) {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        guard (0...SigningTime.latest).contains(claims.created) else {
            throw SigningError(
                .malformedSignature,
                "created is out of range: expected 0 to \(SigningTime.latest), in the years 1970 to 9999"
            )
        }
        guard claims.expiration.map({ $0 <= SigningTime.latest }) ?? true else {
            throw SigningError(
                .malformedSignature,
                "expires is after the year 9999: expected at most \(SigningTime.latest)")
        }
        guard claims.created - now <= clampedClockSkew else {
            throw SigningError(
                .createdInFuture,
                "created is \(claims.created - now) s ahead of now: wanted at most \(clockSkew)")
        }
        guard now - claims.created <= clampedMaximumAge else {
            throw SigningError(
                .tooOld, "created was \(now - claims.created) s ago: wanted at most \(maximumAge)")
        }
        if let expiration = claims.expiration, now >= expiration {
            throw SigningError(.expired, "the signature expired \(now - expiration) s ago")
        }
    }
}
