import SignetVault

extension ServiceConfiguration {
    /// Reads `addresses` of a service's host.
    ///
    /// - Throws: The reader's code, naming the key.
    static func addresses(_ reader: SettingsReader) throws(ClientError) -> [ServiceAddress] {
        guard let texts = try reader.read("addresses", as: [String].self) else { return [] }
        do throws(ClientError) {
            return try ServiceAddress.list(texts)
        } catch {
            throw reader.invalid("addresses", reason: "can't be used: \(error.message)")
        }
    }
}
