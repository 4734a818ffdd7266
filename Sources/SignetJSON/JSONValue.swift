internal import SignetBase

/// A JSON value as a tree (RFC 8259).
///
/// Strings are equal where their bytes are, numbers where their texts are, objects where they hold
/// the same members in any order.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as its text.
    case number(JSONNumber)
    /// A string, escapes undone.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// Reads a JSON text strictly; see `JSONReader` for what is refused.
    ///
    /// - Parameters:
    ///   - bytes: The whole text, UTF-8.
    ///   - maximumDepth: How deep arrays and objects may be nested, in 0...512; more counts as 512.
    /// - Throws: `JSONError` with path and byte offset.
    public init(
        parsing bytes: [UInt8], maximumDepth: Int = JSONReader.maximumDepth
    ) throws(JSONError) {
        let reader = try JSONReader(bytes, maximumDepth: maximumDepth)
        self = reader.value(reader.root)
    }

    /// Reads a JSON text strictly; see `init(parsing:maximumDepth:)`.
    public init(
        parsing bytes: Span<UInt8>, maximumDepth: Int = JSONReader.maximumDepth
    ) throws(JSONError) {
        let reader = try JSONReader(copying: bytes, maximumDepth: maximumDepth)
        self = reader.value(reader.root)
    }

    /// Reads a JSON text strictly; see `init(parsing:maximumDepth:)`.
    public init(
        parsing text: String, maximumDepth: Int = JSONReader.maximumDepth
    ) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), maximumDepth: maximumDepth)
    }

    /// The JSON text as UTF-8 bytes, without a final newline.
    public func serialized(_ style: JSONStyle = .compact) -> [UInt8] {
        var writer = JSONWriter(style)
        writer.write(self)
        return writer.bytes
    }

    /// The compact JSON text.
    public var text: String { String(decoding: serialized(), as: UTF8.self) }

    /// Whether this is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }
    /// A boolean's value; of another type nil.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// A number; of another type nil.
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
    /// A string's text; of another type nil.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// An array's elements; of another type nil.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// An object; of another type nil.
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

    /// A member of an object; of another type nil.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// Whether both are the same value; strings are compared as bytes.
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

    /// Feeds the value; strings as bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): JSONName(value).hash(into: &hasher)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    /// Makes a number; a literal beyond binary64, which the compiler turns into an infinity, is null.
    public init(floatLiteral value: Double) {
        self = JSONNumber(value).map(JSONValue.number) ?? .null
    }
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object; of two members with one name the later value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.lazy.map { (name: $0.0, value: $0.1) }))
    }
}
