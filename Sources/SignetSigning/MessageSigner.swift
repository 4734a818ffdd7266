internal import SignetCrypto

/// Signs messages with one key: a scheme, a key and a list of covered components, compiled once.
///
/// A signer is shared between threads; signing takes no lock.
public struct MessageSigner: Sendable {
    /// What is decided once for all messages of a signer.
    public struct Options: Sendable, Hashable {
        /// What is covered; nil for the scheme's own choice.
        ///
        /// For `rfc9421` that is `@method`, `@authority`, `@path`, also `@query` where the target has
        /// one and `content-digest` where there is a body; for a response `@status` and, with a
        /// body, `content-digest`. `salted-hmac-v1` always covers method, authority, path, query and
        /// body; the list names the fields it covers too, none of its own accord.
        public var coveredComponents: [ComponentIdentifier]?
        /// The signature's label (`rfc9421`), `sig1` without one.
        public var label: String?
        /// What the signature is for (`rfc9421`, parameter `tag`).
        public var tag: String?
        /// Seconds from `created` to `expires` (`rfc9421`); nil writes no `expires`.
        public var lifetime: Int64?
        /// Whether each signature gets a random nonce where the caller gives none.
        /// `salted-hmac-v1` always has one.
        public var addsNonce = false
        /// The algorithm of a Content-Digest or Repr-Digest that is covered and absent (`rfc9421`).
        public var digest = BodyDigest.sha256
        /// The types of fields that are covered with `;sf` or `;key` (`rfc9421`).
        public var fieldTypes = StructuredFieldTypes()
        /// What a peer's Accept-Signature asks for (`rfc9421`): its label, components, tag and nonce
        /// take the place of what these options say.
        public var acceptSignature: AcceptSignature?

        /// What a scheme of a document must know besides, such as SigV4's region and service.
        public var settings: [String: String] = [:]

        /// Options that leave everything to the scheme.
        public init() {}
    }

    /// A signature and what it was made of.
    public struct Result: Sendable, Hashable {
        /// Exactly the bytes that were signed.
        public let base: [UInt8]
        /// The fields that were added to the message, in their order.
        public let addedFields: [SignableMessage.Field]
        private let names: [String]
        private let values: [Range<Int>]
        private let origin: Origin

        init(
            base: [UInt8], addedFields: [SignableMessage.Field], names: [String] = [],
            values: [Range<Int>] = [], origin: SchemeRun? = nil
        ) {
            self.base = base
            self.addedFields = addedFields
            self.names = names
            self.values = values
            self.origin = Origin(run: origin)
        }

        /// The parts of the message that went into the base, each with its name, in their order.
        ///
        /// By a scheme's document these are the places of its text as the document names them, such as
        /// `{method}`, also those that a hash hides; a body that is hashed is no part, its hash is.
        public var parts: [MessagePart] {
            origin.run.map { SchemeTrace(of: $0).parts }
                ?? MessagePart.all(named: names, at: values, in: base)
        }

        /// What the base was made of, for who asks; it makes no difference between two results.
        private struct Origin: Sendable, Hashable {
            let run: SchemeRun?
            static func == (_: Origin, _: Origin) -> Bool { true }
            func hash(into _: inout Hasher) {}
        }
    }

    private enum Engine: Sendable {
        case rfc9421(RFC9421Signer)
        case saltedHMAC(SaltedHMACSigner)
        case document(SchemeSigner)
    }

    /// The scheme that signs.
    public let scheme: SigningScheme
    /// The id that the signature names.
    public let keyID: String
    /// Nil where the key is held elsewhere.
    private let key: Key?
    private let engine: Engine
    private let addsNonce: Bool

