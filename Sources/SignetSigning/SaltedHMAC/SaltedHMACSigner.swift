import SignetBase
import SignetCrypto

/// Signs by `salted-hmac-v1`.
struct SaltedHMACSigner: SignatureEngine {
    private let key: HMACKey
    private let keyID: String
    private let fields: [ComponentIdentifier]
    /// The parameter `fields`.
    private let fieldNames: String
    /// The parameter `alg`.
    private let algorithm: String

    func bodyDigests(for _: SignableMessage) -> Set<BodyDigest> {
        [key.algorithm == .sha256 ? .sha256 : .sha512]
    }

    init(key: CryptoKey, options: MessageSigner.Options) throws(SigningError) {
        try SigningText.requireNone(options.settings, of: SigningScheme.saltedHMAC.name)
        self.key = try key.signingHMACKey()
        self.keyID = key.id
        try SigningText.requirePrintable(key.id, name: "the key's id")
        guard options.label == nil, options.tag == nil, options.lifetime == nil,
            options.acceptSignature == nil
        else {
            throw SigningError(
                .unsupportedOption,
                "salted-hmac-v1 has no label, tag, expiration or Accept-Signature")
        }
        guard let algorithm = SaltedHMACText.name(of: self.key.algorithm) else {
            throw SigningError(
                .algorithmMismatch, "salted-hmac-v1: expected a key for HS256 or HS512")
        }
        self.fields = try Self.checked(options.coveredComponents ?? [])
        self.fieldNames = fields.map(\.name).joined(separator: " ")
        self.algorithm = algorithm
    }

    /// Returns the list if it contains at most 256 fields, each once, and nothing else.
    private static func checked(
        _ components: [ComponentIdentifier]
    ) throws(SigningError) -> [ComponentIdentifier] {
        let fields = try DistinctComponents(components).list
        for component in fields {
            guard component.source == .field, component.parameters.isEmpty else {
                throw SigningError(
                    .unsupportedComponent,
                    "\(component.listed): expected a field without parameters; "
                        + "salted-hmac-v1 always covers method, authority, path, query and body")
            }
        }
        guard !fields.contains(where: { $0.nameBytes == SaltedHMACText.fieldBytes }) else {
            throw SigningError(.unsupportedComponent, "a signature cannot cover its own field")
        }
        return fields
    }

    /// Signs a message. Salt and nonce are random unless the caller passes them.
    func sign(
        _ message: inout SignableMessage, created: Int64, expiration: Int64?, nonce: String?,
        salt: [UInt8]?
    ) throws(SigningError) -> MessageSigner.Result {
        guard expiration == nil else {
            throw SigningError(.unsupportedOption, "salted-hmac-v1 has no expiration")
        }
        guard !message.contains(SaltedHMACText.fieldBytes) else {
            throw SigningError(.duplicateLabel, "the message already has a field Signet-Signature")
        }
        // One call of the slow random generator for both values.
        let half = SaltedHMACText.minimumSaltSize
        let random = try RandomBytes.forSigning(2 * half)
        let salt = salt ?? Array(random[..<half])
        let nonce = nonce ?? Base64.encode(Array(random[half...]), as: .url)
        let text = try SaltedHMACText(
            of: message, keyID: keyID, created: created, nonce: nonce, fields: fields,
            digest: key.algorithm)
        let tag = try text.tag(key: key, salt: salt)
        var value = Array("v1=:".utf8)
        value.reserveCapacity(256)
        Base64.append(tag.span, as: .standard, to: &value)
        value.append(":;alg=")
        value.append(quoted: algorithm.utf8)
        value.append(";created=")
        value.append(decimal: created)
        value.append(";keyid=")
        value.append(quoted: keyID.utf8)
        value.append(";nonce=")
        value.append(quoted: nonce.utf8)
        value.append(";salt=:")
        Base64.append(salt.span, as: .standard, to: &value)
        value.append(":;fields=")
        value.append(quoted: fieldNames.utf8)
        let field = SignableMessage.Field(known: SaltedHMACText.field, value: value)
        message.fields.append(field)
        return MessageSigner.Result(text: text.signed, addedFields: [field])
    }
}
