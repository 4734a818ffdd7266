/// A key that is held elsewhere, such as in a KMS or an HSM, and signs there.
///
/// ```swift
/// let signer = try MessageSigner(keyID: key.keyID, algorithm: key.algorithm)
/// let result = try await signer.sign(&message, with: key, now: now)
/// ```
public protocol ExternalSigner: Sendable {
    /// The id that verifiers know the key by.
    var keyID: String { get }
    /// The algorithm that the key is bound to.
    var algorithm: HTTPSignatureAlgorithm { get }

    /// Signs.
    ///
    /// - Parameter base: The whole signature base, not a digest of it.
    /// - Returns: The signature as RFC 9421, section 3.3, has it: r and s side by side for ECDSA.
    func sign(_ base: [UInt8]) async throws -> [UInt8]
}

/// A signature base that waits for its signature; see ``MessageSigner/prepare(_:now:expiration:nonce:)``.
public struct PreparedSignature: Sendable, Hashable {
    /// The id of the key that is to sign.
    public let keyID: String
    /// The algorithm by which it is to sign.
    public let algorithm: HTTPSignatureAlgorithm
    let draft: RFC9421Signer.Draft

    /// Exactly the bytes to sign.
    public var base: [UInt8] { draft.base }

    /// The parts of the message that went into the base, each with its name.
    public var parts: [MessagePart] {
        MessagePart.all(named: draft.names, at: draft.values, in: base)
    }
}

extension MessageSigner {
    /// Signs a message with a key that is held elsewhere: prepares, has it signed, and applies.
    ///
    /// - Returns: What was signed, and the fields that were added.
    /// - Throws: `SigningError` as ``prepare(_:now:expiration:nonce:)`` and ``apply(_:of:to:)``, with
    ///   `unknown-key` or `algorithm-mismatch` where the external signer is not the one that this
    ///   signer was made for, and whatever the external signer throws. The message then stays as it
    ///   was.
    public func sign(
        _ message: inout SignableMessage, with external: any ExternalSigner, now: Int64,
        expiration: Int64? = nil, nonce: String? = nil
    ) async throws -> Result {
        var signed = message
        let prepared = try prepare(&signed, now: now, expiration: expiration, nonce: nonce)
        guard external.keyID.utf8.elementsEqual(keyID.utf8) else {
            throw SigningError(.unknownKey, "the external signer holds a key of another id")
        }
        guard external.algorithm == prepared.algorithm else {
            throw SigningError(
                .algorithmMismatch,
                "the external signer's key is bound to \(external.algorithm): wanted "
                    + prepared.algorithm.name)
        }
        let signature = try await external.sign(prepared.base)
        let result = try apply(signature, of: prepared, to: &signed)
        message = signed
        return result
    }
}
