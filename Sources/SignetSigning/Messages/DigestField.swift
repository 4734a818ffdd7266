import SignetBase
import SignetCrypto

/// A digest field of RFC 9530: Content-Digest or Repr-Digest.
enum DigestField: String, Sendable, Hashable, CaseIterable {
    case content = "content-digest"
    case representation = "repr-digest"

    var name: String { self == .content ? "Content-Digest" : "Repr-Digest" }

    var nameBytes: [UInt8] {
        (self == .content ? ContentDigest.component : ReprDigest.component).nameBytes
    }

    private static let deprecated = ["md5", "sha", "unixsum", "unixcksum", "adler", "crc32c"]

    /// Returns the field for a body.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    func make(
        of content: MessageContent, algorithm: BodyDigest
    ) throws(SigningError) -> SignableMessage.Field {
        guard let digest = try content.digest(algorithm) else {
            throw SigningError(.bodyCut, "\(name) needs the whole body, which is incomplete")
        }
        var value: [UInt8] = []
        value.reserveCapacity(128)
        value.append(algorithm.rawValue)
        value.append("=:")
        Base64.append(digest.span, as: .standard, to: &value)
        value.append(ASCII.colon)
        return SignableMessage.Field(known: name, value: value)
    }

    /// Returns the field for a message's body.
    ///
    /// - Throws: `SigningError` with `crypto-failed`, and with `unsupported-digest` for the
    ///   Repr-Digest of a message that holds only a part of its representation.
    func make(
        of message: SignableMessage, algorithm: BodyDigest
    ) throws(SigningError) -> SignableMessage.Field {
        try requireWhole(message)
        return try make(of: message.content, algorithm: algorithm)
    }

    private func requireWhole(_ message: SignableMessage) throws(SigningError) {
        guard self == .content || !message.isPartial else {
            throw SigningError(
                .unsupportedDigest,
                "Repr-Digest covers the whole representation, but the message holds a part of it"
            )
        }
    }

    /// Compares a message's field with its body.
    ///
    /// - Throws: As ``ContentDigest/check(_:)``, and with `unsupported-digest` for the Repr-Digest
    ///   of a message that holds only a part of its representation.
    func check(_ message: SignableMessage, isTrailer: Bool = false) throws(SigningError) {
        try requireWhole(message)
        try check(isTrailer ? message.trailers : message.fields, against: message.content)
    }

    /// Recomputes every sha-256 and sha-512 digest; there must be at least one. If the body will
    /// follow, only parses the field.
    func check(
        _ fields: [SignableMessage.Field], against content: MessageContent
    ) throws(SigningError) {
        guard let text = fields.value(of: nameBytes) else {
            throw SigningError(.missingComponent, "the message has no field \(name)")
        }
        let digests: StructuredDictionary
        do throws(SigningError) {
            digests = try StructuredDictionary(parsing: text, field: name)
        } catch {
            throw SigningError(.malformedDigest, error.message)
        }
        var isChecked = false
        for member in digests.members {
            let key = String(decoding: digests[member.key], as: UTF8.self)
            let algorithm = BodyDigest(rawValue: key)
            guard algorithm != nil || !Self.deprecated.contains(key) else {
                throw SigningError(
                    .unsupportedDigest,
                    "\(name): found a deprecated algorithm, expected sha-256 or sha-512")
            }
            guard case .bytes(let range) = member.value,
                let claimed = digests.decoded(range)
            else {
                throw SigningError(
                    .malformedDigest, "\(name): found a value that isn't canonical base64")
            }
            guard let algorithm else { continue }
            isChecked = true
            guard let actual = try content.digest(algorithm) else { continue }
            guard constantTimeEqual(claimed, actual) else {
                throw SigningError(.digestMismatch, "\(name) doesn't match the body")
            }
        }
        guard isChecked else {
            throw SigningError(
                .unsupportedDigest, "\(name): expected a digest with sha-256 or sha-512")
        }
    }

    /// Returns the supported algorithms in all digest fields. Skips missing and malformed fields.
    static func allAlgorithms(in fields: [SignableMessage.Field]) -> Set<BodyDigest> {
        let algorithms = allCases.flatMap { field -> [BodyDigest] in
            guard let text = fields.value(of: field.nameBytes),
                let digests = try? StructuredDictionary(parsing: text, field: field.name)
            else { return [] }
            return digests.members.compactMap {
                BodyDigest(rawValue: String(decoding: digests[$0.key], as: UTF8.self))
            }
        }
        return Set(algorithms)
    }
}

extension SignableMessage {
    /// Whether the message holds only a part of a representation (RFC 9110, section 14; RFC 9530,
    /// section 3).
    fileprivate var isPartial: Bool {
        if contains(Self.contentRange) { return true }
        guard let response else { return false }
        return [204, 206, 304].contains(response.status)
            || relatedRequest?.request?.method == "HEAD"
    }

    private static let contentRange = Array("content-range".utf8)
}
