public import SignetJSON

/// A program's whole configuration: merged from three inputs, checked against a schema, immutable.
///
/// Its safe part can be read through `public`; the whole of it leaves the process only as a sealed
/// dump. It does not print, and it is not `Encodable`.
public struct GlobalConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// A value with where it came from.
    struct Setting: Sendable {
        let value: CheckedValue
        let origin: ConfigurationOrigin
    }

    /// What the schema says of each key.
    public let schema: Schema
    /// The part that the schema makes public.
    public let `public`: PublicView

    /// One place for each of the schema's rules.
    private let settings: [Setting?]
    /// `"values":{…},"origins":{…}}`: the end of every dump's plaintext.
    let sealedTail: [UInt8]

    /// Merges three inputs and checks every value, also those that a later input hides.
    ///
    /// A later input wins (defaults < launch < fetched) where the schema's `setBy` lets it set the key.
    ///
    /// - Parameters:
    ///   - schema: What may be set, by whom and to what.
    ///   - defaults: The values built into the program.
    ///   - launch: The values given when the program was started.
    ///   - fetched: The values fetched from a service at the start.
    ///   - keys: The public keys that the program reads; each must have a value of its type, so that
    ///     no read fails later.
    /// - Throws: `VaultError`, naming the key and the input and never the value: `unknown-config-key`,
    ///   `source-not-allowed`, `wrong-type`, `out-of-range`, `pattern-mismatch`, `not-in-list`,
    ///   `public-value-looks-secret`, `malformed-input`, `unreadable-file`; for `keys` also `missing-value` and
    ///   `not-public`.
    public init<each Value: ConfigurationValue>(
        schema: Schema, defaults: ConfigurationInput, launch: ConfigurationInput = .none,
        fetched: ConfigurationInput = .none,
        requiring keys: repeat ConfigurationKey<each Value, Public>
    ) throws(VaultError) {
        var settings = [Setting?](repeating: nil, count: schema.rules.count)
        let inputs: [(ConfigurationOrigin, ConfigurationInput)] = [
            (.defaults, defaults), (.launch, launch), (.fetched, fetched),
        ]
        for (origin, input) in inputs {
            for entry in try input.entries(for: schema, origin: origin) {
                let position = try Self.check(entry, origin, schema)
                settings[position.index] = Setting(value: position.value, origin: origin)
            }
        }
        self.init(schema: schema, settings: settings)
        repeat try self.public.require(each keys)
    }

    init(schema: Schema, settings: [Setting?]) {
        self.schema = schema
        self.settings = settings
        self.public = PublicView(schema: schema, settings: settings)
        var values = JSONObject()
        var origins = JSONObject()
        for (rule, setting) in zip(schema.rules, settings) {
            guard let setting else { continue }
            values[rule.name] = setting.value.json
            origins[rule.name] = .string(setting.origin.rawValue)
        }
        self.sealedTail = DumpPlaintext.tail(values: values, origins: origins)
    }

    /// Checks a value against its key's rule; shared by inputs and opened dumps.
    static func check(
        _ entry: ConfigurationInput.Entry, _ origin: ConfigurationOrigin, _ schema: Schema
    ) throws(VaultError) -> (index: Int, value: CheckedValue) {
        guard let index = schema.position(of: entry.name) else {
            throw VaultError(
                .unknownConfigKey, "\(quoted(entry.name)) in \(entry.place): not in the schema")
        }
        let rule = schema.rules[index]
        guard rule.setBy.contains(origin) else {
            let allowed = ConfigurationOrigin.allCases.filter(rule.setBy.contains)
                .map(\.rawValue).joined(separator: ", ")
            throw VaultError(
                .sourceNotAllowed,
                "\(quoted(entry.name)) in \(entry.place): the schema lets only \(allowed) set it")
        }
        let typed = try rule.checked(entry.value, from: entry.place)
        return (index, CheckedValue(typed: typed, json: entry.value))
    }

    /// The public values, in the order of the schema.
    public var publicValues: JSONObject { self.public.values }

    /// Where each public value came from, in the order of the schema.
    public var publicOrigins: JSONObject { self.public.origins }

    /// Where a key's value came from, or nil where it has none; for secret keys too.
    public func origin(of name: String) -> ConfigurationOrigin? {
        schema.position(of: name).flatMap { settings[$0]?.origin }
    }

    /// How many keys have a value.
    public var count: Int { settings.count { $0 != nil } }

    /// A value, secret or not, for the network system.
    package func value(named name: String) -> CheckedValue? {
        schema.position(of: name).flatMap { settings[$0]?.value }
    }

    /// All values, secret ones too, in the order of the schema, for the network system.
    package var values: JSONObject {
        JSONObject(
            zip(schema.rules, settings).compactMap { rule, setting in
                setting.map { (name: rule.name, value: $0.value.json) }
            })
    }

    /// How many keys there are, and no value.
    public var description: String { "GlobalConfiguration(\(count) values, redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
