import SignetCrypto

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
