internal import SignetBase
public import SignetCrypto
internal import SignetSystem

/// What opens and seals dumps: a key set with vault roots, or a passphrase.
public struct VaultKeys: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Source: Sendable {
        case set(KeySet)
        case passphrase(Passphrase)
    }

    /// The fewest bytes of a passphrase that seals. Whoever has a dump can try passphrases on it, at
    /// half a second each and core; opening takes any, for dumps that other programs made.
    public static let passphraseMinimum = 8

    /// The key's id in a dump that is sealed under a passphrase, unless it is given another.
    public static let passphraseID = "passphrase"

    private let source: Source

    /// The roots of a key set, found by their ids.
    public static func keys(_ set: KeySet) -> VaultKeys { VaultKeys(source: .set(set)) }

    /// One passphrase for every dump, each with a root of its own.
    public static func passphrase(_ passphrase: Passphrase) -> VaultKeys {
        VaultKeys(source: .passphrase(passphrase))
    }

    /// The root that a dump names.
    func root(of dump: SealedDump) throws(VaultError) -> DumpRoot {
        try root(named: dump.keyID, dump.name.scheme)
    }

    /// The root of a name.
    func root(named keyID: String, _ scheme: DumpName.Scheme) throws(VaultError) -> DumpRoot {
        switch (source, scheme) {
        case (.set(let set), .root):
            guard let key = set[keyID] else {
                throw VaultError(.unknownKey, "no key of the set has the id \(quoted(keyID))")
            }
            return .key(key)
        case (.passphrase(let passphrase), .passphrase):
            return .passphrase(passphrase, id: keyID)
        case (.set, .passphrase):
            throw VaultError(
                .unknownKey, "the dump is sealed under a passphrase, and no key set opens it")
        case (.passphrase, .root):
            throw VaultError(
                .unknownKey,
                "the dump is sealed with key \(quoted(keyID)) of a key set; "
                    + "no passphrase opens it")
        }
    }

    /// The root that a new dump is sealed with; without an id the only one there is.
    func root(sealingAs keyID: String?) throws(VaultError) -> DumpRoot {
        switch source {
        case .passphrase(let passphrase):
            return .passphrase(passphrase, id: keyID ?? Self.passphraseID)
        case .set(let set):
            if let keyID { return try root(named: keyID, .root) }
            let roots = set.keys.filter { $0.kind == .vault }
            guard roots.count == 1 else {
                throw VaultError(
                    .unknownKey,
                    "the set has \(roots.count) vault roots; the one that seals must be named")
            }
            return .key(roots[0])
        }
    }

    /// Which of the two it is; nothing of the secret.
    public var description: String {
        switch source {
        case .set: "VaultKeys(key set, redacted)"
        case .passphrase: "VaultKeys(passphrase, redacted)"
        }
    }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What one dump's keys are derived from.
enum DumpRoot: Sendable {
    case key(Key)
    case passphrase(Passphrase, id: String)

    var id: String {
        switch self {
        case .key(let key): key.id
        case .passphrase(_, let id): id
        }
    }

    var scheme: DumpName.Scheme {
        switch self {
        case .key: .root
        case .passphrase: .passphrase
        }
    }

    /// - Throws: As `requireUsable`, and `weak-passphrase`.
    func requireSealing(at now: Int64) throws(VaultError) {
        try requireUsable(at: now)
        if case .passphrase(let passphrase, _) = self,
            passphrase.byteCount < VaultKeys.passphraseMinimum
        {
            throw VaultError(
                .weakPassphrase,
                "a passphrase of \(passphrase.byteCount) bytes; sealing takes at least "
                    + "\(VaultKeys.passphraseMinimum), better a sentence")
        }
    }

    /// - Parameter evenIfEnded: Whether the key may be revoked or expired.
    /// - Throws: `key-revoked`, `key-expired`, `key-not-yet-valid`; a passphrase has no dates.
    func requireUsable(at now: Int64, evenIfEnded: Bool = false) throws(VaultError) {
        guard case .key(let key) = self else { return }
        do throws(VaultError) {
            try VaultError.requireUsable(key, at: now)
        } catch {
            guard evenIfEnded, error.code == .keyRevoked || error.code == .keyExpired else {
                throw error
            }
        }
    }

    /// Derives the keys of a dump (CONTRACT section 3).
    ///
    /// - Throws: `wrong-key-use` for a key that is no vault root; `crypto-failure`.
    func keys(salt: [UInt8], info: [UInt8]) throws(VaultError) -> DumpKeys {
        DumpKeys(material: try derive(salt: salt, info: info, count: DumpKeys.byteCount))
    }

    /// Derives bytes from the root by HKDF-SHA256; for a passphrase the salt is scrypt's too.
    ///
    /// - Parameters:
    ///   - salt: 32 random bytes, or none for what must be the same each time.
    ///   - info: A label of the use, and what it is bound to.
    ///   - count: How many bytes.
    /// - Throws: `wrong-key-use` for a key that is no vault root; `crypto-failure`.
    func derive(salt: [UInt8], info: [UInt8], count: Int) throws(VaultError) -> SecretBytes {
        func expand(_ root: Span<UInt8>) throws(KeyError) -> SecretBytes {
            do throws(CryptoFailure) {
                let pseudorandomKey = try HKDF.extract(salt: salt.span, inputKey: root)
                return try HKDF.expand(
                    pseudorandomKey: pseudorandomKey.bytes, info: info.span, count: count)
            } catch {
                throw KeyError(code: .cryptography, message: error.description)
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
