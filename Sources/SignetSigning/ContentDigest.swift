internal import SignetCrypto

/// The digest algorithms that RFC 9530 calls active.
public enum BodyDigest: String, Sendable, Hashable, CaseIterable {
    /// SHA-256.
    case sha256 = "sha-256"
    /// SHA-512.
    case sha512 = "sha-512"

    var algorithm: DigestAlgorithm { self == .sha256 ? .sha256 : .sha512 }

    var nameBytes: [UInt8] { self == .sha256 ? Self.sha256Name : Self.sha512Name }

    private static let sha256Name = Array("sha-256".utf8)
    private static let sha512Name = Array("sha-512".utf8)
}

/// Content-Digest (RFC 9530, section 2): what a signature proves about a body, where it is covered and
/// the digest recomputed.
public enum ContentDigest {
    /// The field's identifier as a covered component.
    public static let component = ComponentIdentifier(field: "content-digest")
    /// The same among the trailers: `"content-digest";tr`.
    static let trailer = component.inTrailers

    /// The field of a body.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public static func field(
        of body: [UInt8], algorithm: BodyDigest = .sha256
    ) throws(SigningError) -> SignableMessage.Field {
        try DigestField.content.make(of: .bytes(body), algorithm: algorithm)
    }

    /// The field of a body that lies elsewhere.
    ///
    /// - Throws: `SigningError` with `unsupported-digest` where that digest was not made.
    public static func field(
        of digests: BodyDigests, algorithm: BodyDigest = .sha256
    ) throws(SigningError) -> SignableMessage.Field {
        try DigestField.content.make(of: .digested(digests), algorithm: algorithm)
    }

    /// Recomputes what a message's Content-Digest says about its body: every digest with sha-256 or
    /// sha-512 must fit, and there must be one.
    ///
    /// - Throws: `SigningError` with `missing-component` without the field, `digest-mismatch`,
    ///   `malformed-digest`, and `unsupported-digest` for a deprecated algorithm (RFC 9530,
    ///   section 5), also beside a good one, and for none that is known.
    public static func check(_ message: SignableMessage) throws(SigningError) {
        try DigestField.content.check(message)
    }
}

/// Repr-Digest (RFC 9530, section 3): the digest of a whole representation, which a message may hold in
/// part or not at all.
public enum ReprDigest {
    /// The field's identifier as a covered component.
    public static let component = ComponentIdentifier(field: "repr-digest")

    /// The field of a representation.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public static func field(
        of representation: [UInt8], algorithm: BodyDigest = .sha256
    ) throws(SigningError) -> SignableMessage.Field {
        try DigestField.representation.make(of: .bytes(representation), algorithm: algorithm)
    }

    /// Recomputes what a message's Repr-Digest says, as ``ContentDigest/check(_:)`` does.
    ///
    /// - Parameters:
    ///   - message: Whose field is read.
    ///   - representation: The whole representation, content coding and all; nil for the message's
    ///     body.
    /// - Throws: As ``ContentDigest/check(_:)``; `unsupported-digest` also for a message that holds a
    ///   part of its representation (Content-Range, status 204, 206 or 304, an answer to HEAD), where
    ///   no representation is given.
    public static func check(
        _ message: SignableMessage, of representation: [UInt8]? = nil
    ) throws(SigningError) {
        guard let representation else { return try DigestField.representation.check(message) }
        try DigestField.representation.check(
            message.fields, against: .bytes(representation))
    }
}