    /// Compiles a signer.
    ///
    /// - Throws: `SigningError`: for the key `wrong-key-use` (a public key too) or
    ///   `algorithm-mismatch`; for the options `duplicate-component`, `unsupported-component`,
    ///   `unknown-field-type`, `unsupported-option`, `invalid-value` or `unanswerable-request`.
    public init(
        scheme: SigningScheme, key: Key, options: Options = Options()
    ) throws(SigningError) {
        self.scheme = scheme
        self.key = key
        self.keyID = key.id
        switch scheme.kind {
        case .rfc9421:
            let own = try key.rfc9421SigningKey()
            self.engine = .rfc9421(
                try RFC9421Signer(
                    key: own, keyID: key.id, algorithm: own.algorithm, options: options))
            self.addsNonce = options.addsNonce && options.acceptSignature?.nonce == nil
        case .saltedHMAC:
            self.engine = .saltedHMAC(try SaltedHMACSigner(key: key, options: options))
            self.addsNonce = false
        case .document(let plan):
            self.engine = .document(try SchemeSigner(plan, key: key, options: options))
            self.addsNonce = false
        }
    }

    /// Compiles a signer by `rfc9421` for a key that is held elsewhere, such as in a KMS or an HSM. It
    /// prepares messages and applies signatures; see ``ExternalSigner``.
    ///
    /// - Parameters:
    ///   - keyID: The id that verifiers know the key by.
    ///   - algorithm: The algorithm that the key is bound to.
    ///   - options: As for other signers.
    /// - Throws: `SigningError`, for the options.
    public init(
        keyID: String, algorithm: HTTPSignatureAlgorithm, options: Options = Options()
    ) throws(SigningError) {
        self.scheme = .rfc9421
        self.key = nil
        self.keyID = keyID
        self.engine = .rfc9421(
            try RFC9421Signer(key: nil, keyID: keyID, algorithm: algorithm, options: options))
        self.addsNonce = options.addsNonce && options.acceptSignature?.nonce == nil
    }

    /// Signs a message: adds the fields of the signature and, where it is covered and absent, a
    /// Content-Digest. A message that is refused stays as it was.
    ///
    /// - Parameters:
    ///   - message: The message in its final form; whatever changes later breaks the signature.
    ///   - now: The time that the signature bears, in seconds since 1970.
    ///   - expiration: When it ends, in seconds since 1970; nil for the options' lifetime.
    ///   - nonce: What makes it unlike all others; nil for a random one where one is due.
    /// - Returns: What was signed, and the fields that were added.
    /// - Throws: `SigningError`: `missing-component`, `non-ascii-value`, `malformed-field`,
    ///   `repeated-parameter`, `digest-mismatch`, `malformed-message`, `duplicate-label`,
    ///   `invalid-time`, `invalid-value`, `unanswerable-request` and the codes of a key that cannot be
    ///   used at that time.
    public func sign(
        _ message: inout SignableMessage, now: Int64, expiration: Int64? = nil, nonce: String? = nil
    ) throws(SigningError) -> Result {
        try sign(&message, now: now, expiration: expiration, nonce: nonce, salt: nil)
    }

    /// Signs with a salt that the caller chose, which only a test may do.
    package func sign(
        _ message: inout SignableMessage, now: Int64, expiration: Int64? = nil, nonce: String?,
        salt: [UInt8]?
    ) throws(SigningError) -> Result {
        let nonce = try checkedNonce(nonce, now: now)
        switch engine {
        case .rfc9421(let signer):
            return try signer.sign(&message, created: now, expiration: expiration, nonce: nonce)
        case .saltedHMAC(let signer):
            guard expiration == nil else {
                throw SigningError(.unsupportedOption, "salted-hmac-v1 has no expiry")
            }
            return try signer.sign(&message, created: now, nonce: nonce, salt: salt)
        case .document(let signer):
            return try signer.sign(&message, created: now, expires: expiration, nonce: nonce)
        }
    }

