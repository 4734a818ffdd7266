import SignetCrypto

/// A sealed dump in a file, and the one way in which it is changed.
///
/// Every change reads the dump that is there, opens it, makes a new one with the next sequence,
/// writes it beside the old one with mode 0600, flushes it, renames it over the old one, flushes the
/// folder, and reads back and opens what then stands there. A kill at any moment leaves the old
/// dump or the new one, and an error leaves no temporary file.
public struct DumpFile: Sendable, Hashable, CustomStringConvertible {
    /// Where the dump is.
    public let path: String

    /// Names a file, which need not be there yet.
    public init(_ path: String) {
        self.path = path
    }

    /// The path.
    public var description: String { printable(path) }

    /// Opens the dump for the versions that run.
    ///
    /// - Parameters:
    ///   - keys: What opens it.
    ///   - binding: The app and the network system that run.
    ///   - olderAppVersions: Older versions of the app whose dumps may be read; never a newer one.
    ///   - now: Unix seconds for the key's dates; nil is the clock's.
    /// - Throws: `unreadable-file`, `malformed-dump`, and as `SealedDump.open`.
    public func open(
        with keys: VaultKeys, for binding: VersionBinding,
        accepting olderAppVersions: [String] = [], now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        try SealedDump(contentsOf: path)
            .open(with: keys, for: binding, accepting: olderAppVersions, now: now)
    }

    /// Seals a configuration into the file, whole or not at all.
    ///
    /// Over a dump of the same app that the same keys open, of whatever version, the sequence goes on
    /// by one, so that an older dump put back in its place can be told from the newest; over another
    /// dump or an empty file it starts at 1. A file that is no dump is never replaced: it may be a
    /// key file named by mistake.
    ///
    /// - Parameters:
    ///   - configuration: What is sealed.
    ///   - keys: What seals it.
    ///   - keyID: The root's id; nil is the set's only root. A passphrase takes any id, and without
    ///     one `passphrase`.
    ///   - binding: What opens the dump again.
    ///   - now: Unix seconds for the key's dates and `sealedAt`; nil is the clock's.
    /// - Returns: The inside of what was read back.
    /// - Throws: `unknown-key`, `unwritable-file`, and as `GlobalConfiguration.seal`.
    @discardableResult
    public func seal(
        _ configuration: GlobalConfiguration, with keys: VaultKeys, keyID: String? = nil,
        for binding: VersionBinding, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        let root = try keys.root(sealingAs: keyID)
        return try replace(openingWith: keys, for: binding, now: now) {
            old throws(VaultError) in
            try SealedDump(
                tail: configuration.sealedTail,
                sequence: Self.sequence(after: old, keys, binding, now), with: root, for: binding,
                now: now, salt: SealedDump.newSalt())
        }
    }

    /// Brings the dump to other versions, at an upgrade: opened for the old ones and sealed for the
    /// new ones.
    ///
    /// - Parameters:
    ///   - keys: What opens it; the root stays the same.
    ///   - old: The app and versions that the dump must be of.
    ///   - new: The app and versions that open the result.
    ///   - now: Unix seconds; nil is the clock's.
    /// - Returns: The inside of what was read back.
    /// - Throws: `unreadable-file`, `unwritable-file`, and as `SealedDump.open`.
    @discardableResult
    public func rebind(
        with keys: VaultKeys, from old: VersionBinding, to new: VersionBinding, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        return try replace(openingWith: keys, for: new, now: now) { dump throws(VaultError) in
            let opened = try present(dump).open(with: keys, for: old, now: now)
            return try opened.resealed(as: opened.sealedTail, with: keys, for: new, now: now)
        }
    }

