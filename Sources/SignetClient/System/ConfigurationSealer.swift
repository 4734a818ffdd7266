public import SignetVault

/// The access of monitoring outside of the network system: the whole configuration, sealed.
///
/// It can be handed to code that must not read a value. Only the vault's keys open the dump that it
/// makes. Code that may see the names of services and hosts reads ``NetworkSystem/lastPinUpdate``
/// and ``NetworkSystem/pinReportCounts`` of the system itself.
public struct ConfigurationSealer: Sendable, CustomStringConvertible, CustomReflectable {
    let snapshots: SnapshotBox
    let sealing: SealingCredentials

    /// Seals the configuration that new calls are made with.
    ///
    /// - Returns: A dump whose sequence counts the system's configurations from 1.
    /// - Throws: `not-configured` in a system of services given as values; as
    ///   `GlobalConfiguration.seal`.
    public func dump() throws(ClientError) -> SealedDump {
        let (snapshot, number) = snapshots.numbered
        guard let configuration = snapshot.configuration else {
            throw ClientError(.notConfigured, "the system was started without a configuration")
        }
        do {
            return try configuration.seal(
                with: sealing.keys, keyID: sealing.keyID, for: sealing.binding,
                sequence: Int64(number))
        } catch {
            throw ClientError(error)
        }
    }

    /// A redacted description.
    public var description: String { "ConfigurationSealer(redacted)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension NetworkSystem {
    /// The access for monitoring; nil if the options have no `sealing`.
    public var monitor: ConfigurationSealer? {
        options.sealing.map { ConfigurationSealer(snapshots: snapshots, sealing: $0) }
    }
}
