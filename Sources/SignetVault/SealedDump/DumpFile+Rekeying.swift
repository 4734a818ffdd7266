internal import SignetBase
import SignetCrypto

extension DumpFile {
    /// Seals the dump under another root: another key set's, another id of the same set, or a
    /// passphrase. New salt, next sequence; versions and values stay.
    ///
    /// A dump that is under the new root already stays the same, and is brought to the disk once more,
    /// so that a run that was killed can be run again and the old key be thrown away.
    ///
    /// - Parameters:
    ///   - keys: What opens the dump.
    ///   - newKeys: What opens the result; it may be the same set.
    ///   - keyID: The new root's id; nil is the set's only root, or `passphrase`.
    ///   - binding: The app and versions that the dump must be of, exactly.
    ///   - acceptingEndedKey: Whether the old key may be revoked or expired. The new one never may.
    ///   - now: Unix seconds; nil is the clock's.
    /// - Returns: The inside of what was read back.
    /// - Throws: `unreadable-file`, `unwritable-file`, and as `open` and `seal`.
    @discardableResult
    public func rekey(
        with keys: VaultKeys, to newKeys: VaultKeys, keyID: String? = nil,
        for binding: VersionBinding, acceptingEndedKey: Bool = false, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        let root = try newKeys.root(sealingAs: keyID)
        try root.requireSealing(at: now)
        return try change(
            openedWith: keys, at: now, alsoVouching: root, acceptingEndedKey: acceptingEndedKey
        ) { present throws(VaultError) in
            let dump = try present.dump
            try dump.requireBinding(to: binding)
            if dump.name.scheme == root.scheme, sameBytes(dump.keyID, root.id),
                let opened = try? dump.open(with: newKeys, isExactVersion: true, now: now)
            {
                return .to(dump, under: root, of: newKeys, from: try present.checked(opened))
            }
            let opened = try present.open(
                with: keys, for: binding, acceptingEndedKey: acceptingEndedKey, at: now)
            return try present.resealed(
                opened, as: opened.sealedTail, under: root, of: newKeys, for: binding, at: now)
        }
    }
}
