internal import SignetCrypto

/// A field of RFC 9530 that holds digests: Content-Digest or Repr-Digest.
enum DigestField: Sendable, Hashable, CaseIterable {
    case content, representation

    var name: String { self == .content ? "Content-Digest" : "Repr-Digest" }

    var nameBytes: [UInt8] { self == .content ? Self.contentName : Self.representationName }

    private static let contentName = Array("content-digest".utf8)
    private static let representationName = Array("repr-digest".utf8)

    private static let deprecated = [
        "md5", "sha", "unixsum", "unixcksum", "adler", "crc32c",
    ].map { Array($0.utf8) }

    /// Whether a digest of the name is recomputed.
    static func isKnown(_ name: String) -> Bool {
        BodyDigest.allCases.contains { $0.nameBytes.elementsEqual(name.utf8) }
    }

    /// The field of a body.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    func make(
        of content: MessageContent, algorithm: BodyDigest
    ) throws(SigningError) -> SignableMessage.Field {
        guard let digest = try content.digest(algorithm) else {
            throw SigningError(.bodyCut, "\(name) wants the whole body, which did not come yet")
        }
        var value: [UInt8] = []
        value.reserveCapacity(128)
        value.append(contentsOf: algorithm.nameBytes)
        value.append("=:")
        Base64.append(digest.span, .standard, to: &value)
        value.append(ASCII.colon)
        return SignableMessage.Field(known: name, value: value)
    }

    /// The field of a message's body.
    ///
    /// - Throws: `SigningError` with `crypto-failed`, and with `unsupported-digest` for the Repr-Digest
    ///   of a message that holds a part of its representation only.
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
                "Repr-Digest is one of the whole representation, and the message holds a part of it"
            )
        }
    }

    /// Recomputes what a message's field says about its body.
    ///
    /// - Throws: As ``ContentDigest/check(_:)``, and with `unsupported-digest` for the Repr-Digest of
    ///   a message that holds a part of its representation only.
    func check(_ message: SignableMessage, isTrailer: Bool = false) throws(SigningError) {
        try requireWhole(message)
        try check(isTrailer ? message.trailers : message.fields, against: message.content)
    }

    /// Recomputes every digest with sha-256 or sha-512; there must be one. Of a body that is still to
    /// come only the field is read.
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
                    "\(name) holds a deprecated algorithm: wanted sha-256 or sha-512")
            }
            guard case .bytes(let range) = member.value,
                let claimed = digests.decoded(range)
            else {
                throw SigningError(
                    .malformedDigest, "\(name) holds a value that is no canonical base64")
            }
            guard let algorithm else { continue }
            isChecked = true
            guard let actual = try content.digest(algorithm) else { continue }
            guard constantTimeEqual(claimed, actual) else {
                throw SigningError(.digestMismatch, "\(name) does not fit the body")
            }
        }
        guard isChecked else {
            throw SigningError(
                .unsupportedDigest, "\(name) holds neither sha-256 nor sha-512")
        }
    }

    private static func algorithm(
        named name: Range<Int>, in digests: StructuredDictionary
    ) -> BodyDigest? {
        BodyDigest.allCases.first { digests.matches(name, bytes: $0.nameBytes) }
    }

    /// The algorithms that a message's field names and that are recomputed; none where the field is
    /// not there or cannot be read.
    func algorithms(in fields: [SignableMessage.Field]) -> Set<BodyDigest> {
        guard let text = fields.value(of: nameBytes),
            let digests = try? StructuredDictionary(parsing: text, field: name)
        else { return [] }
        return Set(digests.members.compactMap { Self.algorithm(named: $0.key, in: digests) })
    }
}

extension SignableMessage {
    /// Whether the body is a part of a representation only (RFC 9110, section 14; RFC 9530, section 3).
    fileprivate var isPartial: Bool {
        if contains(Self.contentRange) { return true }
        guard let response else { return false }
        return [204, 206, 304].contains(response.status)
            || relatedRequest?.request?.method == "HEAD"
    }

    private static let contentRange = Array("content-range".utf8)
}

extension SigningError {
    init(_ failure: CryptoFailure) {
        self.init(.cryptoFailed, "\(failure)")
    }
}
