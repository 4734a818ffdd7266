import SignetVault

extension CallMerging {
    /// Reads a service's `merging.maximumCalls`, `merging.maximumBytes` and `merging.maximumWait`;
    /// nil if the first has no value.
    ///
    /// - Throws: The reader's code, naming the key.
    init?(_ reader: SettingsReader) throws(ClientError) {
        let count = try reader.read("maximumCalls", as: Int.self)
        let size = try reader.read("maximumBytes", as: Int.self)
        let wait = try reader.duration("maximumWait")
        guard let count else {
            for (name, isSet) in [("maximumBytes", size != nil), ("maximumWait", wait != nil)]
            where isSet {
                throw reader.invalid(name, reason: "has no place without maximumCalls")
            }
            return nil
        }
        self.init(maximumCalls: count)
        if let size { maximumBytes = size }
        if let wait { maximumWait = wait }
        guard (2...100).contains(count) else {
            throw reader.invalid("maximumCalls", reason: "is not in 2...100")
        }
        guard maximumBytes > 0 else {
            throw reader.invalid("maximumBytes", reason: "is not above zero")
        }
        guard maximumWait > .zero else {
            throw reader.invalid("maximumWait", reason: "is not above zero")
        }
    }
}
