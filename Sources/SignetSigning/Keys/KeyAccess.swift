import SignetBase
import SignetCrypto

extension CryptoKey {
    /// Returns the key with its algorithm of RFC 9421.
    ///
    /// - Throws: `SigningError` with `wrong-key-use`, or with `algorithm-mismatch` for HS512, which
    ///   RFC 9421 doesn't have.
    func rfc9421Key() throws(SigningError) -> RFC9421Key {
        switch kind {
        case .ed25519, .p256, .p384, .rsa:
            let (key, algorithm) = try convertingKeyError(signatureKey)
            return .asymmetric(key, algorithm)
        default:
            let mac = try signingHMACKey()
            guard mac.algorithm == .sha256 else {
                throw SigningError(
                    .algorithmMismatch,
                    "found a key for \(self.algorithm ?? "no algorithm"), expected one for HS256"
                )
            }
            return .hmac(mac)
        }
    }

    /// Returns the key with its algorithm of RFC 9421, if it is a private key.
    func rfc9421SigningKey() throws(SigningError) -> RFC9421Key {
        let key = try rfc9421Key()
        guard isPrivate else {
            throw SigningError(
                .wrongKeyUse, "found a public key, expected a private key for signing")
        }
        return key
    }

    /// Returns the HMAC key, for SHA-256 or SHA-512.
    ///
    /// - Throws: `SigningError` with `wrong-key-use` or `key-too-short`.
    func signingHMACKey() throws(SigningError) -> HMACKey {
        if let count = shortHMACByteCount {
            throw SigningError(
                .keyTooShort,
                "the key \"\(printable(id))\" has \(count) bytes: expected at least "
                    + "\(CryptoKey.minimumHMACByteCount) for HMAC")
        }
        return try convertingKeyError(hmacKey)
    }

    func requireUsableForSigning(at now: Int64) throws(SigningError) {
        try convertingKeyError { () throws(KeyError) in try requireUsable(at: now) }
    }
}

/// Runs cryptography, and throws its failure as `crypto-failed`.
func convertingCryptoFailure<Value>(
    _ work: () throws(CryptoFailure) -> Value
) throws(SigningError) -> Value {
    do throws(CryptoFailure) {
        return try work()
    } catch {
        throw SigningError(error)
    }
}

/// Runs work that uses a key, and throws its error as a `SigningError`.
func convertingKeyError<Value>(
    _ work: () throws(KeyError) -> Value
) throws(SigningError) -> Value {
    do throws(KeyError) {
        return try work()
    } catch {
        throw SigningError(error)
    }
}

extension RandomBytes {
    /// Returns random bytes for a nonce or a salt.
    static func forSigning(_ count: Int) throws(SigningError) -> [UInt8] {
        try convertingCryptoFailure { () throws(CryptoFailure) in try bytes(count) }
    }
}

extension SigningError {
    init(_ failure: CryptoFailure) {
        self.init(.cryptoFailed, failure.message)
    }

    init(_ error: KeyError) {
        let code: Code =
            switch error.code {
            case .unknownKey: .unknownKey
            case .keyRevoked: .keyRevoked
            case .keyExpired: .keyExpired
            case .keyNotYetValid: .keyNotYetValid
            case .cryptoFailed: .cryptoFailed
            default: .wrongKeyUse
            }
        self.init(code, error.message)
    }
}
