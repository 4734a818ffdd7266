import SignetBase
import SignetCrypto
import SignetSystem

extension DumpFile {
    /// Seals the dump for newer versions under a new root that is derived from the current one in
    /// one direction, and removes the current root from the key file. Afterwards the key file opens
    /// no dump from before the upgrade, even if an attacker obtains it.
    ///
    /// The steps, each flushed to the disk before the next: the new root is added to the key file;
    /// the dump is sealed under the new root, written and read back; the old root is removed from
    /// the key file and its bytes are overwritten. After a crash at any step, the key file opens
    /// the dump, and the same call does the remaining steps.
    ///
    /// Afterwards no dump under the old root can be opened. The call therefore looks for other such
    /// dumps, but only in the dump's folder and in the state file.
    ///
    /// - Parameters:
    ///   - keyFile: The file with the current root. Its other keys stay as they are.
    ///   - old: The app and versions that the dump must be sealed for, exactly.
    ///   - new: The app and versions that can open the new dump; not the same as `old`.
    ///   - keyID: The new root's id; nil appends or increments a number: `vault-2026`,
    ///     `vault-2026+1`, `vault-2026+2`.
    ///   - lockingOutOthers: Whether other dumps under the old root may become unreadable.
    ///   - now: The current time in Unix seconds; nil is the system clock's.
    /// - Returns: The content of the new dump, as read back, and the id of the removed root.
    /// - Throws: `locks-out-others` naming the other dumps; `malformed-input` if the versions are
    ///   the same; `malformed-keys` if another key has the new id; and as `rebind`.
    @discardableResult
    public func ratchet(
        keyFile: String, from old: VersionBinding, to new: VersionBinding, keyID: String? = nil,
        lockingOutOthers: Bool = false, now: Int64? = nil
    ) throws(VaultError) -> (dump: OpenedDump, forgotten: String) {
        let now = now ?? UnixTime.now()
        guard old != new else {
            throw VaultError(
                .malformedInput, "found the same old and new versions; ratchet only at an upgrade")
        }
        var file = try Self.converting(key: try LockedKeyFile(keyFile))
        let found = try SealedDump(contentsOf: path)
        if found.binding == new,
            let forgotten = try Ratchet.previousID(of: found, in: file.set, for: new)
        {
            let opened = try change(openedWith: .keys(file.set), at: now) {
                current throws(VaultError) in
                let keys = VaultKeys.keys(file.set)
                let opened = try current.open(with: keys, for: new, at: now)
                if !lockingOutOthers {
                    try requireNoOthers(under: forgotten, than: opened, in: current)
                }
                guard opened.dump == found else {
                    throw VaultError(.fileBusy, "\(self): another process changed it meanwhile")
                }
                // Write the same dump again. A run that crashed may not have flushed it, and the
                // root of the dump before it is about to be removed.
                return .to(opened.dump, under: try keys.root(of: found), of: keys, from: opened)
            }
            try Self.converting(key: try file.remove(forgotten))
            return (opened, forgotten)
        }
        var forgotten = ""
        let opened = try change(openedWith: .keys(file.set), at: now) {
            current throws(VaultError) in
            let keys = VaultKeys.keys(file.set)
            let opened = try current.open(with: keys, for: old, at: now)
            try new.requireUsable()
            let id = keyID ?? Ratchet.id(after: opened.keyID)
            if let problem = VersionBinding.problem(with: id) {
                throw VaultError(.malformedInput, "the new key's id \(problem)")
            }
            forgotten = opened.keyID
            guard !sameBytes(id, forgotten) else {
                throw VaultError(.malformedInput, "the new key's id is the same as the old key's")
            }
            if !lockingOutOthers {
                try requireNoOthers(under: forgotten, than: opened, in: current)
            }
            let next = try Ratchet.root(after: keys.root(of: opened.dump), as: id, for: new)
            try Self.converting(key: try file.add(root: next.bytes, as: id, beside: forgotten))
            let newKeys = VaultKeys.keys(file.set)
            let root = try newKeys.root(named: id, scheme: .root)
            return try current.resealed(
                opened, as: opened.sealedTail, under: root, of: newKeys, for: new, at: now)
        }
        try Self.converting(key: try file.remove(forgotten))
        return (opened, forgotten)
    }

    /// Throws `locks-out-others` if other dumps are known to be under a root that is to be removed.
    private func requireNoOthers(
        under keyID: String, than opened: OpenedDump, in current: Current
    ) throws(VaultError) {
        var others: [String] = []
        do throws(FileFailure) {
            for file in try Folder.firstBytes(
                ofFilesBeside: path, count: SealedDump.headerLimit + 1)
            {
                if let header = SealedDump.header(beginning: file.bytes), header.scheme == .root,
                    sameBytes(header.keyID, keyID)
                {
                    others.append(printable(file.name))
                }
            }
        } catch {
            throw VaultError(.unreadableFile, error.message)
        }
        others.sort()
        others += try current.otherApps(than: opened.binding).map { "the app \(quoted($0))" }
        guard others.isEmpty else {
            let shown = others.prefix(8).joined(separator: ", ")
            let more = others.count > 8 ? " and \(others.count - 8) more" : ""
            throw VaultError(
                .locksOutOthers,
                "without key \(quoted(keyID)) these would never open again: \(shown)\(more); "
                    + "rebind or rekey them first, or allow it (--lock-out-others)")
        }
    }

    /// Returns a value, or throws a `KeyError` as a `VaultError`.
    fileprivate static func converting<Result: ~Copyable>(
        key work: @autoclosure () throws(KeyError) -> Result
    ) throws(VaultError) -> Result {
        do throws(KeyError) {
            return try work()
        } catch {
            throw VaultError(error)
        }
    }
}

/// Derives the next root from the current one in one direction.
enum Ratchet {
    /// Derives the root of an upgrade with HKDF-SHA256 (RFC 5869), from which the current root
    /// can't be computed. There is no salt. The info is the label `signet1 ratchet`, a zero byte,
    /// the two ids, and the ids and versions of the app and the network system, each after its
    /// length.
    ///
    /// - Parameters:
    ///   - root: The current root.
    ///   - id: The next root's id.
    ///   - binding: The app and versions that the new dump is bound to.
    /// - Returns: 32 bytes.
    static func root(
        after root: DumpRoot, as id: String, for binding: VersionBinding
    ) throws(VaultError) -> SecretBytes {
        var info = LengthPrefixed(label: "signet1 ratchet")
        for part in [root.id, id] + binding.parts { info.append(part) }
        return try root.derive(salt: [], info: info.bytes, count: 32)
    }

    /// Returns the next id: `vault-2026`, `vault-2026+1`, `vault-2026+2`, ….
    static func id(after id: String) -> String {
        let parts = id.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count > 1, let last = parts.last, let number = UInt32(last), number > 0,
            sameBytes(String(number), String(last)), number < .max
        else { return id + "+1" }
        return parts.dropLast().joined(separator: "+") + "+\(number + 1)"
    }

    /// Returns the id of the key from which a dump's root was derived for these versions, or nil if
    /// the set doesn't have that key.
    fileprivate static func previousID(
        of dump: SealedDump, in set: KeySet, for binding: VersionBinding
    ) throws(VaultError) -> String? {
        guard dump.header.scheme == .root, let current = set[dump.keyID] else { return nil }
        for key in set.keys where key.kind == .vault && !sameBytes(key.id, current.id) {
            let next = try root(after: .key(key), as: current.id, for: binding)
            if try DumpFile.converting(key: try current.isVaultRoot(next.bytes)) { return key.id }
        }
        return nil
    }
}
