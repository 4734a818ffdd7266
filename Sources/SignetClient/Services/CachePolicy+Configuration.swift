import SignetVault

extension CachePolicy {
    /// Reads a service's `cache.rule`, `cache.age`, `cache.apiVersion`, `cache.appVersion` and
    /// `cache.bytes`; nil if none has a value.
    ///
    /// - Throws: The reader's code, naming the key.
    init?(_ reader: SettingsReader) throws(ClientError) {
        guard var policy = try Self(reader, rule: "rule", age: "age", mayHaveOthers: true) else {
            return nil
        }
        let api = try reader.read("apiVersion", as: String.self)
        let app = try reader.read("appVersion", as: String.self)
        let byteCount = try reader.positive("bytes")
        if policy.rule == .http || policy.rule == .never {
            for (name, isSet) in [
                ("apiVersion", api != nil), ("appVersion", app != nil), ("bytes", byteCount != nil),
            ] where isSet {
                throw reader.invalid(name, reason: "has no place beside rule")
            }
        }
        if api != nil || app != nil { policy = policy.versioned(api: api, app: app) }
        if let byteCount { policy = policy.limited(to: byteCount) }
        self = policy
    }

    /// Reads a rule, `never` or `http`, and an age, which is a rule of the program's own; nil if
    /// neither has a value.
    ///
    /// - Parameter mayHaveOthers: Whether other rules of the program's own may have a value.
    init?(
        _ reader: SettingsReader, rule ruleName: String, age ageName: String,
        mayHaveOthers: Bool = false
    ) throws(ClientError) {
        let age = try reader.positiveDuration(ageName)
        switch try reader.read(ruleName, as: String.self) {
        case "never": self = .never
        case "http": self = .http
        case nil:
            guard let age else {
                guard mayHaveOthers, !reader.names().isEmpty else { return nil }
                self = CachePolicy(rule: .own(OwnRules()))
                return
            }
            self = .age(age)
            return
        default: throw reader.invalid(ruleName, reason: "is neither never nor http")
        }
        guard age == nil else {
            throw reader.invalid(ageName, reason: "has no place beside \(ruleName)")
        }
    }
}
