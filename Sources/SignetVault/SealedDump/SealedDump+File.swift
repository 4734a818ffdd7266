import SignetCrypto
internal import SignetSystem

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
}
