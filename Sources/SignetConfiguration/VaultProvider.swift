#if Configuration
public import Configuration
public import SignetVault

/// A swift-configuration provider of the values in a vault's configuration.
///
/// Its configuration was opened and checked: if a dump doesn't open, the initialiser throws, so
/// a reader can't mistake the failure for missing values. Asking for a secret value throws an
/// error, unless the provider was created with `sharingSecrets: true`. It then returns secret
/// values marked as secret, as copies that Signet can't wipe.
///
/// ```swift
/// import Configuration
/// import SignetConfiguration
/// import SignetVault
///
/// extension ConfigurationKey where Value == String, Visibility == PublicValue {
///     static let ordersHost = Self("orders.host")
/// }
///
/// let provider = try VaultProvider(
///     opening: DumpFile("shop.dump"), with: .keys(KeySource.file("keys.json").load()),
///     for: VersionBinding(app: "com.example.shop", version: "1.4.2"),
///     schema: Schema(contentsOf: "schema.json"), requiring: .ordersHost)
/// let reader = ConfigReader(provider: provider)
/// let host = try reader.requiredString(forKey: "orders.host")
/// let timeout = reader.int(forKey: "orders.timeout", as: Duration.self, default: .seconds(5))
/// ```
///
/// The key's components, joined by dots, name the key in the schema; the key's context is
/// ignored. If the schema lacks a key, or if no input sets it, the provider returns no value
/// and the reader asks the next provider. A value can be read as the types below. Any other
/// type throws `wrong-type`.
///
/// | in the schema | read as |
/// | --- | --- |
/// | `string`, `url` | string |
/// | `integer` | int; double if that is exact |
/// | `number` | double |
/// | `boolean` | bool |
/// | `bytes` | bytes |
/// | `duration` | int, in whole seconds (`Duration` is read this way); double, in seconds |
/// | `array` | array of string, int, double, bool or byte chunk (base64), if each element is one; string, as JSON |
/// | `object` | string, as JSON |
public struct VaultProvider: ConfigProvider, CustomStringConvertible, CustomReflectable {
    /// The configuration. Readers and watchers see the changes that are made to it.
    public let configuration: LiveConfiguration
    /// The provider's name in access reports: `VaultProvider` or `VaultProvider[NAME]`.
    public let providerName: String
    private let sharesSecrets: Bool

    /// Creates a provider of a configuration that can change; readers and watchers see each
    /// change.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose values the provider returns.
    ///   - sharingSecrets: Whether readers get secret values too.
    ///   - name: A name that distinguishes several providers in access reports.
    public init(
        _ configuration: LiveConfiguration, sharingSecrets: Bool = false, name: String? = nil
    ) {
        self.configuration = configuration
        self.sharesSecrets = sharingSecrets
        self.providerName = name.map { "VaultProvider[\($0)]" } ?? "VaultProvider"
    }

    /// Creates a provider of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose values the provider returns.
    ///   - sharingSecrets: Whether readers get secret values too.
    ///   - name: A name that distinguishes several providers in access reports.
    public init(
        _ configuration: GlobalConfiguration, sharingSecrets: Bool = false, name: String? = nil
    ) {
        self.init(
            LiveConfiguration(configuration), sharingSecrets: sharingSecrets, name: name)
    }

    /// Opens a sealed dump and creates a provider of the configuration in it.
    ///
    /// - Parameters:
    ///   - dump: The dump's file. Its state file, if there is one, detects an older dump.
    ///   - keys: The keys or the passphrase that open the dump.
    ///   - binding: The versions of the running app and network system.
    ///   - olderAppVersions: Older versions of the app whose dumps are accepted too.
    ///   - olderSystemVersions: Older versions of the network system whose dumps are accepted
    ///     too.
    ///   - schema: The schema against which each value is checked again.
    ///   - required: Public keys that must have a value. Without this a reader's optional
    ///     getters would return nil or a default for a missing one.
    ///   - sharingSecrets: Whether readers get secret values too.
    ///   - name: A name that distinguishes several providers in access reports.
    ///   - now: The time at which the key must be valid, in seconds since 1970; nil means now.
    /// - Throws: `VaultError` like `DumpFile.open` and
    ///   `GlobalConfiguration.init(restoring:schema:requiring:)`.
    public init<each Value: ConfigurationValue>(
        opening dump: DumpFile, with keys: VaultKeys, for binding: VersionBinding,
        accepting olderAppVersions: [String] = [], system olderSystemVersions: [String] = [],
        schema: Schema,
        requiring required: repeat ConfigurationKey<each Value, PublicValue>,
        sharingSecrets: Bool = false, name: String? = nil, now: Int64? = nil
    ) throws(VaultError) {
        let opened = try dump.open(
            with: keys, for: binding, accepting: olderAppVersions,
            system: olderSystemVersions, now: now)
        self.init(
            try GlobalConfiguration(
                restoring: opened, schema: schema, requiring: repeat each required),
            sharingSecrets: sharingSecrets, name: name)
    }

    /// Returns the newest value of a key.
    ///
    /// - Throws: `VaultError` with `not-public` if the key is secret and the provider doesn't
    ///   share secrets, or `wrong-type` if the value can't be read as the type.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try configuration.current.lookUp(key, as: type, sharesSecrets: sharesSecrets)
    }

    /// Returns the newest value of a key like `value(forKey:type:)`. It doesn't fetch anything.
    public func fetchValue(
        forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult {
        try value(forKey: key, type: type)
    }

    /// Calls the handler with the key's value, and then with each later value that differs from
    /// the one before it.
    ///
    /// If values change faster than the handler reads them, it gets only the newest. The
    /// sequence ends when its task is cancelled.
    public func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (
            ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
        ) async throws -> Return
    ) async throws -> Return {
        try await updatesHandler(
            ConfigUpdatesAsyncSequence(
                ValueUpdates(
                    snapshots: configuration.snapshots, key: key, type: type,
                    sharesSecrets: sharesSecrets)))
    }

    /// Returns a snapshot of the newest values. The snapshot never changes.
    public func snapshot() -> any ConfigSnapshot {
        VaultSnapshot(
            providerName: providerName, configuration: configuration.current,
            sharesSecrets: sharesSecrets)
    }

    /// Calls the handler with a snapshot of the values, and then with one for each
    /// change of the configuration.
    ///
    /// If values change faster than the handler reads them, it gets only the newest. The
    /// sequence ends when its task is cancelled.
    public func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (
            ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
        ) async throws -> Return
    ) async throws -> Return {
        let (name, sharesSecrets) = (providerName, sharesSecrets)
        return try await updatesHandler(
            ConfigUpdatesAsyncSequence(
                configuration.snapshots.map { snapshot -> any ConfigSnapshot in
                    VaultSnapshot(
                        providerName: name, configuration: snapshot,
                        sharesSecrets: sharesSecrets)
                }))
    }

    /// The provider's name, without any value.
    public var description: String { providerName }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The values at one point in time.
struct VaultSnapshot: ConfigSnapshot, CustomStringConvertible, CustomReflectable {
    let providerName: String
    let configuration: GlobalConfiguration
    let sharesSecrets: Bool

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try configuration.lookUp(key, as: type, sharesSecrets: sharesSecrets)
    }

    var description: String { providerName }
    var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
