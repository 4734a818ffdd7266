public import SignetCrypto

extension SealedDump {
    /// Reads a dump from a file.
    ///
    /// - Parameter path: A file or a pipe; nil or `-` is standard input.
    /// - Throws: `unreadable-file`, or `malformed-dump`.
    public init(contentsOf path: String?) throws(VaultError) {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(path, limit: Self.sizeLimit)
        } catch {
            throw VaultError(.unreadableFile, "\(error)")
        }
        do {
            try self.init(parsing: bytes)
        } catch {
            throw error.naming(path)
        }
    }

    /// Writes the dump with mode 0600 beside the path, flushes it, renames it over the path, flushes
    /// the folder, and reads it back. A kill at any moment leaves the old file or the new one.
    ///
    /// - Throws: `unwritable-file`; no temporary file is left behind.
    public func write(to path: String) throws(VaultError) {
        do {
            try PrivateFile.writeAtomically(bytes, to: path)
        } catch {
            throw VaultError(.unwritableFile, "\(error)")
        }
        guard try SealedDump(contentsOf: path).bytes == bytes else {
            throw VaultError(.unwritableFile, "\(path): what was read back is not what was written")
        }
    }
}

extension GlobalConfiguration {
    /// Seals the configuration into a file, whole or not at all.
    ///
    /// Over a dump of the same app that the same keys open, of whatever version, the sequence goes on
    /// by one, so that an older dump put back in its place can be told from the newest; over anything
    /// else it starts at 1.
    ///
    /// - Parameters:
    ///   - path: The file; an existing one is replaced.
    ///   - keys: The set that holds the root.
    ///   - keyID: The root's id.
    ///   - binding: What opens the dump again.
    ///   - now: Unix seconds; nil is the clock's.
    /// - Returns: The dump, which was read back and opened, and its sequence.
    /// - Throws: `unknown-key`, `unwritable-file`, and as `seal(with:for:sequence:now:)`.
    public func seal(
        into path: String, keys: KeySet, keyID: String, for binding: VersionBinding,
        now: Int64? = nil
    ) throws(VaultError) -> (dump: SealedDump, sequence: Int64) {
        guard let key = keys[keyID] else {
            throw VaultError(.unknownKey, "no key of the set has the id \(quoted(keyID))")
        }
        let sequence = Self.nextSequence(path, keys, binding, now)
        let dump = try seal(with: key, for: binding, sequence: sequence, now: now)
        try dump.write(to: path)
        let opened = try SealedDump(contentsOf: path).open(with: keys, for: binding, now: now)
        guard opened.values == values else {
            throw VaultError(.unwritableFile, "\(path): what was read back is not what was sealed")
        }
        return (dump, sequence)
    }

    private static func nextSequence(
        _ path: String, _ keys: KeySet, _ binding: VersionBinding, _ now: Int64?
    ) -> Int64 {
        guard let old = try? SealedDump(contentsOf: path),
            sameBytes(old.binding.app.id, binding.app.id),
            let inside = try? old.open(with: keys, now: now), inside.plaintext.sequence < .max
        else { return 1 }
        return inside.plaintext.sequence + 1
    }
}
