import SignetBase
import SignetCrypto

/// The text that `salted-hmac-v1` signs: a sequence of netstrings, so that no value can be mistaken
/// for a part of another.
///
/// The MAC is HMAC(HMAC(K, "salted-hmac-v1" ‖ 0x00 ‖ salt), text), with the hash of the key's
/// `alg`. The text contains a netstring (decimal byte count, `:`, bytes, `,`) for each of these
/// values, in order: the key's id, the time in Unix seconds, the nonce, the method, the authority
/// (in lower case, without the default port), the path as sent, the query as sent without `?`
/// (empty if missing), the lower-case name and the value of each covered field (lines trimmed,
/// joined by `, `), and the base64 of the body's digest.
struct SaltedHMACText {
    static let field = "Signet-Signature"
    static let fieldBytes = Array("signet-signature".utf8)
    static let member = Array("v1".utf8)
    static let minimumSaltSize = 16
    /// The bytes before the salt when the key of a message is derived.
    private static let label = Array("salted-hmac-v1\0".utf8)

    /// The text; its parts are method, authority, path, query, the fields and the digest.
    private(set) var signed = SignedText()

    /// Creates the text of a message.
    ///
    /// - Throws: `SigningError` with `missing-component` for a missing field or host, and with
    ///   `malformed-message` for an invalid Host.
    init(
        of message: SignableMessage, keyID: String, created: Int64, nonce: String,
        fields: [ComponentIdentifier], digest: DigestAlgorithm
    ) throws(SigningError) {
        guard let request = message.request else {
            throw SigningError(
                .missingComponent, "found a response, expected a request for salted-hmac-v1")
        }
        signed.bytes.reserveCapacity(512)
        signed.names.reserveCapacity(fields.count + 5)
        signed.values.reserveCapacity(fields.count + 5)
        append(keyID.utf8)
        append(String(created).utf8)
        append(nonce.utf8)
        append(request.method.utf8, as: "@method")
        var authority: [UInt8] = []
        try request.appendAuthority(to: &authority)
        append(authority, as: "@authority")
        append(request.target[request.path], as: "@path")
        append(request.query.map { request.target[$0] } ?? [], as: "@query")
        var index = FieldIndex(message.fields)
        for field in fields {
            guard let value = index.value(of: field.nameBytes) else {
                throw SigningError(.missingComponent, "the message has no field \(field.name)")
            }
            append(field.nameBytes)
            append(value, as: field.name)
        }
        guard let sum = try message.content.digest(digest == .sha256 ? .sha256 : .sha512) else {
            throw SigningError(.bodyCut, "the covered body is incomplete")
        }
        append(Base64.encodeBytes(sum.span, as: .standard), as: "body-digest")
    }

    private mutating func append(_ part: some Collection<UInt8>) {
        signed.bytes.append(decimal: Int64(part.count))
        signed.bytes.append(ASCII.colon)
        signed.bytes.append(contentsOf: part)
        signed.bytes.append(ASCII.comma)
    }

    private mutating func append(_ value: some Collection<UInt8>, as name: String) {
        append(value)
        let end = signed.bytes.count - 1
        signed.names.append(name)
        signed.values.append((end - value.count)..<end)
    }

    /// Returns the MAC of the text under a key and a salt.
    func tag(key: HMACKey, salt: [UInt8]) throws(SigningError) -> [UInt8] {
        let label = Self.label + salt
        return try convertingCryptoFailure { () throws(CryptoFailure) in
            let derived = try key.tag(of: label.span)
            return try HMAC.tag(of: signed.bytes.span, key: derived.span, using: key.algorithm)
        }
    }

    /// Returns the algorithm's name in the field; nil for a hash that the scheme doesn't allow.
    static func name(of algorithm: DigestAlgorithm) -> String? {
        switch algorithm {
        case .sha256: "hmac-sha256"
        case .sha512: "hmac-sha512"
        default: nil
        }
    }
}
