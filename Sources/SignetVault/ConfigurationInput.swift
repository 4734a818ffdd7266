public import SignetJSON

/// A source of configuration values. A configuration has three: defaults, launch and fetched.
///
/// ```swift
/// // Launch values: the environment, and the command line, which wins.
/// let arguments = ["orders.timeout=2s", "orders.retries=3"]
/// let launch = ConfigurationInput.joined([.environment(prefix: "SHOP_"), .texts(arguments)])
/// let configuration = try GlobalConfiguration(
///     schema: Schema(contentsOf: "/etc/shop/schema.json"),
///     defaults: .file("/etc/shop/defaults.json"), launch: launch)
/// print(configuration.publicOrigins)  // which input set each public key
/// ```
public struct ConfigurationInput: Sendable, CustomStringConvertible, CustomReflectable {
    enum Source: Sendable {
        case file(String)
        case json([UInt8])
        case values(JSONObject)
        case texts([String])
        case environment(prefix: String, variables: [String: String]?)
        case detected(prefix: String, appVersion: String?, variables: [String: String]?)
        case joined([ConfigurationInput])
    }

    let source: Source

    /// An input without values.
    public static let none = ConfigurationInput(source: .joined([]))

    /// Reads a JSON object from a file or pipe of at most 16 MiB; `-` is standard input.
    ///
    /// The object is flat: its members are keys. A nested object is flattened with dots if the
    /// schema has keys below its name. It stays an object if it is itself the value of a key.
    public static func file(_ path: String) -> ConfigurationInput { .init(source: .file(path)) }

    /// Reads a JSON object from bytes, as ``file(_:)`` does.
    public static func json(_ bytes: [UInt8]) -> ConfigurationInput { .init(source: .json(bytes)) }

    /// Uses values from the program itself; nested objects are flattened as by ``file(_:)``.
    public static func values(_ values: JSONObject) -> ConfigurationInput {
        .init(source: .values(values))
    }

    /// Reads texts of the form `KEY=VALUE`, split at the first `=`. VALUE is plain text for a
    /// string, a URL, bytes and a duration, and JSON for the other types. Each key may occur once.
    public static func texts(_ texts: [String]) -> ConfigurationInput {
        .init(source: .texts(texts))
    }

    /// Reads environment variables. A variable's name is the prefix and then the key in capitals,
    /// with `_` for everything but ASCII letters and digits: with the prefix `SHOP_`,
    /// `SHOP_ORDERS_HOST` sets `orders.host`. Values are read as those of ``texts(_:)``.
    ///
    /// A variable that has the prefix but matches no key is an error, because otherwise a
    /// misspelled variable would be ignored silently. So no other program may use the prefix.
    ///
    /// - Parameters:
    ///   - prefix: At least one character.
    ///   - variables: The environment; nil is the process's own at the time the configuration is
    ///     created.
    /// - Returns: The input.
    public static func environment(
        prefix: String, variables: [String: String]? = nil
    ) -> ConfigurationInput {
        .init(source: .environment(prefix: prefix, variables: variables))
    }

    /// Uses values that the program detects about itself and the machine. Only keys that the schema
    /// has are set. A value that can't be detected isn't set.
    ///
    /// | key | type | value |
    /// | --- | --- | --- |
    /// | `launch.startedAt` | string, integer | when the process started: RFC 3339, or Unix seconds |
    /// | `launch.appVersion` | string | `appVersion` |
    /// | `launch.hostName` | string | the machine's name |
    /// | `launch.locale` | string | a language tag such as `de-DE`, from `LC_ALL`, `LC_MESSAGES` or `LANG` |
    /// | `launch.operatingSystem` | string | name and version |
    ///
    /// Put it first in `joined`, so that the other inputs override it:
    ///
    /// ```swift
    /// let launch = ConfigurationInput.joined([
    ///     .detected(appVersion: "1.4.2"), .environment(prefix: "SHOP_"),
    /// ])
    /// ```
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the keys.
    ///   - appVersion: The program's version, which it knows itself.
    ///   - variables: The environment; nil is the process's own at the time the configuration is
    ///     created.
    /// - Returns: The input.
    public static func detected(
        prefix: String = "launch.", appVersion: String? = nil,
        variables: [String: String]? = nil
    ) -> ConfigurationInput {
        .init(source: .detected(prefix: prefix, appVersion: appVersion, variables: variables))
    }

    /// Joins several inputs; later ones win.
    public static func joined(_ inputs: [ConfigurationInput]) -> ConfigurationInput {
        .init(source: .joined(inputs))
    }

    /// A redacted description.
    public var description: String { "ConfigurationInput(redacted)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A key's name and value, and its place for messages.
    struct Entry {
        let name: String
        let value: JSONValue
        let place: String
    }

    /// The maximum size of an input, in bytes.
    package static let sizeLimit = 16 << 20

    /// Returns the name of a key's environment variable.
    package static func variable(for key: String, prefix: String) -> String {
        let name = key.utf8.map { byte in
            switch byte {
            case 0x61...0x7a: byte - 0x20
            case 0x30...0x39, 0x41...0x5a: byte
            default: UInt8(ascii: "_")
            }
        }
        return prefix + String(decoding: name, as: UTF8.self)
    }
}
