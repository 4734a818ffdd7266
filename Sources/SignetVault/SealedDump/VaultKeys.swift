import SignetBase
public import SignetCrypto
import SignetSystem

/// The secret that opens and seals dumps: a key set with vault roots, or a passphrase.
///
/// A root is the 32-byte secret from which all other keys of a dump are derived.
public struct VaultKeys: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Source: Sendable {
        case set(KeySet)
        case passphrase(Passphrase)
    }

    /// The minimum length of a passphrase that seals, in bytes. Anyone with a copy of the dump can
    /// guess passphrases at about two a second on each core. Opening accepts shorter passphrases,
    /// because other programs may have sealed with them.
    public static let passphraseMinimum = 8

    /// The default key id of a dump that is sealed under a passphrase.
    public static let passphraseID = "passphrase"

    private let source: Source

    /// Uses the vault roots of a key set. A dump's header names the id of its root.
    public static func keys(_ set: KeySet) -> VaultKeys { VaultKeys(source: .set(set)) }

    /// Uses one passphrase for every dump. Each dump has a salt and therefore a root of its own.
    public static func passphrase(_ passphrase: Passphrase) -> VaultKeys {
        VaultKeys(source: .passphrase(passphrase))
    }

    /// Returns the root that a dump's header names.
    func root(of dump: SealedDump) throws(VaultError) -> DumpRoot {
        try root(named: dump.keyID, scheme: dump.header.scheme)
    }

    func root(
        named keyID: String, scheme: DumpHeader.Scheme
    ) throws(VaultError) -> DumpRoot {
        switch (source, scheme) {
        case (.set(let set), .root):
            guard let key = set[keyID] else {
                let roots = set.keys.filter { $0.kind == .vault }.map { quoted($0.id) }
                throw VaultError(
                    .unknownKey,
                    "no key of the set has the id \(quoted(keyID)); its vault roots: "
                        + (roots.isEmpty ? "none" : roots.joined(separator: ", ")))
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

    /// Returns the root that seals a new dump. Without an id, a key set must have exactly one root
    /// that is usable at `now`.
    func root(sealingAs keyID: String?, at now: Int64) throws(VaultError) -> DumpRoot {
        switch source {
        case .passphrase(let passphrase):
            return .passphrase(passphrase, id: keyID ?? Self.passphraseID)
        case .set(let set):
            if let keyID { return try root(named: keyID, scheme: .root) }
            let all = set.keys.filter { $0.kind == .vault }
            let usable = all.filter { (try? $0.requireUsable(at: now)) != nil }
            // If no root is usable, take them all: sealing with the only one reports its problem.
            let roots = usable.isEmpty ? all : usable
            guard roots.count == 1 else {
                let ids = roots.map { quoted($0.id) }.joined(separator: ", ")
                throw VaultError(
                    .unknownKey,
                    roots.isEmpty
                        ? "found no vault root in the key set, expected one"
                        : "found \(roots.count) vault roots in the key set (\(ids)), expected one; "
                            + "choose one by its id (--key-id, or --to-key-id for the new root)")
            }
            return .key(roots[0])
        }
    }

    /// The kind of secret, without the secret itself.
    public var description: String {
        switch source {
        case .set: "VaultKeys(key set, redacted)"
        case .passphrase: "VaultKeys(passphrase, redacted)"
        }
    }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
