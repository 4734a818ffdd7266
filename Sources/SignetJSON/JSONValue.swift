import SignetBase

/// A JSON value as a tree (RFC 8259).
///
/// ```swift
/// var order = try JSONValue(parsing: #"{"item": "tea", "cups": 2}"#).object ?? JSONObject()
/// if order["item"]?.string == "tea", let cups = order["cups"]?.number?.int64 {
///     order["cups"] = .number(JSONNumber(cups + 1))
/// }
/// let text = JSONValue.object(order).text  // {"item":"tea","cups":3}
/// ```
///
/// Two strings are equal if their bytes are, two numbers if their texts are, and two objects if
/// they hold the same members in any order.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as its text.
    case number(JSONNumber)
    /// A string, unescaped.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// Whether this is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }
    /// A boolean's value; nil for any other type.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// A number; nil for any other type.
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
    /// A string's text; nil for any other type.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// An array's elements; nil for any other type.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// An object; nil for any other type.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The type's name for messages: `null`, `boolean`, `number`, `string`, `array` or `object`.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The value of an object's member; nil if it is missing, or for any other type.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// Whether both are the same value. Compares strings as bytes.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): sameBytes(left, right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Hashes the value; strings as bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): ByteName(value).hash(into: &hasher)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    /// Creates a number, or `null` if the literal is too large for `Double`.
    public init(floatLiteral value: Double) {
        self = JSONNumber(value).map(JSONValue.number) ?? .null
    }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. Of two members with the same name, the later value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.lazy.map { (name: $0.0, value: $0.1) }))
    }
}
