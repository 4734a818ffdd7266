import SignetBase

/// A file format for pins, of this package or of another program.
public struct PinFormat: Sendable, Hashable, CustomStringConvertible {
    enum Value: String, CaseIterable {
        case signet, trustkit
        case trustKitJSON = "trustkit-json"
        case android, okhttp, curl, hpkp
    }
    let value: Value

    /// This package's policy document.
    public static let signet = PinFormat(value: .signet)
    /// TrustKit's `TSKConfiguration` in a property list, XML or binary.
    public static let trustKit = PinFormat(value: .trustkit)
    /// The dictionary of TrustKit's initialiser as JSON.
    public static let trustKitJSON = PinFormat(value: .trustKitJSON)
    /// Android's network security configuration.
    public static let android = PinFormat(value: .android)
    /// Kotlin or Java code that builds OkHttp's `CertificatePinner`.
    public static let okHTTP = PinFormat(value: .okhttp)
    /// The value of curl's `--pinnedpubkey`.
    public static let curl = PinFormat(value: .curl)
    /// The field `Public-Key-Pins` (RFC 7469).
    public static let hpkp = PinFormat(value: .hpkp)

    /// All formats, in the order of the help text.
    public static let all = Value.allCases.map { PinFormat(value: $0) }

    /// The name, as in the options of `signet pins convert`.
    public var name: String { value.rawValue }
    /// The same as `name`.
    public var description: String { name }
    /// Whether files of the format name the hosts of the pins.
    public var namesHosts: Bool { value != .curl && value != .hpkp }

    /// Returns the format with a name, or nil.
    public init?(name: String) {
        guard let format = Self.all.first(where: { sameBytes($0.name, name) }) else { return nil }
        self = format
    }

    init(value: Value) { self.value = value }
}
