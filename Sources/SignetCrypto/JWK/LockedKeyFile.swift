/// A key file that this process alone changes, one vault root at a time.
///
/// Each change replaces the file whole and then overwrites what it held before, as well as a disk
/// lets a program do that (`FileLock.write`).
package struct LockedKeyFile: ~Copyable {
    /// The keys as they stand in the file.
    package private(set) var set: KeySet
    private let path: String
    private var lock: FileLock
    private let text: KeyFileText

    /// Waits for the file's lock and reads it.
    ///
    /// - Throws: `KeyError`, as `KeySource.load`.
    package init(_ path: String) throws(KeyError) {
        let lock = try Self.lock(path)
        let set = try KeySource.file(path).load()
        let text = KeyFileText(try Self.read(path))
        self.path = path
        self.lock = lock
        self.set = set
        self.text = text
    }

    private static func lock(_ path: String) throws(KeyError) -> FileLock {
        do throws(FileFailure) {
            return try FileLock(guarding: path)
        } catch {
            throw KeyFile.unwritable(error)
        }
    }

    /// Puts a root beside another, of which it takes the dates and all other members.
    ///
    /// - Parameters:
    ///   - root: 32 bytes.
    ///   - id: Its id. A root of this id that is there already must be the same one.
    ///   - old: The id of the root beside which it comes.
    /// - Throws: `KeyError` with `keyExists`, `unknownKey` or `unwritable`; then the file is as it was.
    package mutating func add(
        root: Span<UInt8>, as id: String, beside old: String
    ) throws(KeyError) {
        if let there = set[id] {
            guard try there.isVaultRoot(root) else {
                throw KeyError(
                    code: .keyExists,
                    message: "\(printable(path)) has another key of the id "
                        + "\"\(printable(id))\"; give the new one another id")
            }
            // Once more as it is: who put it there may have been killed before the disk had it.
            return try write()
        }
        try text.add(root: root, as: id, behind: old)
        try write()
        guard let there = set[id], try there.isVaultRoot(root) else {
            throw KeyError(
                code: .unwritable,
                message: "\(printable(path)): what was read back is not what was written")
        }
    }

    /// Takes a key out for good.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `unwritable`.
    package mutating func remove(_ id: String) throws(KeyError) {
        try text.remove(id)
        try write()
    }

    private mutating func write() throws(KeyError) {
        guard text.bytes.count <= KeySet.maximumByteCount else {
            throw KeyError(
                code: .unwritable,
                message: "\(printable(path)) would hold more than \(KeySet.maximumByteCount) bytes")
        }
        do throws(FileFailure) {
            try lock.write(text.bytes, wipingOld: true)
        } catch {
            throw KeyFile.unwritable(error)
        }
        set = try KeySource.file(path).load()
    }

    private static func read(_ path: String) throws(KeyError) -> [UInt8] {
        do throws(FileFailure) {
            return try PrivateFile.read(
                path, limit: KeySet.maximumByteCount, requirePrivate: false)
        } catch {
            throw KeyError(code: .unreadable, message: error.message)
        }
    }
}

extension Key {
    /// Whether this is a vault root of these bytes; compared in constant time.
    package func isVaultRoot(_ bytes: Span<UInt8>) throws(KeyError) -> Bool {
        guard kind == .vault else { return false }
        return try withVaultRoot { root throws(KeyError) in constantTimeEqual(root, bytes) }
    }
}
