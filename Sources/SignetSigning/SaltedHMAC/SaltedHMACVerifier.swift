import SignetBase
import SignetCrypto

/// Verifies messages by `salted-hmac-v1`.
final class SaltedHMACVerifier: VerificationEngine {
    private let rules: VerifierRules

    init(_ rules: VerifierRules) throws(SigningError) {
        let policy = rules.policy
        try SigningText.requireNone(policy.settings, of: rules.scheme.name)
        guard policy.tag == nil, policy.nonce == nil, !policy.restrictsAlgorithms else {
            throw SigningError(
                .unsupportedOption,
                "salted-hmac-v1: the policy cannot have a tag, a nonce or algorithms")
        }
        let components = policy.coveredComponents ?? []
        guard components.allSatisfy({ $0.source == .field && $0.parameters.isEmpty }) else {
            throw SigningError(
                .unsupportedComponent,
                "salted-hmac-v1: the covered components must be fields without parameters")
        }
        self.rules = rules
    }

    func check(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims) {
        let (signature, key) = try signature(of: message, now: now)
        let claims = signature.claims
        let text = try SaltedHMACText(of: message, signature: signature, digest: key.algorithm)
        let expected = try text.tag(key: key, salt: signature.salt)
        guard constantTimeEqual(signature.tag.span, expected.span) else {
            throw SigningError(.signatureMismatch, "the signature does not fit the message")
        }
        let verified = VerifiedMessage(
            scheme: rules.scheme, claims: claims, text: text.signed, body: message.heldBody)
        return (verified, claims)
    }

    func checkHead(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims)? {
        _ = try signature(of: message, now: now)
        return nil
    }

    /// Does the checks that don't need the body. Returns the signature and its key.
    private func signature(
        of message: SignableMessage, now: Int64
    ) throws(SigningError) -> (SaltedHMACSignature, HMACKey) {
        let signature = try SaltedHMACSignature(message)
        let claims = signature.claims
        for component in rules.policy.coveredComponents ?? []
        where !signature.fields.contains(component) {
            throw SigningError(.notCovered, "\(component.name) is not covered")
        }
        try rules.policy.check(claims, now: now)
        try rules.requireNonce(claims)
        let key = try rules.key(claims.keyID, now: now).signingHMACKey()
        let name = SaltedHMACText.name(of: key.algorithm)
        guard signature.algorithm == name else {
            throw SigningError(
                .algorithmMismatch,
                "found another alg than the key's, \(name ?? "which is neither HS256 nor HS512")")
        }
        return (signature, key)
    }

    func draft(_ message: SignableMessage) throws(SigningError) -> Explanation.Draft {
        let signature = try SaltedHMACSignature(message)
        let key = try rules.key(signature.claims.keyID).signingHMACKey()
        let text = try SaltedHMACText(of: message, signature: signature, digest: key.algorithm)
        return Explanation.Draft(base: text.signed.bytes, parts: text.signed.parts)
    }
}

extension SaltedHMACText {
    /// Creates the text of a message with a signature.
    fileprivate init(
        of message: SignableMessage, signature: SaltedHMACSignature, digest: DigestAlgorithm
    ) throws(SigningError) {
        let claims = signature.claims
        try self.init(
            of: message, keyID: claims.keyID, created: claims.created, nonce: claims.nonce ?? "",
            fields: signature.fields, digest: digest)
    }
}

/// The parsed field Signet-Signature: exactly one line with one member and each parameter once.
struct SaltedHMACSignature {
    let claims: SignatureClaims
    let algorithm: String
    let tag: [UInt8]
    let salt: [UInt8]
    let fields: [ComponentIdentifier]

    init(_ message: SignableMessage) throws(SigningError) {
        let lines = message.values(of: SaltedHMACText.fieldBytes)
        guard let line = lines.first else {
            throw SigningError(.noSignature, "the message has no field Signet-Signature")
        }
        guard lines.count == 1 else { throw Self.malformed("found \(lines.count), expected one") }
        let value = try StructuredDictionary(parsing: line, field: SaltedHMACText.field)
        guard value.members.count == 1, let member = value.member(SaltedHMACText.member) else {
            throw Self.malformed("expected only the member v1")
        }
        guard member.parameters.count == 6,
            let algorithm = try value.text(of: "alg", in: member),
            let created = try value.integer(of: "created", in: member),
            let keyID = try value.text(of: "keyid", in: member),
            let nonce = try value.text(of: "nonce", in: member),
            let list = try value.text(of: "fields", in: member),
            case .bytes(let salt) = value.parameter("salt", in: member)?.value
        else {
            throw Self.malformed("expected alg, created, keyid, nonce, salt and fields, each once")
        }
        guard case .bytes(let range) = member.value,
            let tag = value.decoded(range),
            let salt = value.decoded(salt)
        else { throw Self.malformed("found a value that isn't canonical base64") }
        guard (SaltedHMACText.minimumSaltSize...64).contains(salt.count) else {
            throw Self.malformed(
                "found \(salt.count) bytes of salt, expected \(SaltedHMACText.minimumSaltSize) to 64"
            )
        }
        self.claims = SignatureClaims(keyID: keyID, created: created, nonce: nonce)
        self.algorithm = algorithm
        self.tag = tag
        self.salt = salt
        self.fields = try Self.fields(list)
    }

    /// Parses the list of covered fields. Checks its length before parsing any name.
    private static func fields(_ list: String) throws(SigningError) -> [ComponentIdentifier] {
        guard !list.isEmpty else { return [] }
        let count = list.utf8.count { $0 == ASCII.space } + 1
        guard count <= ComponentIdentifier.maximumCount else {
            throw malformed(
                "fields names \(count) fields: expected at most \(ComponentIdentifier.maximumCount)"
            )
        }
        var fields = DistinctComponents()
        for name in list.utf8.split(separator: ASCII.space, omittingEmptySubsequences: false) {
            do throws(SigningError) {
                let field = try ComponentIdentifier(String(decoding: name, as: UTF8.self))
                guard field.source == .field else {
                    throw malformed("fields: found a derived component, expected fields")
                }
                try fields.add(field)
            } catch {
                throw malformed(error.message)
            }
        }
        return fields.list
    }

    private static func malformed(_ words: String) -> SigningError {
        SigningError(.malformedSignature, "Signet-Signature: \(words)")
    }
}
