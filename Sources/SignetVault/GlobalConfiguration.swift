internal import SignetBase
public import SignetJSON

/// A program's whole configuration: merged from three inputs, checked against a schema, immutable.
///
/// Its safe part can be read through `public`; the whole of it leaves the process only as a sealed
/// dump. It does not print, and it is not `Encodable`.
public struct GlobalConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// What the schema says of each key.
    public var schema: Schema { contents.schema }
    /// The part that the schema makes public.
    public let `public`: PublicView

    private let contents: Contents

    /// Behind one reference, so that a configuration is handed on at little cost.
    private final class Contents: Sendable {
        let schema: Schema
        /// One place for each of the schema's rules.
        let settings: [Setting]
        let required: [RequiredKey]
        /// `"values":{…},"origins":{…}}`: the end of every dump's plaintext.
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

    /// Merges three inputs and checks every value, also those that a later input hides.
    ///
    /// A later input wins (defaults < launch < fetched) where the schema's `setBy` lets it set the key.
    ///
    /// - Parameters:
    ///   - schema: What may be set, by whom and to what.
    ///   - defaults: The values built into the program.
    ///   - launch: The values given when the program was started.
    ///   - fetched: The values fetched from a service at the start.
    ///   - keys: The public keys that the program reads; each must have a value of its type, here and
    ///     in every configuration that is made of this one by changing it, so that no read fails later.
    /// - Throws: `VaultError`, naming the key and the input and never the value: `unknown-config-key`,
    ///   `source-not-allowed`, `wrong-type`, `out-of-range`, `pattern-mismatch`, `not-in-list`,
    ///   `public-value-looks-secret`, `malformed-input`, `unreadable-file`; for `keys` also `missing-value` and
    ///   `not-public`.
    public init<each Value: ConfigurationValue>(
        schema: Schema, defaults: ConfigurationInput, launch: ConfigurationInput = .none,
        fetched: ConfigurationInput = .none,
        requiring keys: repeat ConfigurationKey<each Value, Public>
    ) throws(VaultError) {
        var settings = [Setting](repeating: Setting(), count: schema.rules.count)
        let inputs: [(ConfigurationOrigin, ConfigurationInput)] = [
            (.defaults, defaults), (.launch, launch), (.fetched, fetched),
        ]
        for (origin, input) in inputs {
            try Self.take(input, from: origin, schema, &settings)
        }
        try self.init(
            schema: schema, settings: settings, required: RequiredKey.all(repeat each keys))
    }

    /// Checks that the required keys can be read.
    init(
        schema: Schema, settings: [Setting], required: [RequiredKey] = []
    ) throws(VaultError) {
        self.contents = Contents(schema: schema, settings: settings, required: required)
        self.public = PublicView(schema: schema, settings: settings)
        for key in required { try key.check(self.public) }
    }

    private static func take(
        _ input: ConfigurationInput, from origin: ConfigurationOrigin, _ schema: Schema,
        _ settings: inout [Setting]
    ) throws(VaultError) {
        for entry in try input.entries(for: schema, origin: origin) {
            let checked = try check(entry, origin, schema)
            settings[checked.index][origin] = checked.value
        }
    }

    /// Checks a value against its key's rule; shared by inputs and opened dumps.
    static func check(
        _ entry: ConfigurationInput.Entry, _ origin: ConfigurationOrigin, _ schema: Schema
    ) throws(VaultError) -> (index: Int, value: CheckedValue) {
        let index = try position(of: entry, origin, schema)
        let typed = try schema.rules[index].checked(entry.value, from: entry.place)
        return (index, CheckedValue(typed: typed, json: entry.value))
    }

    /// Where a key is, if the origin may set it.
    private static func position(
        of entry: ConfigurationInput.Entry, _ origin: ConfigurationOrigin, _ schema: Schema
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
                "\(quoted(entry.name)) in \(entry.place): the schema lets only \(allowed) set it")
        }
        return index
    }

    /// The public values, in the order of the schema.
    public var publicValues: JSONObject { self.public.values }

    /// Where each public value came from, in the order of the schema.
    public var publicOrigins: JSONObject { self.public.origins }

    /// Where a key's value came from, or nil where it has none; for secret keys too.
    public func origin(of name: String) -> ConfigurationOrigin? { setting(name)?.winner?.origin }

    /// How many keys have a value.
    public var count: Int { contents.settings.count { $0.winner != nil } }

    /// A value, secret or not, for the network system.
    package func value(named name: String) -> CheckedValue? { setting(name)?.winner?.value }

    /// All values, secret ones too, in the order of the schema, for the network system.
    package var values: JSONObject {
        JSONObject(
            zip(schema.rules, contents.settings).compactMap { rule, setting in
                setting.winner.map { (name: rule.name, value: $0.value.json) }
            })
    }

    /// `"values":{…},"origins":{…}}`: the end of every dump's plaintext.
    var sealedTail: [UInt8] { contents.sealedTail }

    private func setting(_ name: String) -> Setting? {
        schema.position(of: name).map { contents.settings[$0] }
    }

    /// How many keys there are, and no value.
    public var description: String { "GlobalConfiguration(\(count) values, redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Changing

extension GlobalConfiguration {
    /// This configuration with some values of one origin changed, checked like those of an input.
    ///
    /// An origin still wins only over lower ones: a launch value that is changed under a fetched one
    /// stays hidden, and a value that is removed brings back the one that it hid. A configuration
    /// restored from a dump knows no hidden values, because a dump holds only those that won.
    ///
    /// - Parameters:
    ///   - origin: Whose values change.
    ///   - values: Keys with their new values; `null` removes the origin's value.
    /// - Returns: A new configuration; this one stays as it is.
    /// - Throws: As the merging initializer, also where a key that was required then could not be
    ///   read any more.
    public func changing(
        _ origin: ConfigurationOrigin, _ values: JSONObject
    ) throws(VaultError) -> GlobalConfiguration {
        var settings = contents.settings
        for (name, value) in values {
            let entry = ConfigurationInput.Entry(name: name, value: value, place: origin.rawValue)
            if value.isNull {
                settings[try Self.position(of: entry, origin, schema)][origin] = nil
            } else {
                let checked = try Self.check(entry, origin, schema)
                settings[checked.index][origin] = checked.value
            }
        }
        return try with(settings)
    }

    /// This configuration with all values of one origin replaced, as after fetching them again.
    ///
    /// - Parameters:
    ///   - origin: Whose values are replaced.
    ///   - input: The new ones; a key that it does not name falls back to lower origins.
    /// - Returns: A new configuration; this one stays as it is.
    /// - Throws: As `changing(_:_:)`, and `malformed-input` and `unreadable-file`.
    public func replacing(
        _ origin: ConfigurationOrigin, with input: ConfigurationInput
    ) throws(VaultError) -> GlobalConfiguration {
        var settings = contents.settings
        for index in settings.indices { settings[index][origin] = nil }
        try Self.take(input, from: origin, schema, &settings)
        return try with(settings)
    }

    /// This configuration with more keys that must stay readable.
    func requiring(_ keys: [RequiredKey]) throws(VaultError) -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema, settings: contents.settings, required: contents.required + keys)
    }

    /// This configuration with the keys that another requires, which it may have been made of.
    func keeping(_ other: GlobalConfiguration) throws(VaultError) -> GlobalConfiguration {
        let more = other.contents.required.filter { key in
            !contents.required.contains { $0.isSame(as: key) }
        }
        return more.isEmpty ? self : try requiring(more)
    }

    private func with(_ settings: [Setting]) throws(VaultError) -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema, settings: settings, required: contents.required)
    }
}
