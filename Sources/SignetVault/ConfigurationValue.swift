public import SignetJSON

/// A value of a configuration that has passed its schema.
public struct CheckedValue: Sendable, CustomStringConvertible, CustomReflectable {
    /// Both forms behind one reference, so that a read copies no more than what it returns.
    private final class Forms: Sendable {
        let typed: TypedValue
        let json: JSONValue

        init(_ typed: TypedValue, _ json: JSONValue) {
            self.typed = typed
            self.json = json
        }
    }

    private let forms: Forms

    init(typed: TypedValue, json: JSONValue) { self.forms = Forms(typed, json) }

    package var typed: TypedValue { forms.typed }
    /// The value as it stood in its input.
    package var json: JSONValue { forms.json }

    /// Only the type; a value does not print by accident.
    public var description: String { "CheckedValue(redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A type that a configuration's value can be read as.
///
/// Conforming: `String` (string, url), `Int` and `Int64` (integer), `Double` (number, integer), `Bool`,
/// `Duration`, `ConfigurationURL`, `[UInt8]` (bytes), `JSONObject`, `JSONValue`, arrays of `String`, and optionals
/// of these for keys that may be without a value. An enum of strings or integers conforms by
/// declaring it.
public protocol ConfigurationValue: Sendable {
    /// What is read where no input gave the key a value; nil where that is an error.
    static var whenAbsent: Self? { get }
    /// Reads a checked value, or gives nil where it is of another type.
    init?(_ value: CheckedValue)
}

extension ConfigurationValue {
    /// Nothing: the key needs a value.
    public static var whenAbsent: Self? { nil }
}

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

extension JSONObject: ConfigurationValue {
    /// Reads an object.
    public init?(_ value: CheckedValue) {
        guard case .object(let object) = value.typed else { return nil }
        self = object
    }
}

extension JSONValue: ConfigurationValue {
    /// Reads any value as its JSON.
    public init?(_ value: CheckedValue) { self = value.json }
}

/// A type that a configuration's array can be read as an array of, or, for `UInt8`, its bytes.
public protocol ConfigurationElement: Sendable {
    /// Reads all elements, or gives nil where one is of another type.
    static func elements(_ value: CheckedValue) -> [Self]?
}

extension Array: ConfigurationValue where Element: ConfigurationElement {
    /// Reads an array of elements of one type; for `UInt8`, bytes.
    public init?(_ value: CheckedValue) {
        guard let elements = Element.elements(value) else { return nil }
        self = elements
    }
}

extension UInt8: ConfigurationElement {
    /// Reads bytes.
    public static func elements(_ value: CheckedValue) -> [UInt8]? {
        if case .bytes(let bytes) = value.typed { bytes } else { nil }
    }
}

extension String: ConfigurationElement {
    /// Reads an array of strings.
    public static func elements(_ value: CheckedValue) -> [String]? {
        guard case .array(let elements) = value.typed else { return nil }
        let strings = elements.compactMap(\.string)
        return strings.count == elements.count ? strings : nil
    }
}

extension JSONValue: ConfigurationElement {
    /// Reads an array of any elements.
    public static func elements(_ value: CheckedValue) -> [JSONValue]? {
        if case .array(let elements) = value.typed { elements } else { nil }
    }
}

extension Optional: ConfigurationValue where Wrapped: ConfigurationValue {
    /// Nil: the key may be without a value.
    public static var whenAbsent: Wrapped?? { .some(nil) }

    /// Reads a value of the wrapped type.
    public init?(_ value: CheckedValue) {
        guard let wrapped = Wrapped(value) else { return nil }
        self = wrapped
    }
}

extension ConfigurationValue where Self: RawRepresentable, RawValue: ConfigurationValue {
    /// Reads a raw value that is one of the cases.
    public init?(_ value: CheckedValue) {
        guard let raw = RawValue(value) else { return nil }
        self.init(rawValue: raw)
    }
}
