/// The field Content-Digest (RFC 9530, section 2). A signature that covers it protects the body.
///
/// ```swift
/// let body = Array(#"{"id":1}"#.utf8)
/// var message = try SignableMessage(
///     parsing: Array("POST /orders HTTP/1.1\nHost: api.example.com\n\n".utf8) + body)
/// try message.append(ContentDigest.field(of: body))
/// try ContentDigest.check(message)  // Throws digest-mismatch if the body is another one.
/// ```
///
/// Signers and verifiers add and check a covered Content-Digest themselves.
public enum ContentDigest {
    /// The field's identifier as a covered component.
    public static let component = ComponentIdentifier(field: "content-digest")
    /// The identifier for the trailer: `"content-digest";tr`.
    static let trailer = component.inTrailers

    /// Returns the field for a body.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public static func field(
        of body: [UInt8], algorithm: BodyDigest = .sha256
    ) throws(SigningError) -> SignableMessage.Field {
        try DigestField.content.make(of: .bytes(body), algorithm: algorithm)
    }

    /// Returns the field for a body that isn't in memory.
    ///
    /// - Throws: `SigningError` with `unsupported-digest` if that digest wasn't computed.
    public static func field(
        of digests: BodyDigests, algorithm: BodyDigest = .sha256
    ) throws(SigningError) -> SignableMessage.Field {
        try DigestField.content.make(of: .digested(digests), algorithm: algorithm)
    }

    /// Compares a message's Content-Digest with its body. All digests with sha-256 or sha-512 must
    /// match, and there must be at least one.
    ///
    /// - Throws: `SigningError`: `missing-component` if the message lacks the field;
    ///   `digest-mismatch`; `malformed-digest`; `unsupported-digest` for any deprecated algorithm
    ///   (RFC 9530, section 5) or if there is no supported one.
    public static func check(_ message: SignableMessage) throws(SigningError) {
        try DigestField.content.check(message)
    }
}

/// The field Repr-Digest (RFC 9530, section 3): the digest of a whole representation. The message
/// itself may hold only a part of that representation, or none of it.
public enum ReprDigest {
    /// The field's identifier as a covered component.
    public static let component = ComponentIdentifier(field: "repr-digest")

    /// Returns the field for a representation.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public static func field(
        of representation: [UInt8], algorithm: BodyDigest = .sha256
    ) throws(SigningError) -> SignableMessage.Field {
        try DigestField.representation.make(of: .bytes(representation), algorithm: algorithm)
    }

    /// Compares a message's Repr-Digest with a representation, as ``ContentDigest/check(_:)`` does
    /// for a body.
    ///
    /// - Parameters:
    ///   - message: The message with the field.
    ///   - representation: The whole representation, with its content coding; nil for the message's
    ///     body.
    /// - Throws: As ``ContentDigest/check(_:)``; also `unsupported-digest` if `representation` is
    ///   nil and the message holds only a part (Content-Range, status 204, 206 or 304, or a
    ///   response to HEAD).
    public static func check(
        _ message: SignableMessage, of representation: [UInt8]? = nil
    ) throws(SigningError) {
        guard let representation else { return try DigestField.representation.check(message) }
        try DigestField.representation.check(message.fields, against: .bytes(representation))
    }
}
