public import SignetCrypto
import SignetJSON

extension SealedDump {
    /// The same configuration bound to other versions, at an upgrade: opened for the old ones, sealed
    /// for the new ones with a new salt and the next sequence.
    ///
    /// - Parameters:
    ///   - keys: The set that holds the root, which stays the same.
    ///   - old: The app and versions that the dump must be of.
    ///   - new: The app and versions that open the result.
    ///   - now: Unix seconds for the key's dates and `sealedAt`; nil is the clock's.
    /// - Returns: The new dump, not yet written anywhere.
    /// - Throws: As `open` and `GlobalConfiguration.seal`.
    public func rebound(
        with keys: KeySet, from old: VersionBinding, to new: VersionBinding, now: Int64? = nil
    ) throws(VaultError) -> SealedDump {
        let opened = try open(with: keys, for: old, now: now)
        try new.requireUsable()
        guard let key = keys[keyID], opened.sequence < .max else {
            throw VaultError(.malformedInput, "the dump's sequence cannot go on")
        }
        let now = now ?? UnixTime.now()
        var tail = Array(#""values":"#.utf8)
        tail += JSONValue.object(opened.values).serialized()
        tail += Array(#","origins":"#.utf8)
        tail += JSONValue.object(opened.origins).serialized()
        tail.append(UInt8(ascii: "}"))
        let plaintext = DumpPlaintext.bytes(
            new, sequence: opened.sequence + 1, sealedAt: UnixTime.rfc3339(now), tail: tail)
        let salt: [UInt8]
        do {
            salt = try RandomBytes.bytes(DumpName.saltByteCount)
        } catch {
            throw VaultError(error)
        }
        return try SealedDump(sealing: plaintext, with: key, for: new, now: now, salt: salt)
    }

    /// Rebinds the dump in a file, whole or not at all, and opens what was written.
    ///
    /// - Parameters:
    ///   - path: The file; a kill at any moment leaves the old dump or the new one in it.
    ///   - keys: The set that holds the root.
    ///   - old: The app and versions that the dump must be of.
    ///   - new: The app and versions that open the result.
    ///   - now: Unix seconds; nil is the clock's.
    /// - Returns: The new dump's inside.
    /// - Throws: As `rebound`, and `unreadable-file`, `unwritable-file`.
    @discardableResult
    public static func rebind(
        _ path: String, with keys: KeySet, from old: VersionBinding, to new: VersionBinding,
        now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let dump = try SealedDump(contentsOf: path)
        let before = try dump.open(with: keys, for: old, now: now)
        try dump.rebound(with: keys, from: old, to: new, now: now).write(to: path)
        let after = try SealedDump(contentsOf: path).open(with: keys, for: new, now: now)
        guard after.values == before.values, after.origins == before.origins else {
            throw VaultError(.unwritableFile, "\(path): what was read back is not what was sealed")
        }
        return after
    }
}
