/// What a verifier demands of a signature before it does any cryptography.
public struct VerificationPolicy: Sendable, Hashable {
    /// What must be covered; nil for the default.
    ///
    /// For `rfc9421` that is `@method`, `@authority`, `@path` and, with a body, `content-digest`; for
    /// a response `@status`. For `salted-hmac-v1`, which always covers method, authority, path, query
    /// and body, it is the fields that must be covered besides: none by default.
    public var required: [ComponentIdentifier]?
    /// The signature's purpose (`rfc9421`, parameter `tag`). Exactly one signature must have it;
    /// without a tag here, the message must have exactly one signature.
    public var tag: String?
    /// Seconds after `created` in which a signature is taken.
    public var maximumAge: Int64 = 300
    /// Seconds that `created` may lie ahead of our clock.
    public var clockSkew: Int64 = 60
    /// Whether a signature must have a nonce; a nonce store demands one too.
    public var requiresNonce = false

    /// The default policy.
    public init() {}

    var clampedMaximumAge: Int64 { min(max(maximumAge, 0), SigningTime.latest) }

    var clampedClockSkew: Int64 { min(max(clockSkew, 0), SigningTime.latest) }

    /// Checks a signature's times against the clock.
    func check(_ claims: SignatureClaims, now: Int64) throws(SigningError) {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        guard claims.created >= 0 else {
            throw SigningError(.malformedSignature, "created lies before 1970")
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
        if let expires = claims.expires, now >= expires {
            throw SigningError(.expired, "the signature expired \(now - expires) s ago")
        }
    }
}
