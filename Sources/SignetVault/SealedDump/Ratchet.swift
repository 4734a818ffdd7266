internal import SignetBase
import SignetCrypto
internal import SignetSystem

/// The next root, made of the current one in one direction.
enum Ratchet {
    /// Derives the root of an upgrade by HKDF-SHA256 (RFC 5869): no salt, and as info the label
    /// `signet1 ratchet`, a zero byte, and the two ids, the app's id and the versions it is upgraded
    /// to, each behind its length. The current root cannot be had from it.
    ///
    /// - Parameters:
    ///   - root: The current root.
    ///   - id: The next root's id.
    ///   - binding: What the dump is bound to afterwards.
    /// - Returns: 32 bytes.
    static func root(
        after root: DumpRoot, as id: String, for binding: VersionBinding
    ) throws(VaultError) -> SecretBytes {
        var info = LengthPrefixed(label: "signet1 ratchet")
        for part in [
            root.id, id, binding.app.id, binding.app.version, binding.system.id,
            binding.system.version,
        ] {
            info.append(part)
        }
        return try root.derive(salt: [], info: info.bytes, count: 32)
    }

    /// The id behind another: `vault-2026`, `vault-2026+1`, `vault-2026+2`, ….
    static func id(after id: String) -> String {
        let parts = id.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count > 1, let last = parts.last, let number = UInt32(last), number > 0,
            sameBytes(String(number), String(last)), number < .max
        else { return id + "+1" }
        return parts.dropLast().joined(separator: "+") + "+\(number + 1)"
    }
}
