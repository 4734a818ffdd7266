internal import SignetBase
import SignetCrypto

/// A sealed dump in a file, and the one way in which it is changed.
///
/// Every change waits until no other process changes the file, at most 10 s (`file-busy`), reads the
/// dump that is there, opens it, makes a new one with the next sequence, writes it beside the old one
/// with mode 0600, flushes it, renames it over the old one, flushes the folder, and reads back and
/// opens what then stands there. A kill at any moment leaves the old dump or the new one, and an error
/// leaves no temporary file.
///
/// With a state file the highest sequence seen is kept beside the dump, with a MAC, so that an older
/// dump that somebody put back is noticed. The dump is written first: a kill between the two leaves a
/// dump that is newer than the state says, which opens.
public struct DumpFile: Sendable, Hashable, CustomStringConvertible {
    /// Where the dump is.
    public let path: String

    /// Where the highest sequences seen are kept, or nil.
    public let state: String?
    /// What becomes of a dump with a lower sequence than one that was seen.
    public let rollback: RollbackPolicy

    /// Names a file, which need not be there yet.
    ///
    /// - Parameters:
    ///   - path: The dump; to be opened, `-` is standard input.
    ///   - state: A file for the highest sequences seen, made at the first use; it serves the dumps
    ///     of one root. nil: none is kept.
    ///   - rollback: What becomes of a dump with a lower sequence than one that was seen.
    public init(_ path: String, state: String? = nil, rollback: RollbackPolicy = .refuse) {
        self.path = path
        self.state = state
        self.rollback = rollback
    }

    /// The path.
    public var description: String { printable(path) }

    /// Opens the dump for the versions that run.
    ///
    /// - Parameters:
    ///   - keys: What opens it.
    ///   - binding: The app and the network system that run.
    ///   - olderAppVersions: Older versions of the app whose dumps may be read; never a newer one.
    ///   - olderSystemVersions: The same of the network system.
    ///   - now: Unix seconds for the key's dates; nil is the clock's.
    /// - Throws: `unreadable-file`, `malformed-dump`, and as `SealedDump.open`. With a state file
    ///   `rolled-back` where the policy refuses it, `state-tampered`, `unwritable-file`.
    public func open(
        with keys: VaultKeys, for binding: VersionBinding,
        accepting olderAppVersions: [String] = [], system olderSystemVersions: [String] = [],
        now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let opened = try SealedDump(contentsOf: path).open(
            with: keys, for: binding, accepting: olderAppVersions, system: olderSystemVersions,
            now: now)
        return try checked(opened, with: keys, recording: true)
    }

    /// Holds a dump that was opened against the state file, if there is one.
    ///
    /// - Parameter recording: Whether a higher sequence is noted; else nothing is written.
    /// - Throws: `rolled-back`, `state-tampered`, `unwritable-file`.
    package func checked(
        _ opened: OpenedDump, with keys: VaultKeys, recording: Bool
    ) throws(VaultError) -> OpenedDump {
        guard let state else { return opened }
        let check = try StateFile(path: state).check(
            opened, under: keys.root(of: opened.dump), recording: recording)
        return try reported(check, of: opened)
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
        return try change(openedWith: keys, at: now, alsoVouching: root) { old throws(VaultError) in
            let floor = max(
                old.sequence(of: binding.app, with: keys, at: now), try old.seen(binding) ?? 0)
            let dump = try SealedDump(
                tail: configuration.sealedTail, sequence: Self.sequence(after: floor), with: root,
                for: binding, now: now, salt: SealedDump.newSalt())
            return .to(dump, under: root, of: keys, from: nil)
        }
    }

    /// Brings the dump to other versions, at an upgrade: opened for the old ones and sealed for the
    /// new ones.
    ///
    /// - Parameters:
    ///   - keys: What opens it; the root stays the same.
    ///   - old: The app and versions that the dump must be of, exactly.
    ///   - new: The app and versions that open the result.
    ///   - now: Unix seconds; nil is the clock's.
    /// - Returns: The inside of what was read back.
    /// - Throws: `unreadable-file`, `unwritable-file`, and as `open`.
    @discardableResult
    public func rebind(
        with keys: VaultKeys, from old: VersionBinding, to new: VersionBinding, now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        return try change(openedWith: keys, at: now) { present throws(VaultError) in
            let opened = try present.open(with: keys, for: old, at: now)
            let root = try keys.root(of: opened.dump)
            return try present.resealed(
                opened, as: opened.sealedTail, under: root, of: keys, for: new, at: now)
        }
    }

    /// Changes the configuration in the dump.
    ///
    /// - Parameters:
    ///   - keys: What opens it; the root stays the same.
    ///   - binding: The app and versions that the dump must be of, exactly.
    ///   - now: Unix seconds; nil is the clock's.
    ///   - edit: Gets the inside and gives what takes its place, with a sequence that the new one
    ///     must be beyond; nil leaves the file as it is.
    /// - Returns: The inside of what was read back, or of what was left as it is.
    /// - Throws: `unreadable-file`, `unwritable-file`, what `edit` throws, and as `open`.
    @discardableResult
    package func update(
        with keys: VaultKeys, for binding: VersionBinding, now: Int64? = nil,
        _ edit: (OpenedDump) throws(VaultError) -> (contents: DumpContents, after: Int64)?
    ) throws(VaultError) -> OpenedDump {
        let now = now ?? UnixTime.now()
        return try change(openedWith: keys, at: now) { present throws(VaultError) in
            let opened = try present.open(with: keys, for: binding, at: now)
            guard let changed = try edit(opened) else { return .unchanged(opened) }
            let root = try keys.root(of: opened.dump)
            return try present.resealed(
                opened, as: changed.contents.sealedTail, after: changed.after, under: root,
                of: keys, for: binding, at: now)
        }
    }
}
