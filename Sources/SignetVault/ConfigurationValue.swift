public import SignetJSON

/// A Swift type that a configuration value can be read as.
///
/// | the schema's type | Swift types |
/// | --- | --- |
/// | `string` | `String`, an enum of strings |
/// | `integer` | `Int`, `Int64`, `UInt8`, `Double`, `DecimalNumber`, an enum of integers |
/// | `number` | `Double`, `DecimalNumber`, `JSONNumber` |
/// | `boolean` | `Bool` |
/// | `duration` | `Duration` |
/// | `url` | `ConfigurationURL`, `String` |
/// | `bytes` | `[UInt8]` |
/// | `array` | an array of any of these, `[JSONValue]`, a `Decodable` type |
/// | `object` | `[String: T]` of any of these, `JSONObject`, a `Decodable` struct |
///
/// Elements have the type in the rule's `items`; without `items`, the type of their JSON. Use an
/// optional for a key that may have no value, and `JSONValue` for any type. An enum of strings or
/// integers and a `Decodable` type need only declare the conformance. A `Decodable` type is decoded
/// at each read.
///
/// ```swift
/// enum Mode: String, ConfigurationValue { case fast, careful }
/// struct Limits: Decodable, ConfigurationValue { var perSecond: Int, burst: Int }
///
/// let mode = ConfigurationKey<Mode, PublicValue>("orders.mode")  // a string of a list
/// let limits = ConfigurationKey<[String: Limits], PublicValue>("orders.limits")  // a map
/// let configuration = try GlobalConfiguration(
///     schema: Schema(contentsOf: "/etc/shop/schema.json"),
///     defaults: .file("/etc/shop/defaults.json"), requiring: mode, limits)
/// if configuration.public[mode] == .fast { print(configuration.public[limits].count) }
/// ```
public protocol ConfigurationValue: Sendable {
    /// The value of a key that no input sets; nil if the key must have a value.
    static var valueIfMissing: Self? { get }
    /// Reads a checked value, or returns nil if it's of another type.
    init?(_ value: CheckedValue)
    /// Reads all elements of a list, or returns nil if one is of another type.
    static func elements(_ value: CheckedValue) -> [Self]?
}

extension ConfigurationValue {
    /// Nil: the key must have a value.
    public static var valueIfMissing: Self? { nil }

    /// Reads each element of a list.
    public static func elements(_ value: CheckedValue) -> [Self]? {
        guard case .array(let elements) = value.typed else { return nil }
        let result = elements.compactMap { Self($0) }
        return result.count == elements.count ? result : nil
    }
}

// MARK: - Simple values

extension String: ConfigurationValue {
    /// Reads a string or a URL.
    public init?(_ value: CheckedValue) {
        switch value.typed {
        case .string(let text): self = text
        case .url(let url): self = url.text
        default: return nil
        }
    }
}

extension Int64: ConfigurationValue {
    /// Reads an integer.
    public init?(_ value: CheckedValue) {
        guard case .integer(let integer) = value.typed else { return nil }
        self = integer
    }
}

extension Int: ConfigurationValue {
    /// Reads an integer.
    public init?(_ value: CheckedValue) {
        guard case .integer(let integer) = value.typed else { return nil }
        self.init(exactly: integer)
    }
}

extension Double: ConfigurationValue {
    /// Reads a number, or an integer that has an exact binary64 value.
    public init?(_ value: CheckedValue) {
        switch value.typed {
        case .number(let double, _): self = double
        case .integer(let integer): self.init(exactly: integer)
        default: return nil
        }
    }
}

extension DecimalNumber: ConfigurationValue {
    /// Reads a number or an integer, exactly.
    public init?(_ value: CheckedValue) {
        guard let number = JSONNumber(value) else { return nil }
        self.init(number)
    }
}

extension JSONNumber: ConfigurationValue {
    /// Reads a number or an integer with its text.
    public init?(_ value: CheckedValue) {
        switch value.typed {
        case .number(_, let number): self = number
        case .integer(let integer): self = value.json.number ?? JSONNumber(integer)
        default: return nil
        }
    }
}

extension Bool: ConfigurationValue {
    /// Reads a boolean.
    public init?(_ value: CheckedValue) {
        guard case .boolean(let bool) = value.typed else { return nil }
        self = bool
    }
}

extension Duration: ConfigurationValue {
    /// Reads a duration.
    public init?(_ value: CheckedValue) {
        guard case .duration(let duration) = value.typed else { return nil }
        self = duration
    }
}

extension ConfigurationURL: ConfigurationValue {
    /// Reads a URL.
    public init?(_ value: CheckedValue) {
        guard case .url(let url) = value.typed else { return nil }
        self = url
    }
}

extension UInt8: ConfigurationValue {
    /// Reads an integer in 0...255.
    public init?(_ value: CheckedValue) {
        guard case .integer(let integer) = value.typed else { return nil }
        self.init(exactly: integer)
    }

    /// Reads bytes; returns nil for a list of numbers.
    public static func elements(_ value: CheckedValue) -> [UInt8]? {
        if case .bytes(let bytes) = value.typed { bytes } else { nil }
    }
}

// MARK: - Lists, maps and JSON

extension Array: ConfigurationValue where Element: ConfigurationValue {
    /// Reads a list if all its elements can be read; `[UInt8]` reads bytes.
    public init?(_ value: CheckedValue) {
        guard let elements = Element.elements(value) else { return nil }
        self = elements
    }
}

extension Dictionary: ConfigurationValue where Key == String, Value: ConfigurationValue {
    /// Reads a map if all its values can be read.
    ///
    /// Returns nil for a map with two names that Swift compares as equal, which are different
    /// Unicode forms of the same text.
    public init?(_ value: CheckedValue) {
        guard case .object(let members) = value.typed else { return nil }
        self.init(minimumCapacity: members.count)
        for member in members {
            guard let value = Value(member.value),
                updateValue(value, forKey: member.name) == nil
            else { return nil }
        }
    }
}

extension JSONObject: ConfigurationValue {
    /// Reads a map exactly as in its input.
    public init?(_ value: CheckedValue) {
        guard case .object = value.typed, let object = value.json.object else { return nil }
        self = object
    }
}

extension JSONValue: ConfigurationValue {
    /// Reads any value as its JSON.
    public init?(_ value: CheckedValue) { self = value.json }
}

extension Optional: ConfigurationValue where Wrapped: ConfigurationValue {
    /// The value nil: the key may have no value.
    public static var valueIfMissing: Wrapped?? { .some(nil) }

    /// Reads a value of the wrapped type.
    public init?(_ value: CheckedValue) {
        guard let wrapped = Wrapped(value) else { return nil }
        self = wrapped
    }
}

// MARK: - A program's own types

extension ConfigurationValue where Self: RawRepresentable, RawValue: ConfigurationValue {
    /// Reads a raw value that is one of the cases.
    public init?(_ value: CheckedValue) {
        guard let raw = RawValue(value) else { return nil }
        self.init(rawValue: raw)
    }
}

extension ConfigurationValue where Self: Decodable {
    /// Decodes a value as ``PublicView/decode(_:at:names:)`` does.
    public init?(_ value: CheckedValue) {
        guard
            let decoded = try? StrictJSONDecoder().decode(Self.self, from: value.codableForm)
        else { return nil }
        self = decoded
    }
}

extension ConfigurationValue
where Self: RawRepresentable, Self: Decodable, RawValue: ConfigurationValue {
    /// Reads a raw value that is one of the cases.
    public init?(_ value: CheckedValue) {
        guard let raw = RawValue(value) else { return nil }
        self.init(rawValue: raw)
    }
}
