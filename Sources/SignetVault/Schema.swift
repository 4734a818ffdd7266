import SignetBase
public import SignetJSON

/// The keys that a configuration may have: their types and limits, their visibility, and the inputs
/// that may set them.
///
/// The JSON form is `{"keys":{KEY:{"type":…}}}`. The members of a key are:
///
/// | member | meaning |
/// | --- | --- |
/// | `type` | `string`, `integer`, `number`, `boolean`, `array`, `object`, `duration`, `url` or `bytes` |
/// | `visibility` | `public` or `secret`; secret if absent |
/// | `setBy` | a list of `defaults`, `launch` and `fetched`; all three if absent, but see below |
/// | `meaning` | a text for people |
/// | `notSecret` | `true` allows random text in a public key |
/// | `required` | `true` refuses to seal a configuration without a value for the key |
/// | `minimum`, `maximum` | for integer, number and duration |
/// | `minLength`, `maxLength` | for string and url in Unicode scalars, for bytes in bytes |
/// | `minItems`, `maxItems` | for array |
/// | `minProperties`, `maxProperties` | for object |
/// | `pattern` | a regular expression for a whole string or url |
/// | `enum` | a list of the allowed values |
/// | `items` | the rule of an array's elements or an object's values |
///
/// Without `setBy`, fetched values don't set the keys that choose servers: a service's `baseURL`,
/// `cdnURL`, `pins` and `cdnPins`, in any mode, and the keys below `proxy` and `urlRules`.
///
/// ```swift
/// let text = #"""
///     {"keys":{
///       "orders.timeout":{"type":"duration","visibility":"public","minimum":"100ms"},
///       "orders.token":{"type":"string","setBy":["defaults"],"minLength":32}}}
///     """#
/// let schema = try Schema(parsing: Array(text.utf8))
/// for key in schema.descriptions where key.isPublic { print(key.name, key.type) }
/// for finding in schema.findings { print(finding.key, finding.message) }
/// ```
public struct Schema: Sendable, CustomStringConvertible, CustomReflectable {
    /// The keys' rules in the order of the schema.
    package let rules: [KeyRule]
    private let positions: [ByteName: Int]
    /// The positions of the keys below each beginning of a name that ends before a dot.
    private let groups: [ByteName: [Int]]

    /// The keys' names in the order of the schema.
    public var keys: [String] { rules.map(\.name) }

    /// Reads a schema from JSON.
    ///
    /// - Throws: `malformed-schema`, with every invalid key in the error's `problems`, if the text
    ///   isn't strict JSON, a member is unknown, two keys differ only in their Unicode form, or a
    ///   rule is invalid: a minimum above its maximum, a limit that the type doesn't have, a listed
    ///   value that the rest of the rule refuses, or an invalid pattern.
    public init(parsing bytes: [UInt8]) throws(VaultError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw VaultError(.malformedSchema, "the schema is not JSON: \(error.message)")
        }
        try self.init(value)
    }

    /// Reads a schema from a file.
    ///
    /// - Parameter path: A file or pipe of at most 16 MiB; `-` is standard input.
    /// - Throws: `unreadable-file`, and `malformed-schema` as `init(parsing:)`.
    public init(contentsOf path: String) throws(VaultError) {
        let bytes = try VaultError.reading(path, limit: ConfigurationInput.sizeLimit)
        do {
            try self.init(parsing: bytes)
        } catch {
            throw error.naming(path)
        }
    }

    /// Reads a schema from a JSON value.
    ///
    /// - Throws: `malformed-schema`, as `init(parsing:)`.
    public init(_ value: JSONValue) throws(VaultError) {
        guard let object = value.object, object.count == 1, let keys = object["keys"]?.object else {
            throw VaultError(
                .malformedSchema,
                "the schema must be an object with one member, \"keys\", an object")
        }
        var rules: [KeyRule] = []
        var positions: [ByteName: Int] = [:]
        // Finds names that differ only in their Unicode form, which a `String` compares as equal.
        var seen: Set<String> = []
        var problems: [VaultError] = []
        for (name, description) in keys {
            do throws(VaultError) {
                guard seen.insert(name).inserted else {
                    throw VaultError(
                        .malformedSchema,
                        "key \(quoted(name)): another key differs from it only in its Unicode form",
                        key: name)
                }
                positions[ByteName(name)] = rules.count
                rules.append(try KeyRule(parsing: description, named: name))
            } catch {
                problems.append(error)
            }
        }
        try problems.throwJoined()
        self.rules = rules
        self.positions = positions
        self.groups = Self.groups(of: rules.map(\.name))
    }

    private static func groups(of names: [String]) -> [ByteName: [Int]] {
        var groups: [ByteName: [Int]] = [:]
        for (position, name) in names.enumerated() {
            for index in name.utf8.indices where name.utf8[index] == UInt8(ascii: ".") {
                groups[ByteName(String(name[..<index])), default: []].append(position)
            }
        }
        return groups
    }

    /// Returns whether a key's name starts with this one and a dot.
    func hasKeys(below name: String) -> Bool { groups[ByteName(name)] != nil }

    /// Returns the keys whose names start with this one and a dot, in the order of the schema.
    package func keys(below name: String) -> [String] {
        (groups[ByteName(name)] ?? []).map { rules[$0].name }
    }

    /// Returns the rule of a key, or nil.
    package func rule(named name: String) -> KeyRule? {
        position(of: name).map { rules[$0] }
    }

    /// Checks that the required keys have a value.
    ///
    /// - Parameters:
    ///   - place: The place of the values, for messages.
    ///   - hasValue: Returns whether a key has a value.
    /// - Throws: `missing-value`, naming each key that has none.
    package func requireValues(
        in place: String, where isIncluded: (KeyRule) -> Bool = { _ in true },
        hasValue: (String) -> Bool
    ) throws(VaultError) {
        let missing = rules.filter { $0.isRequired && isIncluded($0) && !hasValue($0.name) }
        try missing.map { rule in
            VaultError(
                .missingValue,
                "\(quoted(rule.name)) has no value in \(place), and the schema requires one",
                key: rule.name)
        }.throwJoined()
    }

    func position(of name: String) -> Int? { positions[ByteName(name)] }

    /// The number of keys. The values in `enum` don't print.
    public var description: String { "Schema(\(rules.count) keys)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
