internal import Synchronization

/// Verifies messages: policy before cryptography, a constant-time comparison, the digest recomputed,
/// the nonce remembered only once the signature holds.
///
/// A verifier is shared between threads.
public final class Verifier: Sendable {
    /// The scheme that messages must be signed by.
    public let scheme: SigningScheme
    /// What is demanded of them.
    public let policy: VerificationPolicy

    let keys: KeySet
    let nonces: (any NonceStore)?
    let plans = PlanCache()
    /// The set's keys as a scheme's document uses them.
    let schemeKeys = Mutex<[ObjectIdentifier: SchemeKey]>([:])

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - scheme: The one scheme that is taken.
    ///   - keys: All keys that may have signed; a message cannot choose a key's algorithm or use. Two
    ///     keys overlap during a rotation, by their `nbf` and `exp`; for another set make another
    ///     verifier, with the same nonce store.
    ///   - policy: What is demanded.
    ///   - nonces: Where nonces are remembered; nil takes replays within the time window.
    /// - Throws: `SigningError` with `unsupported-option` for a tag, a nonce or algorithms with
    ///   `salted-hmac-v1`, and with `unsupported-component` where its list names other things than
    ///   fields; for `rfc9421` with `duplicate-component`.
    public init(
        scheme: SigningScheme = .rfc9421, keys: KeySet,
        policy: VerificationPolicy = VerificationPolicy(), nonces: (any NonceStore)? = nil
    ) throws(SigningError) {
        switch scheme.kind {
        case .rfc9421:
            try policy.requireNoSettings(of: scheme)
            var seen: [ComponentIdentifier] = []
            for component in policy.required ?? [] { try seen.add(component) }
        case .saltedHMAC:
            try policy.requireNoSettings(of: scheme)
            guard policy.tag == nil, policy.nonce == nil, policy.algorithms == nil else {
                throw SigningError(
                    .unsupportedOption, "salted-hmac-v1 has no tag and no choice of algorithms")
            }
            guard
                policy.required?.allSatisfy({ $0.source == .field && $0.parameters.isEmpty })
                    ?? true
            else {
                throw SigningError(
                    .unsupportedComponent,
                    "the list of salted-hmac-v1 names fields only, without parameters")
            }
        case .document(let plan):
            guard policy.tag == nil, policy.algorithms == nil else {
                throw SigningError(
                    .unsupportedOption, "\(plan.name) has no tag and no choice of algorithms")
            }
            _ = try plan.settings(policy.settings)
        }
        self.scheme = scheme
        self.keys = keys
        self.policy = policy
        self.nonces = nonces
    }

    /// Verifies a message. Where the nonce store waits, for a file or for the network, so does the
    /// thread; a task has the method of the same name that suspends.
    ///
    /// - Parameters:
    ///   - message: As it arrived.
    ///   - now: The time, in seconds since 1970.
    /// - Returns: What the signature proves.
    /// - Throws: `SigningError` with the reason, which is for the log alone: to the message's sender
    ///   say ``SigningError/publicAnswer``.
    public func verify(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> VerifiedMessage {
        let (verified, claims) = try check(message, now: now)
        if let nonces, let nonce = claims.nonce {
            try nonces.remember(nonce, of: claims.keyID, until: end(claims, now: now), now: now)
        }
        return verified
    }

    /// Verifies a message in a task, which is suspended while the nonce store waits.
    ///
    /// - Parameters:
    ///   - message: As it arrived.
    ///   - now: The time, in seconds since 1970.
    /// - Returns: What the signature proves.
    /// - Throws: `SigningError` with the reason, as the other method of the name.
    public func verify(
        _ message: SignableMessage, now: Int64
    ) async throws(SigningError) -> VerifiedMessage {
        let (verified, claims) = try check(message, now: now)
        if let nonces, let nonce = claims.nonce {
            try await nonces.remember(
                nonce, of: claims.keyID, until: end(claims, now: now), now: now)
        }
        return verified
    }

    /// Everything but the nonce's one use.
    func check(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims) {
        switch scheme.kind {
        case .rfc9421: try verifyRFC9421(message, now: now)
        case .saltedHMAC: try verifySaltedHMAC(message, now: now)
        case .document(let plan): try verifyScheme(plan, message, now: now)
        }
    }

    /// The key that a signature names.
    func key(_ id: String) throws(SigningError) -> Key {
        guard let key = keys[id] else {
            throw SigningError(.unknownKey, "no key has the id that the signature names")
        }
        return key
    }

    /// The key that a signature names, if it may be used now.
    func key(_ id: String, now: Int64) throws(SigningError) -> Key {
        let key = try key(id)
        try key.requireUsableForSigning(at: now)
        return key
    }

    /// Demands a nonce where one is wanted, before any cryptography.
    func requireNonce(_ claims: SignatureClaims) throws(SigningError) {
        guard let nonce = claims.nonce else {
            guard nonces == nil, !policy.requiresNonce, policy.nonce == nil else {
                throw SigningError(.missingNonce, "the signature has no nonce")
            }
            return
        }
        guard (1...256).contains(nonce.utf8.count) else {
            throw SigningError(.malformedSignature, "the nonce must have 1 to 256 bytes")
        }
        guard policy.nonce.map({ $0.utf8.elementsEqual(nonce.utf8) }) ?? true else {
            throw SigningError(
                .nonceMismatch, "the signature has another nonce than the one asked for")
        }
    }

    /// The last second at which a signature that holds could be taken again, by this clock or by that
    /// of another server that lies within the skew.
    private func end(_ claims: SignatureClaims, now: Int64) -> Int64 {
        let window = policy.clampedMaximumAge + policy.clampedClockSkew
        let usual = max(claims.created, now) + window
        // A scheme whose signer chooses the end may have one far behind the window.
        return max(usual, claims.lifetimeEnd.map { $0 + policy.clampedClockSkew } ?? usual)
    }
}
