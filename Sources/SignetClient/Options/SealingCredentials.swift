public import SignetVault

/// The keys that seal the dumps of the network system, and the app and versions that the dumps are
/// bound to.
public struct SealingCredentials: Sendable {
    /// The vault root or passphrase.
    public var keys: VaultKeys
    /// The root's id; nil for the set's only root.
    public var keyID: String?
    /// The app and the network system that open the dumps.
    public var binding: VersionBinding

    /// Creates a sealing.
    public init(keys: VaultKeys, keyID: String? = nil, binding: VersionBinding) {
        self.keys = keys
        self.keyID = keyID
        self.binding = binding
    }
}
