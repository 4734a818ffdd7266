import SignetBase
public import SignetJSON

/// A program's whole configuration: merged from three inputs, checked against a schema, immutable.
///
/// Its public part is read through `public`, and a secret with `withSecret` (see
/// ``ConfigurationSnapshot``). A configuration doesn't print and isn't `Encodable`.
///
/// ```swift
/// let timeout = ConfigurationKey<Duration, PublicValue>("orders.timeout")
/// let configuration = try GlobalConfiguration(
///     schema: Schema(contentsOf: "/etc/shop/schema.json"),
///     defaults: .file("/etc/shop/defaults.json"), launch: .environment(prefix: "SHOP_"),
///     requiring: timeout)
/// print(configuration.public[timeout])  // SHOP_ORDERS_TIMEOUT, if set, else the default
///
/// let keys = VaultKeys.keys(try KeySource("/etc/shop/keys").load())
/// let running = VersionBinding(app: "com.example.shop", version: "1.4.2")
/// try DumpFile("/var/lib/shop/shop.dump").seal(configuration, with: keys, for: running)
/// ```
public struct GlobalConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// The schema that the values were checked against.
    public let schema: Schema
    /// The keys that the schema makes public.
    public let `public`: PublicView

    /// One setting for each rule of the schema.
    private let settings: [Setting]
    private let required: [RequiredKey]
    /// `"values":{…},"origins":{…}}`, the end of every dump's plaintext.
    let sealedTail: [UInt8]

    /// Merges three inputs and checks every value, including those that a later input overrides.
    ///
    /// A later input overrides an earlier one (defaults < launch < fetched). The schema's `setBy`
    /// says which inputs may set a key.
    ///
    /// - Parameters:
    ///   - schema: The keys that may be set, by which inputs and to which values.
    ///   - defaults: The values built into the program.
    ///   - launch: The values given when the program was started.
    ///   - fetched: The values fetched from a service at the start.
    ///   - keys: The public keys that the program reads. Each must have a value of its type, here
    ///     and in every configuration created by changing this one, so that no read fails later.
    /// - Throws: `VaultError` with every problem of all inputs, each naming the key and the input
    ///   but never the value:
    ///   `unknown-config-key`, `source-not-allowed`, `wrong-type`, `out-of-range`,
    ///   `pattern-mismatch`, `not-in-list`, `public-value-looks-secret`, `malformed-input`,
    ///   `unreadable-file`; for `keys` also `missing-value` and `not-public`.
    public init<each Value: ConfigurationValue>(
        schema: Schema, defaults: ConfigurationInput, launch: ConfigurationInput = .none,
        fetched: ConfigurationInput = .none,
        requiring keys: repeat ConfigurationKey<each Value, PublicValue>
    ) throws(VaultError) {
        var merge = ConfigurationMerge(schema: schema)
        merge.add(defaults, from: .defaults)
        merge.add(launch, from: .launch)
        merge.add(fetched, from: .fetched)
        try self.init(merge, required: RequiredKey.all(repeat each keys))
    }

    /// Creates a configuration of merged values, and checks that the required keys can be read.
    init(_ merge: ConfigurationMerge, required: [RequiredKey]) throws(VaultError) {
        try merge.problems.throwJoined()
        self.schema = merge.schema
        self.settings = merge.settings
        self.required = required
        self.public = PublicView(schema: schema, settings: settings)
        let (values, origins) = schema.winners(of: settings)
        self.sealedTail = DumpPlaintext.tail(values: values, origins: origins)
        var problems: [VaultError] = []
        for key in required { problems.collect(try key.check(self.public)) }
        try problems.throwJoined()
    }

    /// The public values, in the order of the schema.
    public var publicValues: JSONObject { self.public.values }

    /// The origin of each public value, in the order of the schema.
    public var publicOrigins: JSONObject { self.public.origins }

    /// Returns the origin of a key's value, public or secret, or nil if the key has no value.
    public func origin(of name: String) -> ConfigurationOrigin? { setting(name)?.winner?.origin }

    /// The number of keys that have a value.
    public var count: Int { settings.count { $0.winner != nil } }

    /// Returns a value, public or secret, for the network system.
    package func value(named name: String) -> CheckedValue? { setting(name)?.winner?.value }

    /// All values, public and secret, in the order of the schema, for the network system.
    package var values: JSONObject { winners.values }

    /// All values and their origins, in the order of the schema.
    var winners: (values: JSONObject, origins: JSONObject) { schema.winners(of: settings) }

    private func setting(_ name: String) -> Setting? {
        schema.position(of: name).map { settings[$0] }
    }

    /// The number of keys that have a value, without the values.
    public var description: String { "GlobalConfiguration(\(count) values, redacted)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Changing

extension GlobalConfiguration {
    /// Returns this configuration with some values of one origin changed. The new values are
    /// checked like those of an input.
    ///
    /// The order of origins still applies: a changed launch value stays overridden by a fetched
    /// one, and removing a value restores the one that it overrode. A configuration restored from a
    /// dump has no overridden values, because a dump holds only those that won.
    ///
    /// - Parameters:
    ///   - origin: The origin whose values change.
    ///   - values: Keys with their new values; `null` removes the origin's value.
    /// - Returns: A new configuration; this one doesn't change.
    /// - Throws: As the merging initializer, including its errors for required keys.
    public func changing(
        _ origin: ConfigurationOrigin, with values: JSONObject
    ) throws(VaultError) -> GlobalConfiguration {
        var merge = ConfigurationMerge(schema: schema, settings: settings)
        for (name, value) in values {
            let entry = ConfigurationInput.Entry(name: name, value: value, place: origin.rawValue)
            if value.isNull {
                merge.remove(entry, from: origin)
            } else {
                merge.set(entry, from: origin)
            }
        }
        return try GlobalConfiguration(merge, required: required)
    }

    /// Returns this configuration with all values of one origin replaced, for example after
    /// fetching them again.
    ///
    /// - Parameters:
    ///   - origin: The origin whose values are replaced.
    ///   - input: The new values. A key without a new value falls back to lower origins.
    /// - Returns: A new configuration; this one doesn't change.
    /// - Throws: As ``changing(_:with:)``, and `malformed-input` and `unreadable-file`.
    public func replacing(
        _ origin: ConfigurationOrigin, with input: ConfigurationInput
    ) throws(VaultError) -> GlobalConfiguration {
        var merge = ConfigurationMerge(schema: schema, settings: settings)
        merge.removeAll(from: origin)
        merge.add(input, from: origin)
        return try GlobalConfiguration(merge, required: required)
    }

    /// Returns this configuration with more required keys.
    func requiring(_ keys: [RequiredKey]) throws(VaultError) -> GlobalConfiguration {
        try GlobalConfiguration(
            ConfigurationMerge(schema: schema, settings: settings), required: required + keys)
    }

    /// Returns this configuration with the keys that another one requires, in addition to its own.
    func keepingRequirements(
        of other: GlobalConfiguration
    ) throws(VaultError) -> GlobalConfiguration {
        let more = other.required.filter { key in !required.contains { $0.isSame(as: key) } }
        return more.isEmpty ? self : try requiring(more)
    }
}
