/// Signs messages by one scheme with one key, for a ``MessageSigner``.
protocol SignatureEngine: Sendable {
    /// Whether the signer makes a random nonce if the caller passes none.
    var addsNonce: Bool { get }

    /// Signs a message. If this throws, the message is unchanged.
    ///
    /// - Parameter salt: A given salt, for tests of `salted-hmac-v1`.
    func sign(
        _ message: inout SignableMessage, created: Int64, expiration: Int64?, nonce: String?,
        salt: [UInt8]?
    ) throws(SigningError) -> MessageSigner.Result

    /// Returns the digests that are needed to sign a message whose body isn't in memory.
    func bodyDigests(for message: SignableMessage) -> Set<BodyDigest>

    /// Whether signing reads the parameters in a message's body, or writes into the body.
    func readsParameters(inBodyOf message: SignableMessage) -> Bool
}

extension SignatureEngine {
    var addsNonce: Bool { false }

    func readsParameters(inBodyOf message: SignableMessage) -> Bool { false }
}
