internal import SignetBase
import SignetCrypto
public import SignetJSON
internal import SignetSystem

/// What a configuration may hold: each key with its type, who may see it and who may set it.
///
/// The form is that of CONTRACT section 4: `{"keys":{KEY:{"type":…,"visibility":…}}}`. A key
/// is secret unless it says `"visibility":"public"`, and may be set by every input unless it has `setBy`.
public struct Schema: Sendable, CustomStringConvertible, CustomReflectable {
    /// The keys' rules in the order of the schema.
    package let rules: [KeyRule]
    private let positions: [ByteName: Int]

    /// The keys' names in the order of the schema.
    public var keys: [String] { rules.map(\.name) }

    /// Reads a schema from JSON.
    ///
    /// - Throws: `malformed-schema` where the JSON is not strict JSON, a member is unknown, or a key
    ///   contradicts itself: a minimum above its maximum, a limit that the type does not have, a listed
    ///   value that the rest of the rule refuses, a pattern that is none, two keys that look the same.
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
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(path, limit: ConfigurationInput.sizeLimit)
        } catch {
            throw VaultError(.unreadableFile, error.message)
        }
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
        // Swift's equality of texts, which takes all Unicode forms of one text for the same.
        var seen: Set<String> = []
        for (name, description) in keys {
            guard seen.insert(name).inserted else {
                throw VaultError(
                    .malformedSchema,
                    "key \(quoted(name)): another key differs from it only in its Unicode form")
            }
            positions[ByteName(name)] = rules.count
            rules.append(try KeyRule(name, description))
        }
        self.rules = rules
        self.positions = positions
    }

    /// The rule of a key, or nil.
    package func rule(named name: String) -> KeyRule? {
        position(of: name).map { rules[$0] }
    }

    func position(of name: String) -> Int? { positions[ByteName(name)] }

    /// How many keys there are; a secret key's listed values do not print.
    public var description: String { "Schema(\(rules.count) keys)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
