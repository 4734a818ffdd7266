import SignetBase
import SignetCrypto

/// A sealed dump in a file. All changes to the file go through this type.
///
/// A change waits up to 10 s until no other process is changing the file (`file-busy`). It reads
/// and opens the current dump, seals a new one with the next sequence, writes it to a new file with
/// mode 0600, flushes it, renames it over the old one, flushes the folder, and then reads the
/// file back and opens it. A crash at any moment leaves either the old dump or the new one; an
/// error leaves no temporary file.
///
/// A state file keeps the highest sequence seen, with a MAC, so that an older dump that was put
/// back is detected. The dump is written first: a crash between the two leaves a dump that is newer
/// than the state file says, and that dump opens.
///
/// ```swift
/// let keys = VaultKeys.keys(try KeySource("/etc/shop/keys").load())
/// let dump = DumpFile("/var/lib/shop/shop.dump", state: "/var/lib/shop/shop.seen")
///
/// // After an upgrade of the app: open for the old version, seal for the new one.
/// let old = VersionBinding(app: "com.example.shop", version: "1.4.2")
/// let new = VersionBinding(app: "com.example.shop", version: "1.5.0")
/// try dump.rebind(with: keys, from: old, to: new)
///
/// // To change the root: open with the old key, seal under the new one.
/// try dump.rekey(with: keys, to: keys, keyID: "vault-2027", for: new)
///
/// let opened = try dump.open(with: keys, for: new)
/// print("sequence \(opened.sequence), sealed at \(opened.sealedAt)")
/// ```
public struct DumpFile: Sendable, Hashable, CustomStringConvertible {
    /// The path of the dump.
    public let path: String

    /// The path of the state file, which keeps the highest sequences seen, or nil.
    public let state: String?
    /// The treatment of a dump whose sequence is lower than one that was seen before.
    public let rollback: RollbackPolicy

    /// Names a file, which need not exist yet.
    ///
    /// - Parameters:
    ///   - path: The dump; for opening, `-` is standard input.
    ///   - state: A file for the highest sequences seen, created at the first use. It can serve all
    ///     dumps of one root. If nil, rollbacks aren't detected.
    ///   - rollback: The treatment of a dump whose sequence is lower than one that was seen before.
    public init(_ path: String, state: String? = nil, rollback: RollbackPolicy = .refuse) {
        self.path = path
        self.state = state
        self.rollback = rollback
    }

    /// The path.
    public var description: String { printable(path) }

    /// Opens the dump for the running versions.
    ///
    /// - Parameters:
    ///   - keys: The key set or passphrase that opens it.
    ///   - binding: The running app and network system.
    ///   - olderAppVersions: Older versions of the app whose dumps may be read. A newer version is
    ///     never accepted.
    ///   - olderSystemVersions: Older versions of the network system whose dumps may be read.
    ///   - now: The time for the key's dates, in Unix seconds; nil is the current time.
    /// - Throws: `unreadable-file`, `malformed-dump`, and as `SealedDump.open`. With a state file
    ///   also `rolled-back` if the policy refuses it, `state-tampered`, `unwritable-file`.
    public func open(
        with keys: VaultKeys, for binding: VersionBinding,
        accepting olderAppVersions: [String] = [], system olderSystemVersions: [String] = [],
        now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let dump = try SealedDump(contentsOf: path)
        let opened: OpenedDump
        do throws(VaultError) {
            opened = try dump.open(
                with: keys, for: binding, accepting: olderAppVersions, system: olderSystemVersions,
                now: now)
        } catch {
            throw error.code == .tampered ? error.naming(path) : error
        }
        return try checked(opened, with: keys, recording: true)
    }

    /// Compares the sequence of an opened dump with the state file, if there is one.
    ///
    /// - Parameter recording: Whether to write a higher sequence to the state file.
    /// - Throws: `rolled-back`, `state-tampered`, `unwritable-file`.
    package func checked(
        _ opened: OpenedDump, with keys: VaultKeys, recording: Bool
    ) throws(VaultError) -> OpenedDump {
        guard let state else { return opened }
        let check = try StateFile(path: state).check(
            opened, under: keys.root(of: opened.dump), recording: recording)
        return try opened.reporting(check, of: self)
    }

