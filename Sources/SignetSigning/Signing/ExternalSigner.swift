import SignetBase

/// A key that is held elsewhere, such as in a KMS or an HSM.
///
/// ```swift
/// struct HSMKey: ExternalSigner {
///     let keyID = "orders-2026"
///     let algorithm = HTTPSignatureAlgorithm.ecdsaP256SHA256
///     func sign(_ base: [UInt8]) async throws -> [UInt8] {
///         []  // Ask the HSM for a signature of the base.
///     }
/// }
/// let key = HSMKey()
/// let signer = try MessageSigner(keyID: key.keyID, algorithm: key.algorithm)
/// var message = try SignableMessage(
///     parsing: Array("GET /orders HTTP/1.1\nHost: api.example.com\n\n".utf8))
/// let result = try await signer.sign(&message, with: key, now: 1_795_228_551)
/// print(result.addedFields.map(\.name))
/// ```
public protocol ExternalSigner: Sendable {
    /// The id under which verifiers know the key.
    var keyID: String { get }
    /// The algorithm that the key is bound to.
    var algorithm: HTTPSignatureAlgorithm { get }

    /// Signs a signature base.
    ///
    /// - Parameter base: The whole signature base, not a digest of it.
    /// - Returns: The signature in the form of RFC 9421, section 3.3: for ECDSA r followed by s,
    ///   not DER.
    func sign(_ base: [UInt8]) async throws -> [UInt8]
}

/// A signature base to be signed elsewhere; see ``MessageSigner/prepare(_:now:expiration:nonce:)``.
public struct PreparedSignature: Sendable, Hashable {
    /// The id of the key to sign with.
    public let keyID: String
    /// The algorithm to sign with.
    public let algorithm: HTTPSignatureAlgorithm
    let draft: RFC9421Signer.Draft

    /// The bytes to sign.
    public var base: [UInt8] { draft.text.bytes }

    /// The parts of the message in the base, in order.
    public var parts: [MessagePart] { draft.text.parts }
}

extension MessageSigner {
    /// Signs a message with a key that is held elsewhere.
    ///
    /// - Returns: The signed bytes and the added fields.
    /// - Throws: `SigningError` as ``prepare(_:now:expiration:nonce:)`` and ``apply(_:of:to:)``;
    ///   also `unknown-key` or `algorithm-mismatch` if the external signer has another key id or
    ///   algorithm than this signer; and the errors of the external signer. If this throws, the
    ///   message is unchanged.
    public func sign(
        _ message: inout SignableMessage, with external: any ExternalSigner, now: Int64? = nil,
        expiration: Int64? = nil, nonce: String? = nil
    ) async throws -> Result {
        var signed = message
        let prepared = try prepare(&signed, now: now, expiration: expiration, nonce: nonce)
        guard sameBytes(external.keyID, keyID) else {
            throw SigningError(.unknownKey, "the external signer's key has another id")
        }
        guard external.algorithm == prepared.algorithm else {
            throw SigningError(
                .algorithmMismatch,
                "the external signer's key: found \(external.algorithm), expected "
                    + prepared.algorithm.name)
        }
        let signature = try await external.sign(prepared.base)
        let result = try apply(signature, of: prepared, to: &signed)
        message = signed
        return result
    }
}
