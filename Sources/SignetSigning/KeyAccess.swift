@_exported public import SignetCrypto

extension Key {
    /// The key's HMAC for RFC 9421, which knows hmac-sha256 alone.
    ///
    /// - Throws: `SigningError` with `wrong-key-use`, or `algorithm-mismatch` for HS512.
    func rfc9421HMACKey() throws(SigningError) -> HMACKey {
        let mac = try signingHMACKey()
        guard mac.algorithm == .sha256 else {
            throw SigningError(
                .algorithmMismatch,
                "the key is bound to \(algorithm ?? "no algorithm"): rfc9421 wants HS256")
        }
        return mac
    }

    /// The key's HMAC, with SHA-256 or SHA-512.
    ///
    /// - Throws: `SigningError` with `wrong-key-use`.
    func signingHMACKey() throws(SigningError) -> HMACKey {
        do throws(KeyError) {
            return try hmacKey()
        } catch {
            throw SigningError(error)
        }
    }

    func requireUsableForSigning(at now: Int64) throws(SigningError) {
        do throws(KeyError) {
            try requireUsable(at: now)
        } catch {
            throw SigningError(error)
        }
    }
}

extension SigningError {
    init(_ error: KeyError) {
        let codes: [Code] = [.unknownKey, .keyRevoked, .keyExpired, .keyNotYetValid, .wrongKeyUse]
        self.init(
            codes.first { $0.name == error.code.name } ?? .wrongKeyUse, error.message)
    }
}