    /// Seals a configuration into the file.
    ///
    /// If the file holds a dump of the same app, of any version, that the same keys open, the new
    /// dump's sequence is one higher, so that the old dump can be detected if it's put back. Over
    /// another dump or an empty file the sequence starts at 1. Any other file is never replaced,
    /// because it may be a key file named by mistake.
    ///
    /// With `keepingChanges`, the values that were changed in the old dump itself (`signet vault
    /// set`, `edit`) replace the configuration's values and stay marked as changed. The call fails
    /// if the old dump doesn't open, or has another value that the configuration lacks, because
    /// these would be lost.
    ///
    /// - Parameters:
    ///   - configuration: The configuration to seal.
    ///   - keys: The key set or passphrase to seal under.
    ///   - keyID: The root's id; nil is the set's only root. A passphrase accepts any id; nil is
    ///     `passphrase`.
    ///   - binding: The app and versions that can open the dump.
    ///   - keepingChanges: Whether the changes in the old dump are kept; if not, they are replaced.
    ///   - now: The time for the key's dates and `sealedAt`, in Unix seconds; nil is the current
    ///     time.
    /// - Returns: The content of the new dump, as read back. Its `changed` are the kept keys, and
    ///   its `replacement` names what was dropped or ignored.
    /// - Throws: `unknown-key`, `unwritable-file`, and as `GlobalConfiguration.seal`. With
    ///   `keepingChanges` also `would-lose-changes` if the schema no longer allows a kept value,
    ///   `would-lose-values` if the configuration lacks another value of the old dump,
    ///   `malformed-dump`, and as `open` for the old dump.
    @discardableResult
    public func seal(
        _ configuration: GlobalConfiguration, with keys: VaultKeys, keyID: String? = nil,
        for binding: VersionBinding, keepingChanges: Bool = false, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        try seal(
            DumpContents(configuration), of: configuration.schema, with: keys, keyID: keyID,
            for: binding, keepingChanges: keepingChanges, now: now)
    }

    /// Seals contents into the file, as `seal(_:with:keyID:for:keepingChanges:now:)` does.
    ///
    /// - Parameter schema: The schema that has allowed the contents.
    @discardableResult
    package func seal(
        _ contents: DumpContents, of schema: Schema, with keys: VaultKeys, keyID: String? = nil,
        for binding: VersionBinding, keepingChanges: Bool = false, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        let root = try keys.root(sealingAs: keyID, at: now)
        var replacement = OpenedDump.Replacement(dropped: [])
        var opened = try change(openedWith: keys, at: now, alsoTrusting: root) {
            current throws(VaultError) in
            var contents = contents
            var last: Int64 = 0
            replacement = OpenedDump.Replacement(dropped: [])
            if !keepingChanges {
                let old = current.opened(of: binding.app, with: keys, at: now)
                last = old?.sequence ?? 0
                replacement.dropped =
                    old.map { contents.droppedNames(of: DumpContents($0)) }
                    ?? (current.isEmpty ? [] : nil)
            } else if let old = try current.openAnyVersion(of: binding, with: keys, at: now) {
                last = old.sequence
                let kept = try contents.keepingChanges(of: DumpContents(old), allowedBy: schema)
                replacement = OpenedDump.Replacement(
                    dropped: [],
                    ignored: kept.changed.filter { name in
                        guard let given = contents[name], given.origin != .defaults else {
                            return false
                        }
                        return given.value != kept[name]?.value
                    })
                contents = kept.ordered(by: schema)
            }
            try contents.requireValues(of: schema)
            last = max(last, try current.highestSeen(of: binding) ?? 0)
            let dump = try SealedDump(
                tail: contents.sealedTail, sequence: Self.sequence(after: last), with: root,
                for: binding, now: now, salt: SealedDump.newSalt())
            return .to(dump, under: root, of: keys, from: nil)
        }
        opened.replacement = replacement
        return opened
    }

