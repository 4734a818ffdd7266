#if Configuration
    public import Configuration
    public import SignetVault

    /// The public view of a vault's configuration as a provider of swift-configuration.
    ///
    /// It holds a configuration that was already opened and checked: where a dump does not open, no
    /// provider comes into being, so no reader can take the failure for a missing value. Secret
    /// values are never in it; the key of one is refused with an error.
    ///
    /// ```swift
    /// let provider = try VaultProvider(
    ///     opening: DumpFile("shop.dump"), with: .keys(keys), for: binding, schema: schema,
    ///     requiring: .ordersHost)
    /// let reader = ConfigReader(provider: provider)
    /// let host = try reader.requiredString(forKey: "orders.host")
    /// ```
    ///
    /// A key's name is its components joined by points; its context plays no part. A key that the
    /// schema does not have, or that no input sets, has no value here, and the reader asks the next
    /// provider. A value is given as these types, and asking for another is the error `wrong-type`:
    ///
    /// | in the schema | as |
    /// | --- | --- |
    /// | `string`, `url` | string |
    /// | `integer` | int; double where it has an exact one |
    /// | `number` | double |
    /// | `boolean` | bool |
    /// | `bytes` | bytes |
    /// | `duration` | int, in seconds, where it is whole (as `Duration` is read); double, in seconds |
    /// | `array` | array of string, int, double, bool or byte chunk (base64) where each element is one; string, as JSON |
    /// | `object` | string, as JSON |
    public struct VaultProvider: ConfigProvider, CustomStringConvertible, CustomReflectable {
        /// The configuration, which may be changed while the program runs.
        public let configuration: LiveConfiguration
        /// The name in access reports.
        public let providerName: String

        /// Reads a configuration that may change; readers and watchers see each change.
        ///
        /// - Parameters:
        ///   - configuration: Whose public part is read.
        ///   - name: Tells several providers apart in access reports.
        public init(_ configuration: LiveConfiguration, name: String? = nil) {
            self.configuration = configuration
            self.providerName = name.map { "VaultProvider[\($0)]" } ?? "VaultProvider"
        }

        /// Reads a configuration.
        ///
        /// - Parameters:
        ///   - configuration: Whose public part is read.
        ///   - name: Tells several providers apart in access reports.
        public init(_ configuration: GlobalConfiguration, name: String? = nil) {
            self.init(LiveConfiguration(configuration), name: name)
        }

        /// Opens a sealed dump and reads the configuration in it.
        ///
        /// - Parameters:
        ///   - dump: The dump's file, with the state file that notices an older dump where one is kept.
        ///   - keys: What opens it.
        ///   - binding: The app and the network system that run.
        ///   - olderAppVersions: Older versions of the app whose dumps may be read.
        ///   - olderSystemVersions: Older versions of the network system whose dumps may be read.
        ///   - schema: What each value is checked against again.
        ///   - required: Public keys without which the program cannot run; optional getters of a
        ///     reader would pass over a missing one.
        ///   - name: Tells several providers apart in access reports.
        ///   - now: Unix seconds for the key's dates; nil is the clock's.
        /// - Throws: As `DumpFile.open` and `GlobalConfiguration.init(restoring:schema:requiring:)`.
        public init<each Value: ConfigurationValue>(
            opening dump: DumpFile, with keys: VaultKeys, for binding: VersionBinding,
            accepting olderAppVersions: [String] = [], system olderSystemVersions: [String] = [],
            schema: Schema,
            requiring required: repeat ConfigurationKey<each Value, Public>,
            name: String? = nil, now: Int64? = nil
        ) throws(VaultError) {
            let opened = try dump.open(
                with: keys, for: binding, accepting: olderAppVersions,
                system: olderSystemVersions, now: now)
            self.init(
                try GlobalConfiguration(
                    restoring: opened, schema: schema, requiring: repeat each required),
                name: name)
        }

        /// The newest value of a key.
        ///
        /// - Throws: `VaultError`: `not-public` for a secret key, `wrong-type` for a value that is not
        ///   of the type.
        public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            try configuration.public.lookUp(key, as: type)
        }

        /// The newest value of a key, as `value(forKey:type:)`: nothing is fetched.
        public func fetchValue(
            forKey key: AbsoluteConfigKey, type: ConfigType
        ) async throws -> LookupResult {
            try value(forKey: key, type: type)
        }

        /// The value of a key, and then each later one that differs from the one before it.
        ///
        /// Who is slower than the changes gets the newest. The sequence ends when its task is
        /// cancelled.
        public func watchValue<Return: ~Copyable>(
            forKey key: AbsoluteConfigKey, type: ConfigType,
            updatesHandler: (
                ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
            ) async throws -> Return
        ) async throws -> Return {
            try await updatesHandler(
                ConfigUpdatesAsyncSequence(
                    ValueUpdates(snapshots: configuration.snapshots, key: key, type: type)))
        }

        /// The newest public values, which stay as they are.
        public func snapshot() -> any ConfigSnapshot {
            VaultSnapshot(providerName: providerName, view: configuration.public)
        }

        /// The newest public values, and then those of each later snapshot of the configuration.
        ///
        /// Who is slower than the changes gets the newest. The sequence ends when its task is
        /// cancelled.
        public func watchSnapshot<Return: ~Copyable>(
            updatesHandler: (
                ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
            ) async throws -> Return
        ) async throws -> Return {
            let name = providerName
            return try await updatesHandler(
                ConfigUpdatesAsyncSequence(
                    configuration.snapshots.map { snapshot -> any ConfigSnapshot in
                        VaultSnapshot(providerName: name, view: snapshot.public)
                    }))
        }

        /// The name, and no value.
        public var description: String { providerName }
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The public values at one moment.
    struct VaultSnapshot: ConfigSnapshot, CustomStringConvertible, CustomReflectable {
        let providerName: String
        let view: PublicView

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            try view.lookUp(key, as: type)
        }

        var description: String { providerName }
        var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
