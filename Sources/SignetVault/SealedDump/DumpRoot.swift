import SignetCrypto
import SignetSystem

/// The secret that one dump's keys are derived from.
enum DumpRoot: Sendable {
    case key(CryptoKey)
    case passphrase(Passphrase, id: String)

    var id: String {
        switch self {
        case .key(let key): key.id
        case .passphrase(_, let id): id
        }
    }

    var scheme: DumpHeader.Scheme {
        switch self {
        case .key: .root
        case .passphrase: .passphrase
        }
    }

    /// Checks that the root may seal a dump.
    ///
    /// - Throws: As `requireUsable`, and `weak-passphrase`.
    func requireSealing(at now: Int64) throws(VaultError) {
        try requireUsable(at: now)
        if case .passphrase(let passphrase, _) = self,
            passphrase.byteCount < VaultKeys.passphraseMinimum
        {
            throw VaultError(
                .weakPassphrase,
                "found a passphrase of \(passphrase.byteCount) bytes, expected at least "
                    + "\(VaultKeys.passphraseMinimum); a sentence is better")
        }
    }

    /// Checks that the key is valid at a time and not revoked.
    ///
    /// - Parameter evenIfEnded: Whether the key may be revoked or expired.
    /// - Throws: `key-revoked`, `key-expired`, `key-not-yet-valid`; never for a passphrase.
    func requireUsable(at now: Int64, evenIfEnded: Bool = false) throws(VaultError) {
        guard case .key(let key) = self else { return }
        do throws(KeyError) {
            try key.requireUsable(at: now)
        } catch {
            let error = VaultError(error)
            guard evenIfEnded, error.code == .keyRevoked || error.code == .keyExpired else {
                throw error
            }
        }
    }

    /// Derives the keys of a dump.
    ///
    /// - Parameters:
    ///   - salt: The dump's salt, 32 bytes.
    ///   - info: The `info` of the dump's header.
    /// - Throws: As `derive`.
    func keys(salt: [UInt8], info: [UInt8]) throws(VaultError) -> DumpKeys {
        DumpKeys(material: try derive(salt: salt, info: info, count: DumpKeys.byteCount))
    }

    /// Derives bytes from the root with HKDF-SHA256 (RFC 5869).
    ///
    /// - Parameters:
    ///   - salt: 32 random bytes, or none if the result must be the same each time. For a
    ///     passphrase, scrypt uses this salt too.
    ///   - info: A label for the use, and the ids and versions that the result is bound to.
    ///   - count: The number of bytes.
    /// - Throws: `wrong-key-use` if the key isn't a vault root; `crypto-failed`.
    func derive(salt: [UInt8], info: [UInt8], count: Int) throws(VaultError) -> SecretBytes {
        func expand(_ root: Span<UInt8>) throws(KeyError) -> SecretBytes {
            do throws(CryptoFailure) {
                let pseudorandomKey = try HKDF.extract(salt: salt.span, inputKey: root)
                return try HKDF.expand(
                    pseudorandomKey: pseudorandomKey.bytes, info: info.span, count: count)
            } catch {
                throw KeyError(.cryptoFailed, error.description)
            }
        }
        do throws(KeyError) {
            switch self {
            case .key(let key): return try key.withVaultRoot(expand)
            case .passphrase(let passphrase, _):
                return try passphrase.withRoot(salt: salt, expand)
            }
        } catch {
            throw VaultError(error)
        }
    }
}

/// The keys of one dump: content key, nonce and commitment, 76 bytes from HKDF-SHA256 (RFC 5869).
struct DumpKeys: ~Copyable {
    static let contentKey = 0..<32
    static let nonce = 32..<44
    static let commitment = 44..<76
    static let byteCount = 76

    let material: SecretBytes

    /// Returns whether a dump's commitment was made with these keys; takes constant time.
    borrowing func match(_ commitment: [UInt8]) -> Bool {
        constantTimeEqual(material.bytes.extracting(Self.commitment), commitment.span)
    }
}
