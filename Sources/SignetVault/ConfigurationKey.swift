import SignetBase
import Synchronization

/// The visibility of keys that can be read through the public view.
public enum PublicValue: Sendable {}

/// The visibility of keys whose values never print, and that a program reads with
/// ``ConfigurationSnapshot``.
public enum SecretValue: Sendable {}

/// The name of a configuration key, with its Swift type and its visibility.
///
/// ```swift
/// extension ConfigurationKey where Value == Duration, Visibility == PublicValue {
///     static let requestTimeout = Self("services.orders.timeout")
/// }
///
/// let configuration = try GlobalConfiguration(
///     schema: Schema(contentsOf: "/etc/shop/schema.json"),
///     defaults: .file("/etc/shop/defaults.json"), requiring: .requestTimeout)
/// let timeout: Duration = configuration.public[.requestTimeout]  // a secret key doesn't compile
/// print("requests may take \(timeout)")
/// ```
public struct ConfigurationKey<Value: ConfigurationValue, Visibility>: Sendable, Hashable {
    /// The key's name in the schema; compared as UTF-8 bytes.
    public let name: String
    /// A small number that identifies the name in this process, so that a read doesn't hash the
    /// name.
    @usableFromInline let number: Int

    /// Creates a key for a name in the schema.
    public init(_ name: String) {
        self.name = name
        self.number = KeyNumbers.number(of: name)
    }

    /// Returns whether both have the same name.
    public static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// Assigns one number to each name in this process. Names come only from schemas and the program's
/// code, so the table stays small.
enum KeyNumbers {
    private static let known = Mutex<[ByteName: Int]>([:])

    static func number(of name: String) -> Int {
        known.withLock { known in
            if let number = known[ByteName(name)] { return number }
            let number = known.count
            known[ByteName(name)] = number
            return number
        }
    }
}
