public import SignetJSON

/// The inside of a dump that was opened: proved whole, and of the binding that was demanded.
public struct OpenedDump: Sendable, CustomStringConvertible, CustomReflectable {
    /// The dump that was opened.
    public let dump: SealedDump
    /// Whether it is of the very version that runs; an older one is for reading only.
    public let isExactVersion: Bool
    /// What the file of sequences seen says of it; nil where none was asked for. After a change it
    /// is about the dump that was there before, and after sealing about the new one.
    public internal(set) var rollback: RollbackCheck?
    private let inside: DumpPlaintext

    init(dump: SealedDump, isExactVersion: Bool, inside: DumpPlaintext) {
        self.dump = dump
        self.isExactVersion = isExactVersion
        self.inside = inside
    }

    /// What the dump is bound to.
    public var binding: VersionBinding { dump.binding }
    /// The id of the key that it was sealed with.
    public var keyID: String { dump.keyID }
    /// 1 for the first dump, and one more for each that replaced another.
    public var sequence: Int64 { inside.sequence }
    /// When it was sealed (RFC 3339).
    public var sealedAt: String { inside.sealedAt }
    /// Where each value came from.
    public var origins: JSONObject { inside.origins }

    /// All values, secret ones too.
    package var values: JSONObject { inside.values }
    /// The plaintext object, secret values included.
    package var plaintext: JSONObject { inside.object }

    /// `"values":{…},"origins":{…}}`, to be sealed again as it stands.
    var sealedTail: [UInt8] {
        DumpPlaintext.tail(values: values, origins: origins)
    }

    /// What it is bound to and its sequence; no value.
    public var description: String {
        "OpenedDump(\(binding.app.id) \(binding.app.version), sequence \(sequence), redacted)"
    }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension GlobalConfiguration {
    /// Takes the configuration back from an opened dump and checks every value and origin against
    /// the schema again.
    ///
    /// - Parameters:
    ///   - opened: The dump's inside.
    ///   - schema: What may be set, by whom and to what.
    ///   - keys: The public keys that the program reads.
    /// - Throws: As the merging initializer, naming the dump as the place.
    public init<each Value: ConfigurationValue>(
        restoring opened: OpenedDump, schema: Schema,
        requiring keys: repeat ConfigurationKey<each Value, Public>
    ) throws(VaultError) {
        var settings = [Setting](repeating: Setting(), count: schema.rules.count)
        for (name, value) in opened.values {
            guard let origin = opened.origins[name]?.string.flatMap(ConfigurationOrigin.init)
            else { continue }
            let entry = ConfigurationInput.Entry(
                name: name, value: value, place: "the dump (\(origin.rawValue))")
            let checked = try Self.check(entry, origin, schema)
            settings[checked.index][origin] = checked.value
        }
        try self.init(
            schema: schema, settings: settings, required: RequiredKey.all(repeat each keys))
    }
}
