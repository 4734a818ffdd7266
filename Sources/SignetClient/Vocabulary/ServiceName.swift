/// The name of a service, as the configuration's keys `services.NAME.…` spell it.
///
/// Names compare as bytes.
public struct ServiceName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name.
    public let name: String

    /// Names a service.
    public init(_ name: String) { self.name = name }

    /// Names a service by a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// The service's content delivery, which exists if `services.NAME.cdnURL` has a value: a REST
    /// service without a signature, pinned by `services.NAME.cdnPins` or by the pins of another
    /// service of its host.
    public var cdn: ServiceName { ServiceName("\(name).cdn") }

    /// The name.
    public var description: String { name }

    /// Compares the names' bytes.
    public static func == (left: ServiceName, right: ServiceName) -> Bool {
        sameBytes(left.name, right.name)
    }

    /// Hashes the name's bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
