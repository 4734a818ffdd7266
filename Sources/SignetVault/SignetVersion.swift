/// The network system's own version: what a sealed dump is bound to beside the app's version.
public enum SignetVersion {
    /// The id a dump carries for the network system.
    public static let systemID = "signet"
    /// This network system's version, dotted numbers.
    public static let current = "0.1.0"
}
