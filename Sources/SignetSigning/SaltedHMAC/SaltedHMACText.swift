internal import SignetCrypto

/// The text that `salted-hmac-v1` signs: a sequence of netstrings, so that no value can pass for a
/// part of another.
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
    /// The prefix of the salt when the salt's key is derived.
    private static let label = Array("salted-hmac-v1\0".utf8)

    /// The components that every signature covers, in order.
    static let core = [
        RFC9421Fields.method, RFC9421Fields.authority, RFC9421Fields.path, RFC9421Fields.query,
    ]

    /// The text.
    private(set) var bytes: [UInt8] = []
    /// The ranges of method, authority, path, query, the fields' values and the digest in the text.
    private(set) var values: [Range<Int>] = []

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
        bytes.reserveCapacity(512)
        values.reserveCapacity(fields.count + 5)
        append(keyID.utf8)
        var decimal: [UInt8] = []
        decimal.reserveCapacity(24)
        decimal.append(decimal: created)
        append(decimal)
        append(nonce.utf8)
        append(value: request.method.utf8)
        var authority: [UInt8] = []
        try request.appendAuthority(to: &authority)
        append(value: authority)
        append(value: request.target[request.path])
        append(value: request.query.map { request.target[$0] } ?? [])
        var index = FieldIndex(message.fields)
        for field in fields {
            guard let value = index.value(of: field.nameBytes) else {
                throw SigningError(.missingComponent, "the message has no field \(field.name)")
            }
            append(field.nameBytes)
            append(value: value)
        }
        guard let sum = try message.content.digest(digest == .sha256 ? .sha256 : .sha512) else {
            throw SigningError(.bodyCut, "the covered body is incomplete")
        }
        append(value: Base64.encodeBytes(sum.span, as: .standard))
    }

    private mutating func append(_ part: some Collection<UInt8>) {
        bytes.append(decimal: Int64(part.count))
        bytes.append(ASCII.colon)
        bytes.append(contentsOf: part)
        bytes.append(ASCII.comma)
    }

    private mutating func append(value part: some Collection<UInt8>) {
        append(part)
        values.append((bytes.count - 1 - part.count)..<(bytes.count - 1))
    }

    /// Returns the names of the values, in order.
    static func names(_ fields: [ComponentIdentifier]) -> [String] {
        core.map(\.name) + fields.map(\.name) + ["body-digest"]
    }

    /// Returns the MAC of the text under a key and a salt.
    func tag(key: HMACKey, salt: [UInt8]) throws(SigningError) -> [UInt8] {
        var label: [UInt8] = []
        label.reserveCapacity(Self.label.count + salt.count)
        label.append(contentsOf: Self.label)
        label.append(contentsOf: salt)
        return try convertingCryptoFailure { () throws(CryptoFailure) in
            let derived = try key.tag(of: label.span)
            return try HMAC.tag(of: bytes.span, key: derived.span, using: key.algorithm)
        }
    }

    /// Returns the algorithm's name in the field; nil if no key can have it.
    static func name(of algorithm: DigestAlgorithm) -> String? {
        switch algorithm {
        case .sha256: "hmac-sha256"
        case .sha512: "hmac-sha512"
        default: nil
        }
    }
}
