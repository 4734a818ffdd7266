import SignetBase
import SignetCrypto
package import SignetJSON

/// Computes fingerprints that show whether a secret value changed, without showing the value.
///
/// A fingerprint is an HMAC with a key derived from the root, so a reader without the root can't
/// check a guess. The same value of the same key has the same fingerprint in every dump of an app
/// under one root, regardless of the dump's version and salt.
package struct ValueFingerprint: Sendable {
    /// The number of bytes of the HMAC that a fingerprint shows.
    private static let byteCount = 8

    private let key: HMACKey

    /// Derives the fingerprint key of a dump's app. Under a passphrase this runs scrypt once more.
    ///
    /// - Throws: As `SealedDump.open` for the key.
    package init(
        of dump: SealedDump, with keys: VaultKeys, now: Int64? = nil
    ) throws(VaultError) {
        let root = try keys.root(of: dump)
        try root.requireUsable(at: now ?? UnixTime.now())
        var info = LengthPrefixed(label: "signet1 fingerprint")
        info.append(dump.binding.app.id)
        let salt = try VaultError.converting(crypto: try Digest.of(info.bytes))
        let derived = try root.keys(salt: salt, info: info.bytes)
        let key = derived.material.bytes.extracting(DumpKeys.contentKey)
        do {
            self.key = try HMACKey(.sha256, key: key)
        } catch {
            throw VaultError(error)
        }
    }

    /// Returns the fingerprint of a key's value as 16 hexadecimal digits.
    package func text(of value: JSONValue, named name: String) throws(VaultError) -> String {
        var prefix = LengthPrefixed()
        prefix.append(name)
        let bytes = prefix.bytes + value.serialized()
        let tag = try VaultError.converting(crypto: try key.tag(of: bytes))
        return tag.prefix(Self.byteCount).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 0xf, radix: 16)
        }.joined()
    }
}
