/// Verifies messages: policy before cryptography, a constant-time comparison, the digest recomputed,
/// the nonce remembered only once the signature holds.
///
/// A verifier is shared between threads. In a server it lives as long as the process: keys come and go
/// by ``replaceKeys(with:)``, and several verifiers, of other schemes or in other processes, may share a
/// nonce store.
///
/// ```swift
/// let verifier = try Verifier(keys: source.load(), nonces: MemoryNonceStore())
/// do throws(SigningError) {
///     let proof = try await verifier.verify(message, now: now)
///     return try handle(proof)  // its covered values and its body, not the message's
/// } catch {
///     log(error)  // the reason; the sender gets the one answer
///     return Answer(error.isOwnFailure ? 503 : 401, SigningError.publicMessage)
/// }
/// ```
public final class Verifier: Sendable {
    /// The scheme that messages must be signed by.
    public let scheme: SigningScheme
    /// What is demanded of them.
    public let policy: VerificationPolicy

    let keys: VerifierKeys
    /// A document's scheme under the policy's settings.
    let boundScheme: BoundScheme?
    let nonces: (any NonceStore)?
    let plans = PlanCache()

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - scheme: The one scheme that is taken.
    ///   - keys: All keys that may have signed; a message cannot choose a key's algorithm or use. Two
    ///     keys overlap during a rotation, by their `nbf` and `exp`.
    ///   - policy: What is demanded.
    ///   - nonces: Where nonces are remembered; nil takes replays within the time window.
    /// - Throws: `SigningError` with `unsupported-option` for a tag, a nonce or algorithms with
    ///   `salted-hmac-v1`, and for a nonce store where the scheme signs no nonce, so that whoever sends a
    ///   message again could change it; with `unsupported-component` where its list names other things than
    ///   fields; for `rfc9421` with `duplicate-component`.
    public init(
        scheme: SigningScheme = .rfc9421, keys: KeySet,
        policy: VerificationPolicy = VerificationPolicy(), nonces: (any NonceStore)? = nil
    ) throws(SigningError) {
        var bound: BoundScheme?
        switch scheme.kind {
        case .rfc9421:
            try SigningText.requireNone(policy.settings, of: scheme)
            _ = try DistinctComponents(policy.coveredComponents ?? [])
        case .saltedHMAC:
            try SigningText.requireNone(policy.settings, of: scheme)
            guard policy.tag == nil, policy.nonce == nil, policy.algorithms == nil else {
                throw SigningError(
                    .unsupportedOption, "salted-hmac-v1 has no tag and no choice of algorithms")
            }
            guard
                policy.coveredComponents?.allSatisfy({
                    $0.source == .field && $0.parameters.isEmpty
                })
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
            bound = try BoundScheme(plan, policy.settings)
            if nonces != nil || policy.requiresNonce { try scheme.requireSignedNonce() }
        }
        self.boundScheme = bound
        self.scheme = scheme
        self.keys = VerifierKeys(keys)
        self.policy = policy
        self.nonces = nonces
    }

    /// Takes another key set from now on, such as the key file that was read again.
    ///
    /// Whatever begins to be verified after this uses the new keys, so that one that is revoked there, or
    /// is no longer there, ends at once; what is under way may still use the old ones. Nonces stay.
    ///
    /// - Parameter keys: The whole new set; one that could not be read leaves the old one in force, for it
    ///   never gets here.
    public func replaceKeys(with keys: KeySet) { self.keys.replace(with: keys) }

    /// Verifies a message. Where the nonce store waits, for a file or for the network, so does the
    /// thread; a task has the method of the same name that suspends.
    ///
    /// - Parameters:
    ///   - message: As it arrived.
    ///   - now: The time, in seconds since 1970.
    /// - Returns: What the signature proves.
    /// - Throws: `SigningError` with the reason, which is for the log alone: to the message's sender
    ///   say ``SigningError/publicMessage``.
    public func verify(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> VerifiedMessage {
        let (verified, claims) = try check(message, now: now)
        try remember(claims, now: now)
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
        try await remember(claims, now: now)
        return verified
    }

    /// Uses the nonce of a signature that holds.
    func remember(_ claims: SignatureClaims, now: Int64) throws(SigningError) {
        if let nonces, let nonce = claims.nonce {
            try nonces.remember(
                nonce, of: claims.keyID, expiration: nonceExpiration(of: claims, now: now), now: now
            )
        }
    }

    /// The same in a task.
    func remember(_ claims: SignatureClaims, now: Int64) async throws(SigningError) {
        if let nonces, let nonce = claims.nonce {
            try await nonces.remember(
                nonce, of: claims.keyID, expiration: nonceExpiration(of: claims, now: now), now: now
            )
        }
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
        guard let key = keys.current.set[id] else {
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
    private func nonceExpiration(of claims: SignatureClaims, now: Int64) -> Int64 {
        let window = policy.clampedMaximumAge + policy.clampedClockSkew
        let usual = max(claims.created, now) + window
        guard claims.ignoresMaximumAge, let expiration = claims.expiration else { return usual }
        return max(usual, expiration + policy.clampedClockSkew)
    }
}
