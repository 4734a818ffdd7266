import SignetBase
import SignetCrypto

/// Signs messages with one key, by one scheme, over one list of covered components.
///
/// ```swift
/// let keys = try KeySource("client-keys.json").load()
/// let signer = try MessageSigner(scheme: .rfc9421, key: keys.key(id: "orders-2026"))
/// var message = try SignableMessage(
///     parsing: Array("POST /orders HTTP/1.1\nHost: api.example.com\n\n{\"id\":1}".utf8))
/// for field in try signer.sign(&message).addedFields {
///     print(field.name, String(decoding: field.value, as: UTF8.self))
/// }
/// ```
///
/// It prints Content-Digest, Signature-Input and Signature. Create a signer once and share it
/// between threads: the options are compiled once, and signing takes no lock.
public struct MessageSigner: Sendable {
    /// The scheme that signs.
    public let scheme: SigningScheme
    /// The key id that the signature names.
    public let keyID: String
    /// Nil if the key is held elsewhere.
    private let key: CryptoKey?
    private let engine: any SignatureEngine

    /// Creates a signer.
    ///
    /// - Throws: `SigningError`: `wrong-key-use` (also for a public key), `key-too-short` or
    ///   `algorithm-mismatch` for the key; `duplicate-component`, `unsupported-component`,
    ///   `unknown-field-type`, `unsupported-option`, `missing-option`, `invalid-value` or
    ///   `unanswerable-request` for the options.
    public init(
        scheme: SigningScheme, key: CryptoKey, options: Options = Options()
    ) throws(SigningError) {
        self.scheme = scheme
        self.key = key
        self.keyID = key.id
        self.engine = try scheme.signer(for: key, options: options)
    }

    /// Creates an `rfc9421` signer for a key that is held elsewhere, such as in a KMS or an HSM. It
    /// prepares messages and applies signatures; see ``ExternalSigner``.
    ///
    /// - Parameters:
    ///   - keyID: The id under which verifiers know the key.
    ///   - algorithm: The algorithm that the key is bound to.
    ///   - options: The choices for all messages.
    /// - Throws: `SigningError` as the other initializer does for the options.
    public init(
        keyID: String, algorithm: HTTPSignatureAlgorithm, options: Options = Options()
    ) throws(SigningError) {
        self.scheme = .rfc9421
        self.key = nil
        self.keyID = keyID
        self.engine = try RFC9421Signer(
            key: nil, keyID: keyID, algorithm: algorithm, options: options)
    }

    /// Signs a message: adds the signature's fields and, if it is covered and missing, a
    /// Content-Digest. If this throws, the message is unchanged.
    ///
    /// - Parameters:
    ///   - message: The message in its final form; a later change breaks the signature.
    ///   - now: The time of the signature, in seconds since 1970; nil means now.
    ///   - expiration: The expiration in seconds since 1970; nil for the options' lifetime. A
    ///     scheme document with `{lifetime}` uses one hour then.
    ///   - nonce: A value that no other signature has; nil for a random one if the scheme or the
    ///     options require a nonce.
    /// - Returns: The signed bytes and the added fields.
    /// - Throws: `SigningError`: `missing-component`, `non-ascii-value`, `malformed-field`,
    ///   `repeated-parameter`, `digest-mismatch`, `malformed-message`, `duplicate-label`,
    ///   `duplicate-field`, `body-not-held`, `unsupported-option`, `invalid-time`, `invalid-value`,
    ///   `unanswerable-request`, and the codes of a key that cannot be used at that time.
    public func sign(
        _ message: inout SignableMessage, now: Int64? = nil, expiration: Int64? = nil,
        nonce: String? = nil
    ) throws(SigningError) -> Result {
        try sign(
            &message, now: now ?? UnixTime.now(), expiration: expiration, nonce: nonce, salt: nil)
    }

    /// Signs with a given salt. For tests only.
    package func sign(
        _ message: inout SignableMessage, now: Int64, expiration: Int64? = nil, nonce: String?,
        salt: [UInt8]?
    ) throws(SigningError) -> Result {
        let nonce = try checkedNonce(nonce, now: now)
        return try engine.sign(
            &message, created: now, expiration: expiration, nonce: nonce, salt: salt)
    }

