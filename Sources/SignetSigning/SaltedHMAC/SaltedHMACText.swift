internal import SignetCrypto

/// What `salted-hmac-v1` signs: a run of netstrings, so that no part can pose as a piece of another.
///
/// The tag is HMAC(HMAC(K, "salted-hmac-v1" ‖ 0x00 ‖ salt), text), with the hash that the key's `alg`
/// says. The text is a netstring (decimal byte count, `:`, bytes, `,`) of each of these, in order: the
/// key's id, the time in Unix seconds, the nonce, the method, the authority (lower case, without the
/// default port), the path as sent, the query as sent without its `?` (empty if none), for each
/// covered field its name in lower case and its value (lines trimmed, joined by `, `), and the
/// base64 of the body's digest.
struct SaltedHMACText {
    static let field = "Signet-Signature"
    static let fieldBytes = Array("signet-signature".utf8)
    static let member = Array("v1".utf8)
    static let minimumSaltSize = 16
    /// What a salt's key is derived with, before the salt.
    private static let label = Array("salted-hmac-v1\0".utf8)

    /// The parts that every signature covers, in the text's order.
    static let core = [
        RFC9421Fields.method, RFC9421Fields.authority, RFC9421Fields.path, RFC9421Fields.query,
    ]

    /// The whole text.
    private(set) var bytes: [UInt8] = []
    /// Where the values of method, authority, path, query, the fields and the digest lie in it.
    private(set) var values: [Range<Int>] = []

    /// Writes the text of a message.
    ///
    /// - Throws: `SigningError` with `missing-component` for a field or a host that is not there, and
    ///   `malformed-message` for a Host that is none.
    init(
        of message: SignableMessage, keyID: String, created: Int64, nonce: String,
        fields: [ComponentIdentifier], digest: DigestAlgorithm
    ) throws(SigningError) {
        guard let request = message.request else {
            throw SigningError(.missingComponent, "salted-hmac-v1 signs requests, not responses")
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
                throw SigningError(
                    .missingComponent, "the message has no field \(field.name)")
            }
            append(field.nameBytes)
            append(value: value)
        }
        guard let sum = try message.content.digest(digest == .sha256 ? .sha256 : .sha512) else {
            throw SigningError(.bodyCut, "the body, which is covered, did not come yet")
        }
        append(value: Base64.encodeBytes(sum.span, .standard))
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

    /// What the values are, in their order.
    static func names(_ fields: [ComponentIdentifier]) -> [String] {
        core.map(\.name) + fields.map(\.name) + ["body-digest"]
    }

    /// The tag of the text under a key's key for one salt.
    func tag(key: HMACKey, salt: [UInt8]) throws(SigningError) -> [UInt8] {
        var label: [UInt8] = []
        label.reserveCapacity(Self.label.count + salt.count)
        label.append(contentsOf: Self.label)
        label.append(contentsOf: salt)
        do throws(CryptoFailure) {
            let derived = try key.tag(of: label.span)
            return try HMAC.tag(of: bytes.span, key: derived.span, key.algorithm)
        } catch {
            throw SigningError(error)
        }
    }

    /// The name that the field gives an algorithm; nil for one that no key has.
    static func name(of algorithm: DigestAlgorithm) -> String? {
        switch algorithm {
        case .sha256: "hmac-sha256"
        case .sha512: "hmac-sha512"
        default: nil
        }
    }
}
