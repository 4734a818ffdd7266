/// A message that is being signed while its body goes out, piece by piece: the body is read once, and
/// its digest and the signature follow it as trailers.
///
/// Made by ``MessageSigner/startSigning(_:)``. Intermediaries may drop trailers (RFC 9110, section 6.5.1);
/// where the body can be read twice, digest it first and sign the head
/// (``BodyDigests``, `SignableMessage/setBody(_:)`).
public struct StreamedSigning: ~Copyable, Sendable {
    /// What the head's field Trailer should name (RFC 9110, section 6.6.2).
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
            throw SigningError(.malformedMessage, "the message holds a body already")
        }
        let plan = try engine.trailerPlan(for: head)
        self.digester = try BodyDigester([engine.digest])
        self.signer = signer
        self.engine = engine
        self.plan = plan
        self.message = head
    }

    /// Takes the next bytes of the body, as they are sent.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public mutating func update(_ chunk: Span<UInt8>) throws(SigningError) {
        try digester.update(chunk)
    }

    /// Takes the next bytes of the body, as they are sent.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public mutating func update(_ chunk: [UInt8]) throws(SigningError) {
        try digester.update(chunk)
    }

    /// Signs, behind the body's last byte.
    ///
    /// - Parameters:
    ///   - trailers: Other trailers of the message, which are covered where the list names them.
    ///   - now: The time that the signature bears, in seconds since 1970.
    ///   - expiration: When it ends; nil for the options' lifetime.
    ///   - nonce: What makes it unlike all others; nil for a random one where one is due.
    /// - Returns: What was signed; its fields are to be sent as trailers, behind the others.
    /// - Throws: As ``MessageSigner/sign(_:now:expiration:nonce:)``, and `duplicate-field` for a
    ///   Content-Digest among the trailers.
    public consuming func finish(
        trailers: [SignableMessage.Field] = [], now: Int64, expiration: Int64? = nil,
        nonce: String? = nil
    ) throws(SigningError) -> MessageSigner.Result {
        let (signer, engine, plan) = (signer, engine, plan)
        var message = message
        let digests = try digester.finish()
        guard !trailers.contains(name: DigestField.content.nameBytes) else {
            throw SigningError(
                .duplicateField, "a Content-Digest stands among the trailers, which is made here")
        }
        message.setBody(digests)
        let digest = try ContentDigest.field(of: digests, algorithm: engine.digest)
        message.trailers += trailers + [digest]
        let nonce = try signer.checkedNonce(nonce, now: now)
        let draft = try engine.draft(
            &message, created: now, expiration: expiration, nonce: nonce, plan: plan)
        guard let key = engine.key else {
            throw SigningError(.wrongKeyUse, "the key is held elsewhere")
        }
        let fields = engine.fields(of: draft, signature: try key.sign(draft.base))
        return MessageSigner.Result(
            base: draft.base, addedFields: [digest] + fields, names: draft.names,
            values: draft.values)
    }
}
