internal import SignetBase
import SignetCrypto
package import SignetJSON

/// Tells whether a secret value changed without showing it, and without a way to guess it: an HMAC
/// under a key that only the root gives.
///
/// The same value of the same key has the same fingerprint in every dump of an app under one root,
/// whatever the dump's version and salt.
package struct ValueFingerprint: Sendable {
    private static let label = "signet1 fingerprint\0"
    /// Bytes of the HMAC that are shown.
    private static let byteCount = 8

    private let key: HMACKey

    /// Derives the key of the fingerprints of a dump's app.
    ///
    /// - Throws: As `SealedDump.open` for the key; under a passphrase it costs another scrypt.
    package init(
        of dump: SealedDump, with keys: VaultKeys, now: Int64? = nil
    ) throws(VaultError) {
        let root = try keys.root(named: dump.keyID, dump.name.scheme)
        try root.requireUsable(at: now ?? UnixTime.now())
        let info = Array(Self.label.utf8) + Self.counted(dump.binding.app.id)
        do throws(CryptoFailure) {
            self.key = try Self.key(root, info: info, salt: try Digest.of(info))
        } catch {
            throw VaultError(error)
        }
    }

    private static func key(
        _ root: DumpRoot, info: [UInt8], salt: [UInt8]
    ) throws(CryptoFailure) -> HMACKey {
        let derived: DumpKeys
        do throws(VaultError) {
            derived = try root.keys(salt: salt, info: info)
        } catch {
            throw CryptoFailure(operation: "fingerprint", reason: error.message)
        }
        return try HMACKey(
            .sha256, key: derived.material.bytes.extracting(DumpKeys.contentKey))
    }

    /// The fingerprint of a key's value: 16 hexadecimal digits.
    package func text(of value: JSONValue, named name: String) throws(VaultError) -> String {
        do throws(CryptoFailure) {
            let tag = try key.tag(of: Self.counted(name) + value.serialized())
            return tag.prefix(Self.byteCount).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
        } catch {
            throw VaultError(error)
        }
    }

    /// A text behind its byte count, so that no two texts run into one another.
    private static func counted(_ text: String) -> [UInt8] {
        let count = UInt32(truncatingIfNeeded: text.utf8.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + Array(text.utf8)
    }
}