    /// Makes the base of a message's signature for a key that is held elsewhere (`rfc9421`).
    ///
    /// A Content-Digest that is covered and absent is added to the message at once. Until
    /// ``apply(_:of:to:)`` nothing that is covered may change.
    ///
    /// - Parameters:
    ///   - message: The message in its final form.
    ///   - now: The time that the signature bears, in seconds since 1970.
    ///   - expiration: When it ends; nil for the options' lifetime.
    ///   - nonce: What makes it unlike all others; nil for a random one where one is due.
    /// - Returns: What is to be signed.
    /// - Throws: As ``sign(_:now:expiration:nonce:)``, and `unsupported-option` for another scheme.
    public func prepare(
        _ message: inout SignableMessage, now: Int64, expiration: Int64? = nil, nonce: String? = nil
    ) throws(SigningError) -> PreparedSignature {
        guard case .rfc9421(let signer) = engine else {
            throw SigningError(
                .unsupportedOption, "\(scheme.name): its key cannot be held elsewhere")
        }
        let nonce = try checkedNonce(nonce, now: now)
        let draft = try signer.draft(&message, created: now, expiration: expiration, nonce: nonce)
        return PreparedSignature(keyID: keyID, algorithm: signer.algorithm, draft: draft)
    }

    /// Adds a signature that was made of a prepared base.
    ///
    /// - Parameters:
    ///   - signature: As RFC 9421, section 3.3, has it: r and s side by side for ECDSA, not DER.
    ///   - prepared: What this signer prepared.
    ///   - message: The message as it was left then.
    /// - Throws: `SigningError` with `invalid-signature` for one that is too short or too long, with
    ///   `message-changed` and with `duplicate-label`. Whether the signature holds is not known here:
    ///   that takes the public key.
    public func apply(
        _ signature: [UInt8], of prepared: PreparedSignature, to message: inout SignableMessage
    ) throws(SigningError) -> Result {
        guard case .rfc9421(let signer) = engine else {
            throw SigningError(
                .unsupportedOption, "\(scheme.name): its key cannot be held elsewhere")
        }
        return try signer.apply(signature, of: prepared.draft, to: &message)
    }

    /// The digests of a body that signing a message takes, for one that lies elsewhere.
    ///
    /// - Parameter message: Its head; a Content-Digest or Repr-Digest that is there already is checked.
    public func bodyDigests(for message: SignableMessage) -> Set<BodyDigest> {
        switch engine {
        case .rfc9421(let signer):
            DigestField.allCases.reduce(into: [signer.digest]) { found, field in
                found.formUnion(field.algorithms(in: message.fields))
            }
        case .saltedHMAC(let signer): [signer.digest]
        case .document(let signer): signer.bodyDigests
        }
    }

    /// Begins to sign a message whose body is read once, while it is sent: the body's digest and the
    /// signature follow it as trailers (RFC 9421, section 4; `rfc9421`).
    ///
    /// - Parameter head: The message without its body. It should say `Trailer: ` and
    ///   ``StreamedSigning/trailerNames``.
    /// - Returns: What takes the body's pieces and yields the trailers.
    /// - Throws: `SigningError` with `unsupported-option` for another scheme and for a key that is held
    ///   elsewhere, and with `unsupported-component` where the options' list does not hold
    ///   `"content-digest";tr`.
    public func startSigning(_ head: SignableMessage) throws(SigningError) -> StreamedSigning {
        guard case .rfc9421(let signer) = engine, signer.key != nil else {
            throw SigningError(
                .unsupportedOption,
                "\(scheme.name): only rfc9421, with a key that is held here, signs in trailers")
        }
        return try StreamedSigning(signer: self, engine: signer, head: head)
    }

    /// Demands a time, a usable key and a nonce that can be written, and makes one where it is due.
    func checkedNonce(_ nonce: String?, now: Int64) throws(SigningError) -> String? {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        try key?.requireUsableForSigning(at: now)
        var nonce = nonce
        if nonce == nil, addsNonce { nonce = try Self.randomNonce() }
        if let nonce { try SigningText.requirePrintable(nonce, name: "the nonce") }
        return nonce
    }

    private static func randomNonce() throws(SigningError) -> String {
        do throws(CryptoFailure) {
            return Base64.encode(try RandomBytes.bytes(16), .url)
        } catch {
            throw SigningError(error)
        }
    }
}