    /// Opens the dump for the old versions and seals it for the new ones, as needed after an
    /// upgrade.
    ///
    /// - Parameters:
    ///   - keys: The key set or passphrase that opens it; the root stays the same.
    ///   - old: The app and versions that the dump must be sealed for, exactly.
    ///   - new: The app and versions that can open the new dump.
    ///   - now: The current time in Unix seconds; nil is the system clock's.
    /// - Returns: The content of the new dump, as read back.
    /// - Throws: `unreadable-file`, `unwritable-file`, and as `open`.
    @discardableResult
    public func rebind(
        with keys: VaultKeys, from old: VersionBinding, to new: VersionBinding, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        return try change(openedWith: keys, at: now) { current throws(VaultError) in
            let opened = try current.open(with: keys, for: old, at: now)
            let root = try keys.root(of: opened.dump)
            return try current.resealed(
                opened, as: opened.sealedTail, under: root, of: keys, for: new, at: now)
        }
    }

    /// Seals the dump under another root: a root of another key set, another id of the same set, or
    /// a passphrase. The salt is new and the sequence is one higher; versions and values stay the
    /// same.
    ///
    /// A dump that is already under the new root keeps its content and is only written again. So a
    /// call that was interrupted can be repeated, and the old key can be deleted afterwards.
    ///
    /// - Parameters:
    ///   - keys: The key set or passphrase that opens the dump.
    ///   - newKeys: The key set or passphrase that opens the new dump; it may be the same set.
    ///   - keyID: The new root's id; nil is the set's only root, or `passphrase`.
    ///   - binding: The app and versions that the dump must be sealed for, exactly.
    ///   - acceptingEndedKey: Whether the old key may be revoked or expired. The new key never may.
    ///   - now: The current time in Unix seconds; nil is the system clock's.
    /// - Returns: The content of the new dump, as read back.
    /// - Throws: `unreadable-file`, `unwritable-file`, and as `open` and `seal`.
    @discardableResult
    public func rekey(
        with keys: VaultKeys, to newKeys: VaultKeys, keyID: String? = nil,
        for binding: VersionBinding, acceptingEndedKey: Bool = false, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        let root = try newKeys.root(sealingAs: keyID, at: now)
        try root.requireSealing(at: now)
        return try change(
            openedWith: keys, at: now, alsoTrusting: root, acceptingEndedKey: acceptingEndedKey
        ) { current throws(VaultError) in
            let dump = try current.dump
            try dump.requireBinding(to: binding)
            if dump.header.scheme == root.scheme, sameBytes(dump.keyID, root.id),
                let opened = try? dump.open(with: newKeys, isExactVersion: true, now: now)
            {
                return .to(dump, under: root, of: newKeys, from: try current.checked(opened))
            }
            let opened = try current.open(
                with: keys, for: binding, acceptingEndedKey: acceptingEndedKey, at: now)
            return try current.resealed(
                opened, as: opened.sealedTail, under: root, of: newKeys, for: binding, at: now)
        }
    }

    /// Changes the configuration in the dump.
    ///
    /// - Parameters:
    ///   - keys: The key set or passphrase that opens it; the root stays the same.
    ///   - binding: The app and versions that the dump must be sealed for, exactly.
    ///   - now: The current time in Unix seconds; nil is the system clock's.
    ///   - edit: Receives the content. Returns the new content and a sequence that the new dump's
    ///     must exceed, or nil to leave the file unchanged.
    /// - Returns: The content of the new dump as read back, or of the unchanged one.
    /// - Throws: `unreadable-file`, `unwritable-file`, the errors of `edit`, and as `open`.
    @discardableResult
    package func update(
        with keys: VaultKeys, for binding: VersionBinding, now: Int64? = nil,
        _ edit: (OpenedDump) throws(VaultError) -> (contents: DumpContents, after: Int64)?
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        return try change(openedWith: keys, at: now) { current throws(VaultError) in
            let opened = try current.open(with: keys, for: binding, at: now)
            guard let changed = try edit(opened) else { return .unchanged(opened) }
            let root = try keys.root(of: opened.dump)
            return try current.resealed(
                opened, as: changed.contents.sealedTail, after: changed.after, under: root,
                of: keys, for: binding, at: now)
        }
    }
}
