internal import SignetCrypto

extension SigningScheme {
    /// Returns the engine that signs by this scheme with one key.
    func signer(
        for key: Key, options: MessageSigner.Options
    ) throws(SigningError) -> any SignatureEngine {
        switch kind {
        case .rfc9421: try RFC9421Signer(key: key, options: options)
        case .saltedHMAC: try SaltedHMACSigner(key: key, options: options)
        case .document(let compiled): try SchemeSigner(compiled, key: key, options: options)
        }
    }

    /// Returns the engine that verifies by this scheme.
    func verifier(_ rules: VerifierRules) throws(SigningError) -> any VerificationEngine {
        switch kind {
        case .rfc9421: try RFC9421Verifier(rules)
        case .saltedHMAC: try SaltedHMACVerifier(rules)
        case .document(let compiled): try SchemeVerifier(rules, compiled: compiled)
        }
    }
}
