import SignetBase
import SignetSystem

/// A key file that this process has locked, to add, remove and revoke keys.
///
/// Each change replaces the whole file atomically and then overwrites the old bytes on the disk, as
/// far as the disk allows it (see `FileLock.write`).
package struct LockedKeyFile: ~Copyable {
    /// The keys that are now in the file.
    package private(set) var set: KeySet
    private let path: String
    private var lock: FileLock
    private let text: KeyFileText

    /// Waits for the lock and reads the file.
    ///
    /// - Throws: `KeyError`, as `KeySource.load`.
    package init(_ path: String) throws(KeyError) {
        let lock = try KeyFile.lock(path)
        let (set, text) = try KeySource.file(path).loadChangeable()
        self.path = path
        self.lock = lock
        self.set = set
        self.text = text
    }

    /// Adds a root with the dates and all other members of an existing one.
    ///
    /// - Parameters:
    ///   - root: 32 bytes.
    ///   - id: The new root's id. If the file already has a root with this id, it must be the same
    ///     root.
    ///   - old: The id of the existing root.
    /// - Throws: `KeyError` with `keyExists`, `unknownKey` or `unwritable`. The file is then
    ///   unchanged.
    package mutating func add(
        root: Span<UInt8>, as id: String, beside old: String
    ) throws(KeyError) {
        if let there = set[id] {
            guard try there.isVaultRoot(root) else {
                throw KeyError(
                    .keyExists,
                    "\(printable(path)) has another key with the id "
                        + "\"\(printable(id))\"; choose another id for the new one")
            }
            // The process that added the root may have been killed before the disk had the file, so
            // write it again.
            return try write()
        }
        try text.add(root: root, as: id, after: old)
        try write()
        guard let there = set[id], try there.isVaultRoot(root) else {
            throw KeyError(
                .unwritableKeys,
                "\(printable(path)): the new root is missing after the file was written")
        }
    }

    /// Removes a key.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `unwritable`.
    package mutating func remove(_ id: String) throws(KeyError) {
        try text.remove(id)
        try write()
    }

    /// Marks a key as revoked.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `unwritable`.
    package mutating func revoke(_ id: String) throws(KeyError) {
        try text.revoke(id)
        try write()
    }

    private mutating func write() throws(KeyError) {
        try KeyFile.replaceContents(of: &lock, with: text.bytes, wipingOld: true)
        set = try KeySource.file(path).load()
    }
}

extension CryptoKey {
    /// Returns whether this is the vault root with these bytes, compared in constant time.
    package func isVaultRoot(_ bytes: Span<UInt8>) throws(KeyError) -> Bool {
        guard kind == .vault else { return false }
        return try withVaultRoot { root throws(KeyError) in constantTimeEqual(root, bytes) }
    }
}
