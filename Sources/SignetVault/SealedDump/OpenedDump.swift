public import SignetJSON

/// The authenticated content of an opened dump.
public struct OpenedDump: Sendable, CustomStringConvertible, CustomReflectable {
    /// The dump that was opened.
    public let dump: SealedDump
    /// Whether the dump is sealed for exactly the running versions. An older dump is for reading
    /// only.
    public let isExactVersion: Bool
    /// The comparison with the state file; nil without a state file. `rebind`, `rekey` and
    /// `ratchet` return the comparison of the dump that they replaced, and `seal` that of the new
    /// dump.
    public internal(set) var rollback: RollbackCheck?
    /// The differences between the configuration that `DumpFile.seal` was given, the dump that it
    /// replaced, and the new dump; nil otherwise.
    public internal(set) var replacement: Replacement?
    private let content: DumpPlaintext

    init(dump: SealedDump, isExactVersion: Bool, content: DumpPlaintext) {
        self.dump = dump
        self.isExactVersion = isExactVersion
        self.content = content
    }

    /// The app and versions that the dump is bound to.
    public var binding: VersionBinding { dump.binding }
    /// The id of the key that sealed the dump.
    public var keyID: String { dump.keyID }
    /// 1 for the first dump, and one more for each dump that replaced another.
    public var sequence: Int64 { content.sequence }
    /// The time of sealing (RFC 3339).
    public var sealedAt: String { content.sealedAt }
    /// The origin of each value: `defaults`, `launch` or `fetched`.
    public var origins: JSONObject { content.origins }

    /// The keys whose values were changed in the dump itself, by `signet vault set`, `edit` and
    /// `merge`, since it was sealed from a configuration. A key that lost its value there is among
    /// them.
    public var changed: [String] { content.changed }

    /// All values, including secret ones.
    package var values: JSONObject { content.values }
    /// The plaintext object, including secret values.
    package var plaintext: JSONObject { content.object }

    /// `"values":{…},"origins":{…}}`, to be sealed again unchanged.
    var sealedTail: [UInt8] {
        DumpPlaintext.tail(values: values, origins: origins, changed: changed)
    }

    /// The app's id and version and the sequence, without the values.
    public var description: String {
        "OpenedDump(\(binding.app.id) \(binding.app.version), sequence \(sequence), redacted)"
    }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OpenedDump {
    /// The keys whose values changed in a way that the person who seals may not expect.
    public struct Replacement: Sendable, Hashable {
        /// The keys that had a value, or a change by hand, in the old dump that the new dump lacks.
        /// Nil if the old dump didn't open, so that its keys are unknown.
        public internal(set) var dropped: [String]?
        /// The keys whose given value, of the launch or fetched, wasn't sealed, because a change by
        /// hand in the old dump was kept.
        public internal(set) var ignored: [String] = []
    }
}

extension GlobalConfiguration {
    /// Restores the configuration from an opened dump and checks every value and origin against the
    /// schema again.
    ///
    /// - Parameters:
    ///   - opened: The content of the dump.
    ///   - schema: The keys that may be set, by which inputs and to which values.
    ///   - keys: The public keys that the program reads.
    /// - Throws: As the merging initializer. The message names the dump as the place.
    public init<each Value: ConfigurationValue>(
        restoring opened: OpenedDump, schema: Schema,
        requiring keys: repeat ConfigurationKey<each Value, PublicValue>
    ) throws(VaultError) {
        var merge = ConfigurationMerge(schema: schema)
        for (name, value) in opened.values {
            guard let origin = opened.origins[name]?.string.flatMap(ConfigurationOrigin.init)
            else { continue }
            let entry = ConfigurationInput.Entry(
                name: name, value: value, place: "the dump (\(origin.rawValue))")
            merge.set(entry, from: origin)
        }
        try self.init(merge, required: RequiredKey.all(repeat each keys))
        try DumpContents(self).requireValues(of: schema, in: "the dump")
    }
}
