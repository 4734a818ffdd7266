import SignetBase

/// The fields and names that the signer and the verifier of RFC 9421 share.
enum RFC9421Fields {
    static let signatureInput = Array("signature-input".utf8)
    static let signature = Array("signature".utf8)
    static let setCookie = Array("set-cookie".utf8)
    /// The beginning of a base's last line (section 2.5).
    static let parametersPrefix = Array("\"@signature-params\": ".utf8)

    static let method = ComponentIdentifier(derived: .method)
    static let authority = ComponentIdentifier(derived: .authority)
    static let path = ComponentIdentifier(derived: .path)
    static let query = ComponentIdentifier(derived: .query)
    static let status = ComponentIdentifier(derived: .status)
    static let requestCore = [method, authority, path]

    /// Whether the bytes can label a signature: a key of at most 64 bytes.
    static func isLabel(_ bytes: [UInt8]) -> Bool { bytes.count <= 64 && bytes.isKey }

    /// Requires that no signature of the message has the label.
    ///
    /// - Throws: `SigningError` with `duplicate-label`, or with `malformed-signature` if the
    ///   message's signature fields cannot be parsed.
    static func requireFree(
        _ label: [UInt8], on message: SignableMessage
    ) throws(SigningError) {
        for (name, field) in [(signatureInput, "Signature-Input"), (signature, "Signature")] {
            guard let text = message.valueInHeadAndTrailers(of: name) else { continue }
            let dictionary = try StructuredDictionary(parsing: text, field: field)
            guard dictionary.member(label) == nil else {
                throw SigningError(
                    .duplicateLabel,
                    "the message already has a signature labelled "
                        + "\(String(decoding: label, as: UTF8.self)): choose another label")
            }
        }
    }
}
