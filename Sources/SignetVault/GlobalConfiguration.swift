internal import SignetBase
public import SignetJSON

/// A program's whole configuration: merged from three inputs, checked against a schema, immutable.
///
/// Its public part can be read through `public`. Secret values leave the process only inside a
/// sealed dump: a configuration doesn't print and isn't `Encodable`.
///
/// ```swift
/// let timeout = ConfigurationKey<Duration, Public>("orders.timeout")
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
    public var schema: Schema { contents.schema }
    /// The keys that the schema makes public.
    public let `public`: PublicView

    private let contents: Contents

    /// Holds the contents by reference, so that copying a configuration is cheap.
    private final class Contents: Sendable {
        let schema: Schema
        /// One setting for each rule of the schema.
        let settings: [Setting]
        let required: [RequiredKey]
        /// `"values":{…},"origins":{…}}`, the end of every dump's plaintext.
        let sealedTail: [UInt8]

        init(schema: Schema, settings: [Setting], required: [RequiredKey]) {
            self.schema = schema
            self.settings = settings
            self.required = required
            var values = JSONObject()
            var origins = JSONObject()
            for (rule, setting) in zip(schema.rules, settings) {
                guard let winner = setting.winner else { continue }
                values[rule.name] = winner.value.json
                origins[rule.name] = .string(winner.origin.rawValue)
            }
            self.sealedTail = DumpPlaintext.tail(values: values, origins: origins)
        }
    }

    /// Merges three inputs and checks every value, including those that a later input overrides.
    ///
    /// A later input wins (defaults < launch < fetched) if the schema's `setBy` lets it set the
    /// key.
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
        requiring keys: repeat ConfigurationKey<each Value, Public>
    ) throws(VaultError) {
        var settings = [Setting](repeating: Setting(), count: schema.rules.count)
        let inputs: [(ConfigurationOrigin, ConfigurationInput)] = [
            (.defaults, defaults), (.launch, launch), (.fetched, fetched),
        ]
        var problems: [VaultError] = []
        for (origin, input) in inputs {
            Self.merge(
                input, from: origin, into: &settings, schema: schema, problems: &problems)
        }
        if let error = VaultError(joining: problems) { throw error }
        try self.init(
            schema: schema, settings: settings, required: RequiredKey.all(repeat each keys))
    }

    /// Creates a configuration of checked values, and checks that the required keys can be read.
    init(
        schema: Schema, settings: [Setting], required: [RequiredKey] = []
    ) throws(VaultError) {
        self.contents = Contents(schema: schema, settings: settings, required: required)
        self.public = PublicView(schema: schema, settings: settings)
        var problems: [VaultError] = []
        for key in required {
            do throws(VaultError) {
                try key.check(self.public)
            } catch {
                problems.append(error)
            }
        }
        if let error = VaultError(joining: problems) { throw error }
    }

    private static func merge(
        _ input: ConfigurationInput, from origin: ConfigurationOrigin,
        into settings: inout [Setting], schema: Schema, problems: inout [VaultError]
    ) {
        for entry in input.entries(for: schema, origin: origin, problems: &problems) {
            set(entry, from: origin, into: &settings, schema: schema, problems: &problems)
        }
    }

    /// Checks a value and sets it, or adds the problem.
    static func set(
        _ entry: ConfigurationInput.Entry, from origin: ConfigurationOrigin,
        into settings: inout [Setting], schema: Schema, problems: inout [VaultError]
    ) {
        do throws(VaultError) {
            let checked = try check(entry, from: origin, against: schema)
            settings[checked.index][origin] = checked.value
        } catch {
            problems.append(error)
        }
    }

    /// Checks a value of an input or an opened dump against its key's rule.
    static func check(
        _ entry: ConfigurationInput.Entry, from origin: ConfigurationOrigin, against schema: Schema
    ) throws(VaultError) -> (index: Int, value: CheckedValue) {
        let index = try position(of: entry, from: origin, in: schema)
        let typed = try schema.rules[index].checked(entry.value, from: entry.place)
        return (index, CheckedValue(typed: typed, json: entry.value))
    }

    /// Returns the position of a key in the schema, if the origin may set the key.
    private static func position(
        of entry: ConfigurationInput.Entry, from origin: ConfigurationOrigin, in schema: Schema
    ) throws(VaultError) -> Int {
        guard let index = schema.position(of: entry.name) else {
            throw .unknown(entry.name, in: entry.place)
        }
        let rule = schema.rules[index]
        guard rule.setBy.contains(origin) else {
            let allowed = ConfigurationOrigin.allCases.filter(rule.setBy.contains)
                .map(\.rawValue).joined(separator: ", ")
            throw VaultError(
                .sourceNotAllowed,
                "\(quoted(entry.name)) in \(entry.place): the schema lets only \(allowed) set it",
                key: entry.name)
        }
        return index
    }

    /// The public values, in the order of the schema.
    public var publicValues: JSONObject { self.public.values }

    /// The origin of each public value, in the order of the schema.
    public var publicOrigins: JSONObject { self.public.origins }

    /// Returns the origin of a key's value, public or secret, or nil if the key has no value.
    public func origin(of name: String) -> ConfigurationOrigin? { setting(name)?.winner?.origin }

    /// The number of keys that have a value.
    public var count: Int { contents.settings.count { $0.winner != nil } }

    /// Returns a value, public or secret, for the network system.
    package func value(named name: String) -> CheckedValue? { setting(name)?.winner?.value }

    /// All values, public and secret, in the order of the schema, for the network system.
    package var values: JSONObject {
        JSONObject(
            zip(schema.rules, contents.settings).compactMap { rule, setting in
                setting.winner.map { (name: rule.name, value: $0.value.json) }
            })
    }

    /// `"values":{…},"origins":{…}}`, the end of every dump's plaintext.
    var sealedTail: [UInt8] { contents.sealedTail }

    private func setting(_ name: String) -> Setting? {
        schema.position(of: name).map { contents.settings[$0] }
    }

    /// The number of keys that have a value; no value.
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
    /// - Throws: As the merging initializer, also if a required key could no longer be read.
    public func changing(
        _ origin: ConfigurationOrigin, with values: JSONObject
    ) throws(VaultError) -> GlobalConfiguration {
        var settings = contents.settings
        var problems: [VaultError] = []
        for (name, value) in values {
            let entry = ConfigurationInput.Entry(name: name, value: value, place: origin.rawValue)
            guard value.isNull else {
                Self.set(
                    entry, from: origin, into: &settings, schema: schema, problems: &problems)
                continue
            }
            do throws(VaultError) {
                settings[try Self.position(of: entry, from: origin, in: schema)][origin] = nil
            } catch {
                problems.append(error)
            }
        }
        if let error = VaultError(joining: problems) { throw error }
        return try with(settings)
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
        var settings = contents.settings
        for index in settings.indices { settings[index][origin] = nil }
        var problems: [VaultError] = []
        Self.merge(input, from: origin, into: &settings, schema: schema, problems: &problems)
        if let error = VaultError(joining: problems) { throw error }
        return try with(settings)
    }

    /// Returns this configuration with more required keys.
    func requiring(_ keys: [RequiredKey]) throws(VaultError) -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema, settings: contents.settings, required: contents.required + keys)
    }

    /// Returns this configuration with the keys that another one requires, in addition to its own.
    func keepingRequirements(
        of other: GlobalConfiguration
    ) throws(VaultError) -> GlobalConfiguration {
        let more = other.contents.required.filter { key in
            !contents.required.contains { $0.isSame(as: key) }
        }
        return more.isEmpty ? self : try requiring(more)
    }

    private func with(_ settings: [Setting]) throws(VaultError) -> GlobalConfiguration {
        try GlobalConfiguration(schema: schema, settings: settings, required: contents.required)
    }
}