    /// Changes the configuration in the dump.
    ///
    /// - Parameters:
    ///   - keys: What opens it; the root stays the same.
    ///   - binding: The app and versions that the dump must be of, exactly.
    ///   - now: Unix seconds; nil is the clock's.
    ///   - change: Gets the inside and gives what takes its place, with a sequence that the new one
    ///     must be beyond; nil leaves the file as it is.
    /// - Returns: The inside of what was read back, or of what was left as it is.
    /// - Throws: `unreadable-file`, `unwritable-file`, what `change` throws, and as
    ///   `SealedDump.open`.
    @discardableResult
    package func update(
        with keys: VaultKeys, for binding: VersionBinding, now: Int64? = nil,
        _ change: (OpenedDump) throws(VaultError) -> (contents: DumpContents, after: Int64)?
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        return try replace(openingWith: keys, for: binding, now: now) { dump throws(VaultError) in
            let opened = try present(dump).open(with: keys, for: binding, now: now)
            guard let changed = try change(opened) else { return nil }
            return try opened.resealed(
                as: changed.contents.sealedTail, after: changed.after, with: keys, for: binding,
                now: now)
        }
    }

    // MARK: - The one way

    /// Puts a new dump in the place of the one that is there.
    ///
    /// - Parameter make: Gets the dump that is there, or nil where no file is, and gives the new
    ///   one; nil leaves the file as it is.
    private func replace(
        openingWith keys: VaultKeys, for binding: VersionBinding, now: Int64,
        _ make: (Present) throws(VaultError) -> SealedDump?
    ) throws(VaultError) -> OpenedDump {
        let old = try read()
        guard let new = try make(old) else {
            return try present(old).open(with: keys, for: binding, now: now)
        }
        try new.write(to: path)
        // Opened from what was just compared with `new`, byte by byte.
        return try new.open(with: keys, for: binding, now: now)
    }

    /// What is at the path before a change.
    private enum Present {
        case nothing
        case dump(SealedDump)
        /// Cut short or damaged, but once a dump.
        case broken(VaultError)
    }

    private func present(_ old: Present) throws(VaultError) -> SealedDump {
        switch old {
        case .dump(let dump): return dump
        case .broken(let error): throw error
        case .nothing:
            throw VaultError(.unreadableFile, "\(self): no dump is there")
        }
    }

    private func read() throws(VaultError) -> Present {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(path, limit: SealedDump.sizeLimit, requirePrivate: false)
        } catch {
            if error.kind == .notFound { return .nothing }
            throw VaultError(
                error.kind == .wrongKind ? .unwritableFile : .unreadableFile, error.message)
        }
        if bytes.isEmpty { return .nothing }
        do {
            return .dump(try SealedDump(parsing: bytes))
        } catch {
            // A dump begins with the base64url of `{"`.
            guard bytes.starts(with: "eyJ".utf8) else {
                throw VaultError(
                    .malformedDump, "\(self): it is no sealed dump, so it is not replaced")
            }
            return .broken(error.naming(path))
        }
    }

    private static func sequence(
        after old: Present, _ keys: VaultKeys, _ binding: VersionBinding, _ now: Int64
    ) -> Int64 {
        guard case .dump(let dump) = old, sameBytes(dump.binding.app.id, binding.app.id),
            let opened = try? dump.open(with: keys, now: now), opened.sequence < .max
        else { return 1 }
        return opened.sequence + 1
    }
}

extension OpenedDump {
    /// A dump of the next sequence under the same root id.
    ///
    /// - Parameter other: A sequence that the new one must be beyond too.
    func resealed(
        as tail: [UInt8], after other: Int64 = 0, with keys: VaultKeys,
        for binding: VersionBinding, now: Int64
    ) throws(VaultError) -> SealedDump {
        let sequence = max(sequence, other)
        guard sequence < .max else {
            throw VaultError(.malformedInput, "the dump's sequence cannot go on")
        }
        let root = try keys.root(named: keyID, dump.name.scheme)
        return try SealedDump(
            tail: tail, sequence: sequence + 1, with: root, for: binding, now: now,
            salt: SealedDump.newSalt())
    }
}
