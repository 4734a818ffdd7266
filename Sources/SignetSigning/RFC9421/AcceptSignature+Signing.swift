import SignetBase

extension AcceptSignature {
    /// Requires that a signer can provide the requested signature.
    func check(
        _ options: MessageSigner.Options, keyID own: String, algorithm used: HTTPSignatureAlgorithm
    ) throws(SigningError) {
        guard options.coveredComponents == nil, options.label == nil, options.tag == nil else {
            throw SigningError(
                .unsupportedOption,
                "with acceptSignature, the options cannot have a label, components or a tag")
        }
        if let keyID, !sameBytes(keyID, own) {
            throw SigningError(.unanswerableRequest, "the request is for another key id")
        }
        if let algorithm, HTTPSignatureAlgorithm(name: algorithm) != used {
            throw SigningError(
                .algorithmMismatch, "found another requested algorithm, expected \(used.name)")
        }
        if let nonce {
            try SigningText.requirePrintable(nonce, name: "the requested nonce")
        }
    }

    /// Returns the requested nonce, or the given one if the request has none.
    ///
    /// - Throws: `SigningError` with `unanswerable-request` if both exist and differ, or if the
    ///   request demands an expiration and there is none.
    func nonce(_ given: String?, expiration: Int64?) throws(SigningError) -> String? {
        guard !requestsExpiration || expiration != nil else {
            throw SigningError(
                .unanswerableRequest, "expires is requested, but there is no expiration")
        }
        guard let nonce, let given else { return nonce ?? given }
        guard sameBytes(nonce, given) else {
            throw SigningError(.unanswerableRequest, "the given nonce isn't the requested one")
        }
        return nonce
    }
}
