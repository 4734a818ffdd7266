import SignetBase

/// Signs a message whose body is read once, while it is sent. The body's digest and the signature
/// follow it as trailers.
///
/// Created by ``MessageSigner/startSigning(_:)``. Intermediaries may drop trailers (RFC 9110,
/// section 6.5.1). If you can read the body twice, digest it first and sign the head instead
/// (``BodyDigests``, `SignableMessage/setBody(_:)`).
public struct StreamedSigning: ~Copyable, Sendable {
    /// The value for the head's field Trailer (RFC 9110, section 6.6.2).
    public static let trailerNames = "Content-Digest, Signature-Input, Signature"

    private let signer: MessageSigner
    private let engine: RFC9421Signer
    private let plan: CoveragePlan
    private var message: SignableMessage
    private var digester: BodyDigester

    init(
        signer: MessageSigner, engine: RFC9421Signer, head: SignableMessage
    ) throws(SigningError) {
        guard head.content == .bytes([]) else {
            throw SigningError(.malformedMessage, "found a message with a body, expected a head")
        }
        let plan = try engine.trailerPlan(for: head)
        self.digester = try BodyDigester([engine.digest])
        self.signer = signer
        self.engine = engine
        self.plan = plan
        self.message = head
    }

    /// Adds the next bytes of the body, in the order in which they are sent.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public mutating func update(_ chunk: Span<UInt8>) throws(SigningError) {
        try digester.update(chunk)
    }

    /// Adds the next bytes of the body, in the order in which they are sent.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public mutating func update(_ chunk: [UInt8]) throws(SigningError) {
        try digester.update(chunk)
    }

    /// Signs after the last byte of the body.
    ///
    /// - Parameters:
    ///   - trailers: The message's other trailers. They are covered if the signer's list names
    ///     them.
    ///   - now: The time of the signature, in seconds since 1970; nil means now.
    ///   - expiration: The expiration in seconds since 1970; nil for the options' lifetime.
    ///   - nonce: A value that no other signature has; nil for a random one if the options require
    ///     a nonce.
    /// - Returns: The signature. Send its fields as trailers, after the others.
    /// - Throws: As ``MessageSigner/sign(_:now:expiration:nonce:)``, and `duplicate-field` for a
    ///   Content-Digest among the trailers.
    public consuming func finish(
        trailers: [SignableMessage.Field] = [], now: Int64? = nil, expiration: Int64? = nil,
        nonce: String? = nil
    ) throws(SigningError) -> MessageSigner.Result {
        let (signer, engine, plan) = (signer, engine, plan)
        let now = now ?? UnixTime.now()
        var message = message
        let digests = try digester.finish()
        guard !trailers.contains(name: DigestField.content.nameBytes) else {
            throw SigningError(.duplicateField, "the trailers already contain a Content-Digest")
        }
        message.setBody(digests)
        let digest = try ContentDigest.field(of: digests, algorithm: engine.digest)
        message.trailers += trailers + [digest]
        let nonce = try signer.checkedNonce(nonce, now: now)
        let draft = try engine.draft(
            &message, created: now, expiration: expiration, nonce: nonce, plan: plan)
        let fields = engine.fields(of: draft, signature: try engine.signature(of: draft))
        return MessageSigner.Result(text: draft.text, addedFields: [digest] + fields)
    }
}
