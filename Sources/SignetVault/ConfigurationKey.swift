internal import SignetBase
import Synchronization

/// The visibility of keys that may be read through the public view.
public enum Public: Sendable {}

/// The visibility of keys whose values leave the process only inside the sealed dump.
public enum Secret: Sendable {}

/// The name of a configuration's key with the type it is read as and who may see it.
///
/// ```swift
/// extension ConfigurationKey where Value == Duration, Visibility == Public {
///     static let ordersTimeout = Self("services.orders.timeout")
/// }
/// configuration.public[.ordersTimeout]  // Duration; a secret key here does not compile
/// ```
public struct ConfigurationKey<Value: ConfigurationValue, Visibility>: Sendable, Hashable {
    /// The key's name in the schema; compared as UTF-8 bytes.
    public let name: String
    /// A small number that stands for the name in this process, so that a read needs no hashing.
    @usableFromInline let number: Int

    /// Names a key.
    public init(_ name: String) {
        self.name = name
        self.number = KeyNumbers.number(of: name)
    }

    /// Whether both name the same key.
    public static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    /// Feeds the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// One number for each name in this process; names come from schemas and from the program's text.
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
