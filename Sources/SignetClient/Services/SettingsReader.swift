import SignetVault

/// Reads keys that the network system knows, with errors that name key and never value.
struct SettingsReader {
    let configuration: GlobalConfiguration
    let prefix: String
    let code: ClientError.Code

    /// Reads keys below a prefix; `code` is that of its errors.
    init(
        _ configuration: GlobalConfiguration, prefix: String = "",
        code: ClientError.Code = .invalidConfiguration
    ) {
        self.configuration = configuration
        self.prefix = prefix
        self.code = code
    }

    /// A value, or nil if no input sets it.
    ///
    /// - Throws: The reader's code if it has another type than the network system reads.
    func read<Value: ConfigurationValue>(
        _ name: String, as type: Value.Type
    ) throws(ClientError) -> Value? {
        guard let checked = configuration.value(named: prefix + name) else { return nil }
        guard let value = Value(checked) else {
            throw invalid(name, reason: "has another type than the network system reads")
        }
        return value
    }

    /// Returns a reader of the keys below this one's prefix and a name.
    func below(_ name: String) -> SettingsReader {
        SettingsReader(configuration, prefix: "\(prefix)\(name).", code: code)
    }

    /// Returns the keys below this one's prefix that have a value, without the prefix.
    func names() -> [String] { names(after: prefix) }

    /// Whether the value that holds was fetched.
    func isFetched(_ name: String) -> Bool {
        configuration.origin(of: prefix + name) == .fetched
    }

    /// A duration, or a number of seconds, or nil if no input sets it.
    ///
    /// - Throws: As `read`, and for a number of seconds that doesn't fit into a `Duration`.
    func duration(_ name: String) throws(ClientError) -> Duration? {
        guard let checked = configuration.value(named: prefix + name) else { return nil }
        if let duration = Duration(checked) {
            // A pause is doubled up to sixteen times and added to the clock's time.
            guard duration < .seconds(1_000_000_000) else {
                throw invalid(name, reason: "is too long: expected less than 1000000000 seconds")
            }
            return duration
        }
        guard let seconds = try read(name, as: Double.self) else { return nil }
        guard abs(seconds) < 1e9 else { throw invalid(name, reason: "is not a number of seconds") }
        return .seconds(seconds)
    }

    /// A duration above zero, or nil if no input sets it.
    ///
    /// - Throws: As `duration`, and for zero or less.
    func positiveDuration(_ name: String) throws(ClientError) -> Duration? {
        guard let time = try duration(name) else { return nil }
        guard time > .zero else { throw invalid(name, reason: "is not above zero") }
        return time
    }

    /// A number above zero, or nil if no input sets it.
    ///
    /// - Throws: As `read`, and for zero or less.
    func positive(_ name: String) throws(ClientError) -> Int? {
        guard let number = try read(name, as: Int.self) else { return nil }
        guard number > 0 else { throw invalid(name, reason: "is not above zero") }
        return number
    }

    /// A number in a range, or nil if no input sets it.
    ///
    /// - Throws: As `read`, and for a number outside of it.
    func number(_ name: String, in range: ClosedRange<Int>) throws(ClientError) -> Int? {
        guard let number = try read(name, as: Int.self) else { return nil }
        guard range.contains(number) else {
            throw invalid(name, reason: "is not in \(range.lowerBound)...\(range.upperBound)")
        }
        return number
    }

    /// Returns the schema's keys below a group, such as `timeouts.`, that have a value, without the
    /// group's name. The schema has an index of its groups, so the number of other keys doesn't
    /// matter.
    func names(after group: String) -> [String] {
        configuration.schema.keys(below: String(group.dropLast())).compactMap { key in
            guard configuration.value(named: key) != nil else { return nil }
            return String(decoding: key.utf8.dropFirst(group.utf8.count), as: UTF8.self)
        }
    }

    /// The error of a key.
    func invalid(_ name: String, reason: String) -> ClientError {
        ClientError(code, "\(prefix)\(name) \(reason)")
    }
}
