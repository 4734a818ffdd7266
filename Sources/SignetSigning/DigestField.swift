internal import SignetCrypto

/// A digest field of RFC 9530: Content-Digest or Repr-Digest.
enum DigestField: Sendable, Hashable, CaseIterable {
    case content, representation

    var name: String { self == .content ? "Content-Digest" : "Repr-Digest" }

    var nameBytes: [UInt8] { self == .content ? Self.contentName : Self.representationName }

    private static let contentName = Array("content-digest".utf8)
    private static let representationName = Array("repr-digest".utf8)

    private static let deprecated = [
        "md5", "sha", "unixsum", "unixcksum", "adler", "crc32c",
    ].map { Array($0.utf8) }

    /// Whether digests of this algorithm are recomputed.
    static func isKnown(_ name: String) -> Bool {
        BodyDigest.allCases.contains { $0.nameBytes.elementsEqual(name.utf8) }
    }

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
        value.append(contentsOf: algorithm.nameBytes)
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
            let algorithm = Self.algorithm(named: member.key, in: digests)
            guard
                algorithm != nil
                    || !Self.deprecated.contains(where: { digests.matches(member.key, bytes: $0) })
            else {
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

    private static func algorithm(
        named name: Range<Int>, in digests: StructuredDictionary
    ) -> BodyDigest? {
        BodyDigest.allCases.first { digests.matches(name, bytes: $0.nameBytes) }
    }

    /// Returns the supported algorithms in a message's field; none if it is missing or malformed.
    func algorithms(in fields: [SignableMessage.Field]) -> Set<BodyDigest> {
        guard let text = fields.value(of: nameBytes),
            let digests = try? StructuredDictionary(parsing: text, field: name)
        else { return [] }
        return Set(digests.members.compactMap { Self.algorithm(named: $0.key, in: digests) })
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