    /// Computes the signature base of a message for a key that is held elsewhere (`rfc9421`).
    ///
    /// Adds a Content-Digest to the message if it is covered and missing. Don't change covered
    /// values before ``apply(_:of:to:)``.
    ///
    /// - Parameters:
    ///   - message: The message in its final form.
    ///   - now: The time of the signature, in seconds since 1970; nil means now.
    ///   - expiration: The expiration in seconds since 1970; nil for the options' lifetime.
    ///   - nonce: A value that no other signature has; nil for a random one if the options require
    ///     a nonce.
    /// - Returns: The base to sign.
    /// - Throws: As ``sign(_:now:expiration:nonce:)``, and `unsupported-option` for another scheme.
    public func prepare(
        _ message: inout SignableMessage, now: Int64? = nil, expiration: Int64? = nil,
        nonce: String? = nil
    ) throws(SigningError) -> PreparedSignature {
        let now = now ?? UnixTime.now()
        let signer = try signerForExternalKeys
        let nonce = try checkedNonce(nonce, now: now)
        let draft = try signer.draft(&message, created: now, expiration: expiration, nonce: nonce)
        return PreparedSignature(keyID: keyID, algorithm: signer.algorithm, draft: draft)
    }

    /// Adds a signature that was made elsewhere to its message.
    ///
    /// - Parameters:
    ///   - signature: The signature in the form of RFC 9421, section 3.3: for ECDSA r followed by
    ///     s, not DER.
    ///   - prepared: The result of this signer's ``prepare(_:now:expiration:nonce:)``.
    ///   - message: The message as it was after the preparation.
    /// - Throws: `SigningError`: `invalid-signature` for a wrong length, `message-changed`,
    ///   `digest-mismatch`, `duplicate-label`. The signature itself isn't verified, because that
    ///   needs the public key.
    public func apply(
        _ signature: [UInt8], of prepared: PreparedSignature, to message: inout SignableMessage
    ) throws(SigningError) -> Result {
        try signerForExternalKeys.apply(signature, of: prepared.draft, to: &message)
    }

    private var signerForExternalKeys: RFC9421Signer {
        get throws(SigningError) {
            guard let signer = engine as? RFC9421Signer else {
                throw SigningError(
                    .unsupportedOption, "\(scheme.name): only rfc9421 supports an external key")
            }
            return signer
        }
    }

    /// Returns the digests that are needed to sign a message whose body isn't in memory.
    ///
    /// - Parameter message: The head. An existing Content-Digest or Repr-Digest is checked, so its
    ///   algorithms are among the result.
    public func bodyDigests(for message: SignableMessage) -> Set<BodyDigest> {
        engine.bodyDigests(for: message)
    }

    /// Whether the scheme signs the parameters of a form or a flat XML body instead of the body's
    /// bytes.
    package func readsParameters(inBodyOf message: SignableMessage) -> Bool {
        engine.readsParameters(inBodyOf: message)
    }

    /// Starts to sign a message whose body is read only once, while it is sent. The digest and the
    /// signature follow the body as trailers (RFC 9421, section 4; `rfc9421`).
    ///
    /// - Parameter head: The message without its body. It should have a field Trailer with the
    ///   value ``StreamedSigning/trailerNames``.
    /// - Returns: The stream that takes the body in pieces and returns the trailers.
    /// - Throws: `SigningError`: `unsupported-option` for another scheme or a key that is held
    ///   elsewhere; `unsupported-component` if the options' list doesn't contain
    ///   `"content-digest";tr`.
    public func startSigning(_ head: SignableMessage) throws(SigningError) -> StreamedSigning {
        guard let signer = engine as? RFC9421Signer, signer.key != nil else {
            throw SigningError(
                .unsupportedOption,
                "\(scheme.name): only rfc9421 with a local key can sign in trailers")
        }
        return try StreamedSigning(signer: self, engine: signer, head: head)
    }

    /// Checks the time, the key and the nonce. Returns the nonce, or a random one if the options
    /// require one.
    func checkedNonce(_ nonce: String?, now: Int64) throws(SigningError) -> String? {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        try key?.requireUsableForSigning(at: now)
        var nonce = nonce
        if nonce == nil, engine.addsNonce {
            nonce = Base64.encode(try RandomBytes.forSigning(16), as: .url)
        }
        if let nonce { try SigningText.requirePrintable(nonce, name: "the nonce") }
        return nonce
    }
}

extension SigningScheme {
    /// Returns the engine that signs by this scheme with one key.
    func signer(
        for key: CryptoKey, options: MessageSigner.Options
    ) throws(SigningError) -> any SignatureEngine {
        switch kind {
        case .rfc9421: try RFC9421Signer(key: key, options: options)
        case .saltedHMAC: try SaltedHMACSigner(key: key, options: options)
        case .document(let compiled): try SchemeSigner(compiled, key: key, options: options)
        }
    }
}
