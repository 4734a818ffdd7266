import SignetBase
import SignetCrypto

/// Verifies messages by one scheme, for a ``Verifier``.
protocol VerificationEngine: Sendable {
    /// Does all checks except whether the nonce was used before.
    func check(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims)

    /// Does the checks that don't need the body.
    ///
    /// - Returns: The proof and the claims if the signature is verified already, or nil.
    func checkHead(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims)?

    /// Computes the signed text, whether or not the signature is valid.
    func draft(_ message: SignableMessage) throws(SigningError) -> Explanation.Draft

    /// Whether the proof covers the message's own body, directly or by a recomputed digest.
    func provesBody(_ verified: VerifiedMessage) -> Bool
}

extension VerificationEngine {
    func provesBody(_ verified: VerifiedMessage) -> Bool {
        verified["body-digest"] != nil || verified["body"] != nil
    }
}

/// The requirements and the keys of a verifier, which its engine shares.
final class VerifierRules: Sendable {
    let scheme: SigningScheme
    let policy: VerificationPolicy
    let keys: VerifierKeys
    /// Whether each signature must have a nonce: it is stored, or the policy says so.
    let requiresNonce: Bool

    init(
        scheme: SigningScheme, policy: VerificationPolicy, keys: KeySet, storesNonces: Bool
    ) {
        self.scheme = scheme
        self.policy = policy
        self.keys = VerifierKeys(keys)
        self.requiresNonce = storesNonces || policy.requiresNonce
    }

    /// Returns the key that a signature names.
    func key(_ id: String) throws(SigningError) -> CryptoKey {
        guard let key = keys.current.set[id] else {
            throw SigningError(.unknownKey, "no key has the id in the signature")
        }
        return key
    }

    /// Returns the key that a signature names, if it may be used now.
    func key(_ id: String, now: Int64) throws(SigningError) -> CryptoKey {
        let key = try key(id)
        try key.requireUsableForSigning(at: now)
        return key
    }

    /// Requires the nonce that the policy or the store needs, before any cryptography.
    func requireNonce(_ claims: SignatureClaims) throws(SigningError) {
        guard let nonce = claims.nonce else {
            guard !requiresNonce, policy.nonce == nil else {
                throw SigningError(.missingNonce, "the signature has no nonce")
            }
            return
        }
        guard (1...256).contains(nonce.utf8.count) else {
            throw SigningError(.malformedSignature, "the nonce must have 1 to 256 bytes")
        }
        guard policy.nonce.map({ sameBytes($0, nonce) }) ?? true else {
            throw SigningError(.nonceMismatch, "the signature's nonce is not the requested one")
        }
    }
}
