internal import SignetBase
import SignetCrypto
internal import SignetSystem

extension DumpFile {
    /// Brings the dump to newer versions under a root that is made of the current one in one
    /// direction, and forgets the current one: with the key file as it then stands no dump from
    /// before the upgrade opens, nor can anybody who gets hold of it later make it open.
    ///
    /// In this order, each step safe on the disk before the next: the key file gets the new root
    /// beside the old; the dump is sealed under the new root, written and read back; the key file
    /// loses the old root, and what it held before is overwritten. A kill after any step leaves a
    /// dump that the key file opens, and the same call again does what is left.
    ///
    /// Every dump under the old root is locked out for good. Those beside this one, and the apps
    /// that the state file knows, are looked for; others the caller must know of.
    ///
    /// - Parameters:
    ///   - keyFile: The file with the current root. Its other keys stay as they are.
    ///   - old: The app and versions that the dump must be of, exactly.
    ///   - new: The app and versions that open the result; not the same.
    ///   - keyID: The new root's id; nil counts on: `vault-2026`, `vault-2026+1`, `vault-2026+2`.
    ///   - lockingOutOthers: Whether other dumps under the old root may be locked out.
    ///   - now: Unix seconds; nil is the clock's.
    /// - Returns: The inside of what was read back, and the id of the root that is gone.
    /// - Throws: `locks-out-others` naming the other dumps; `malformed-input` for the same versions;
    ///   `malformed-keys` for an id that another key has; and as `rebind`.
    @discardableResult
    public func ratchet(
        keyFile: String, from old: VersionBinding, to new: VersionBinding, keyID: String? = nil,
        lockingOutOthers: Bool = false, now: Int64? = nil
    ) throws(VaultError) -> (dump: OpenedDump, forgotten: String) {
        let now = now ?? UnixTime.now()
        guard old != new else {
            throw VaultError(
                .malformedInput, "a ratchet belongs to an upgrade, and both versions are the same")
        }
        var file = try Self.mapping { () throws(KeyError) in try LockedKeyFile(keyFile) }
        let there = try SealedDump(contentsOf: path)
        if there.binding == new, let forgotten = try Self.origin(of: there, in: file.set, new) {
            let opened = try change(openedWith: .keys(file.set), at: now) {
                present throws(VaultError) in
                let keys = VaultKeys.keys(file.set)
                let opened = try present.open(with: keys, for: new, at: now)
                try requireNoOthers(under: forgotten, opened, present, lockingOutOthers)
                guard opened.dump == there else {
                    throw VaultError(.fileBusy, "\(self): another process has changed it meanwhile")
                }
                // Once more as it is: a run that was killed may not have brought it to the disk, and
                // the root that opens the one before it is about to go.
                return .to(opened.dump, under: try keys.root(of: there), of: keys, from: opened)
            }
            try Self.mapping { () throws(KeyError) in try file.remove(forgotten) }
            return (opened, forgotten)
        }
        var forgotten = ""
        let opened = try change(openedWith: .keys(file.set), at: now) {
            present throws(VaultError) in
            let keys = VaultKeys.keys(file.set)
            let opened = try present.open(with: keys, for: old, at: now)
            try new.requireUsable()
            let id = keyID ?? Ratchet.id(after: opened.keyID)
            if let problem = VersionBinding.problem(with: id) {
                throw VaultError(.malformedInput, "the new key's id \(problem)")
            }
            forgotten = opened.keyID
            guard !sameBytes(id, forgotten) else {
                throw VaultError(.malformedInput, "the new key's id is the old one's")
            }
            try requireNoOthers(under: forgotten, opened, present, lockingOutOthers)
            let next = try Ratchet.root(after: keys.root(of: opened.dump), as: id, for: new)
            try Self.mapping { () throws(KeyError) in
                try file.add(root: next.bytes, as: id, beside: forgotten)
            }
            let newKeys = VaultKeys.keys(file.set)
            let root = try newKeys.root(named: id, .root)
            return try present.resealed(
                opened, as: opened.sealedTail, under: root, of: newKeys, for: new, at: now)
        }
        try Self.mapping { () throws(KeyError) in try file.remove(forgotten) }
        return (opened, forgotten)
    }

    /// The root in a set of which a dump's root was made for these versions; nil where it is gone.
    private static func origin(
        of dump: SealedDump, in set: KeySet, _ binding: VersionBinding
    ) throws(VaultError) -> String? {
        guard dump.name.scheme == .root, let current = set[dump.keyID] else { return nil }
        for key in set.keys where key.kind == .vault && !sameBytes(key.id, current.id) {
            let next = try Ratchet.root(after: .key(key), as: current.id, for: binding)
            let isOrigin = try mapping { () throws(KeyError) in
                try current.isVaultRoot(next.bytes)
            }
            if isOrigin { return key.id }
        }
        return nil
    }

    /// Looks for other dumps under a root that is to go.
    private func requireNoOthers(
        under keyID: String, _ opened: OpenedDump, _ present: Present, _ isAccepted: Bool
    ) throws(VaultError) {
        guard !isAccepted else { return }
        var others: [String] = []
        do throws(FileFailure) {
            for file in try Folder.firstBytes(
                ofFilesBeside: path, count: SealedDump.headerLimit + 1)
            {
                if let name = SealedDump.name(beginning: file.bytes), name.scheme == .root,
                    sameBytes(name.keyID, keyID)
                {
                    others.append(printable(file.name))
                }
            }
        } catch {
            throw VaultError(.unreadableFile, error.message)
        }
        others.sort()
        others += try present.otherApps(than: opened.binding).map { "the app \(quoted($0))" }
        guard others.isEmpty else {
            let shown = others.prefix(8).joined(separator: ", ")
            let more = others.count > 8 ? " and \(others.count - 8) more" : ""
            throw VaultError(
                .locksOutOthers,
                "without key \(quoted(keyID)) these would never open again: \(shown)\(more); "
                    + "rebind or rekey them first, or say that they may be locked out")
        }
    }

    private static func mapping<Result: ~Copyable>(
        _ work: () throws(KeyError) -> Result
    ) throws(VaultError) -> Result {
        do throws(KeyError) {
            return try work()
        } catch {
            throw VaultError(error)
        }
    }
}
