import SignetBase

/// Verifies messages: checks the policy before any cryptography, compares in constant time,
/// recomputes the body's digest, and stores the nonce only after the signature is valid.
///
/// ```swift
/// let verifier = try Verifier(
///     keys: KeySource("partner-keys.json").load(), nonces: MemoryNonceStore())
/// let message = try SignableMessage(
///     parsing: Array("GET /orders HTTP/1.1\nHost: api.example.com\n\n".utf8))
/// do throws(SigningError) {
///     let verified = try await verifier.verify(message)
///     // Act on these values, not on the message.
///     print(verified.keyID, String(decoding: verified["@path"] ?? [], as: UTF8.self))
/// } catch {
///     print(error)  // The reason, for the log only.
///     print(error.isVerifierFailure ? 503 : 401, SigningError.publicMessage)  // For the sender.
/// }
/// ```
///
/// Create a verifier once and share it between threads. Replace its keys with
/// ``replaceKeys(with:)``. Several verifiers, also of other schemes and in other processes, can
/// share a nonce store.
public final class Verifier: Sendable {
    /// The scheme that messages must be signed by.
    public let scheme: SigningScheme
    /// The requirements that are checked before any cryptography.
    public let policy: VerificationPolicy

    let engine: any VerificationEngine
    private let keys: VerifierKeys
    private let nonces: (any NonceStore)?

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - scheme: The only accepted scheme.
    ///   - keys: All accepted keys. A message cannot choose a key's algorithm or use. During a
    ///     rotation two keys overlap by their `nbf` and `exp`.
    ///   - policy: The requirements for a signature.
    ///   - nonces: The store of used nonces. If it is nil, a message can be replayed while its
    ///     signature is fresh.
    /// - Throws: `SigningError`: `unsupported-option` if the policy of `salted-hmac-v1` has a tag,
    ///   a nonce or algorithms, if that of a scheme document has a tag or algorithms, or if there
    ///   is a nonce store but the scheme doesn't sign a nonce; `unsupported-component` if the list
    ///   for `salted-hmac-v1` contains anything but fields; `duplicate-component` for `rfc9421`;
    ///   `unsupported-option`, `missing-option` or `invalid-value` for the policy's settings.
    public init(
        scheme: SigningScheme = .rfc9421, keys: KeySet,
        policy: VerificationPolicy = VerificationPolicy(), nonces: (any NonceStore)? = nil
    ) throws(SigningError) {
        let rules = VerifierRules(
            scheme: scheme, policy: policy, keys: keys, storesNonces: nonces != nil)
        self.engine = try scheme.verifier(rules)
        self.scheme = scheme
        self.keys = rules.keys
        self.policy = policy
        self.nonces = nonces
    }

    /// Creates a verifier with one key, such as the secret of a partner's webhooks.
    ///
    /// ```swift
    /// let secret = "It's a Secret to Everybody"
    /// let verifier = try Verifier(
    ///     scheme: SigningScheme(named: "github"), key: .hmac(secret, id: "github"))
    /// print(verifier.scheme)
    /// ```
    ///
    /// - Parameters:
    ///   - scheme: The only accepted scheme.
    ///   - key: The only accepted key.
    ///   - policy: The requirements for a signature.
    ///   - nonces: The store of used nonces.
    /// - Throws: `SigningError` as the other initializer.
    public convenience init(
        scheme: SigningScheme = .rfc9421, key: CryptoKey,
        policy: VerificationPolicy = VerificationPolicy(), nonces: (any NonceStore)? = nil
    ) throws(SigningError) {
        try self.init(scheme: scheme, keys: KeySet(only: key), policy: policy, nonces: nonces)
    }

    /// Replaces the keys, for example after the key file was read again.
    ///
    /// Verifications that start later use the new keys, so a revoked or removed key is refused at
    /// once. Verifications in progress may still use the old keys. Stored nonces remain.
    ///
    /// - Parameter keys: The complete new set.
    public func replaceKeys(with keys: KeySet) { self.keys.replace(with: keys) }

    /// Verifies a message. Blocks the thread while the nonce store waits for a file or the network;
    /// in a task, use the `async` method.
    ///
    /// - Parameters:
    ///   - message: The message as it arrived.
    ///   - now: The time, in seconds since 1970; nil means now.
    /// - Returns: The values that the signature proves.
    /// - Throws: `SigningError` with the reason, for the log only. Send
    ///   ``SigningError/publicMessage`` to the sender.
    public func verify(
        _ message: SignableMessage, now: Int64? = nil
    ) throws(SigningError) -> VerifiedMessage {
        let now = now ?? UnixTime.now()
        let (verified, claims) = try engine.check(message, now: now)
        try remember(claims, now: now)
        return verified
    }

    /// Verifies a message. Suspends the task while the nonce store waits.
    ///
    /// - Parameters:
    ///   - message: The message as it arrived.
    ///   - now: The time, in seconds since 1970; nil means now.
    /// - Returns: The values that the signature proves.
    /// - Throws: `SigningError` with the reason, for the log only. Send
    ///   ``SigningError/publicMessage`` to the sender.
    public func verify(
        _ message: SignableMessage, now: Int64? = nil
    ) async throws(SigningError) -> VerifiedMessage {
        let now = now ?? UnixTime.now()
        let (verified, claims) = try engine.check(message, now: now)
        try await remember(claims, now: now)
        return verified
    }

    /// Verifies a message and explains the result. Neither checks nor stores the nonce.
    ///
    /// - Parameters:
    ///   - message: The message as it arrived.
    ///   - now: The time, in seconds since 1970; nil means now.
    /// - Returns: The reason of a failure, the base and its parts.
    public func explain(_ message: SignableMessage, now: Int64? = nil) -> Explanation {
        let now = now ?? UnixTime.now()
        var reason: SigningError?
        do throws(SigningError) {
            _ = try engine.check(message, now: now)
        } catch {
            reason = error
        }
        return Explanation(reason: reason, draft: try? engine.draft(message))
    }

    /// Stores the nonce of a valid signature, or throws if it was used before.
    func remember(_ claims: SignatureClaims, now: Int64) throws(SigningError) {
        if let nonces, let nonce = claims.nonce {
            try nonces.remember(
                nonce, of: claims.keyID, expiration: nonceExpiration(of: claims, now: now), now: now
            )
        }
    }

    /// Stores the nonce of a valid signature, or throws if it was used before.
    func remember(_ claims: SignatureClaims, now: Int64) async throws(SigningError) {
        if let nonces, let nonce = claims.nonce {
            try await nonces.remember(
                nonce, of: claims.keyID, expiration: nonceExpiration(of: claims, now: now), now: now
            )
        }
    }

    /// Returns the last second at which this verifier, or another whose clock is within the skew,
    /// could accept the signature again.
    private func nonceExpiration(of claims: SignatureClaims, now: Int64) -> Int64 {
        let window = policy.clampedMaximumAge + policy.clampedClockSkew
        let usual = max(claims.created, now) + window
        guard claims.ignoresMaximumAge, let expiration = claims.expiration else { return usual }
        return max(usual, expiration + policy.clampedClockSkew)
    }
}

extension SigningScheme {
    /// Returns the engine that verifies by this scheme.
    func verifier(_ rules: VerifierRules) throws(SigningError) -> any VerificationEngine {
        switch kind {
        case .rfc9421: try RFC9421Verifier(rules)
        case .saltedHMAC: try SaltedHMACVerifier(rules)
        case .document(let compiled): try SchemeVerifier(rules, compiled: compiled)
        }
    }
}
