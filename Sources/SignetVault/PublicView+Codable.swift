import SignetBase
public import SignetJSON

extension PublicView {
    /// A public key and its value, if one is set.
    public struct Entry: Sendable, Hashable {
        /// The schema's description of the key.
        public let key: Schema.Key
        /// The value as written in its input; nil if no input set it.
        public let value: JSONValue?
        /// The value's origin; nil if there is no value.
        public let origin: ConfigurationOrigin?
    }

    /// All public keys, in the order of the schema, including those without a value.
    public var entries: [Entry] {
        checked.map { rule, value in
            Entry(
                key: Schema.Key(rule), value: value?.json,
                origin: origins[rule.name]?.string.flatMap(ConfigurationOrigin.init))
        }
    }

    /// The mapping of dotted key names to member names.
    public enum MemberNames: Sendable, Hashable {
        /// Each dot starts a nested object: `orders.timeout` is the member `timeout` of the member
        /// `orders`.
        case nested
        /// The whole name is one member: `case timeout = "orders.timeout"` in the type's
        /// `CodingKeys`.
        case flat
    }

    /// Decodes the public values, or those with a prefix, as a `Decodable` type.
    ///
    /// ```swift
    /// struct Orders: Decodable {
    ///     var baseURL: ConfigurationURL
    ///     var timeout: Duration
    ///     var attempts: Int?
    /// }
    /// let configuration = try GlobalConfiguration(
    ///     schema: Schema(contentsOf: "/etc/shop/schema.json"),
    ///     defaults: .file("/etc/shop/defaults.json"))
    /// // Reads services.orders.baseURL, services.orders.timeout and services.orders.attempts.
    /// let orders = try configuration.public.decode(Orders.self, at: "services.orders")
    /// print(orders.timeout, orders.attempts ?? 1)
    /// ```
    ///
    /// A value is decoded as the type that a typed key reads: a duration as `Duration`, a URL as
    /// `ConfigurationURL` or `String`, bytes as `[UInt8]`, a number as `Double` or `DecimalNumber`.
    /// Secret keys are never decoded: their members are missing.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - prefix: Decodes only the keys that start with the prefix and a dot, and removes both
    ///     from their names. Nil decodes all keys.
    ///   - names: The mapping of dotted names.
    /// - Returns: The decoded value.
    /// - Throws: `missing-value` if a member has no value; `wrong-type` if a value is of another
    ///   type, or if one key's name is the start of another's, so that it would be both a value and
    ///   an object. The message names the member, never a value.
    public func decode<Value: Decodable>(
        _ type: Value.Type, at prefix: String? = nil, names: MemberNames = .nested
    ) throws(VaultError) -> Value {
        try Self.decode(type, from: checked, at: prefix, names: names, of: "the public view")
    }

    /// Decodes checked values as a type; `source` names them in an error.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from values: [(rule: KeyRule, value: CheckedValue?)],
        at prefix: String?, names: MemberNames, of source: String
    ) throws(VaultError) -> Value {
        var root = NestedMembers()
        for (rule, value) in values {
            guard let value, let name = Self.name(rule.name, without: prefix) else { continue }
            let isInserted =
                names == .flat
                ? root.insert(value.codableForm, at: [name])
                : root.insert(value.codableForm, named: name)
            guard isInserted else {
                throw VaultError(
                    .wrongType,
                    "key \(quoted(rule.name)): its name and another key's cannot both be nested "
                        + "objects; decode with flat names")
            }
        }
        do throws(JSONError) {
            return try StrictJSONDecoder().decode(type, from: .object(root.object))
        } catch {
            throw VaultError(
                error.code == .missingMember ? .missingValue : .wrongType,
                "\(source) as \(Value.self): \(error.message)")
        }
    }

    private static func name(_ name: String, without prefix: String?) -> String? {
        guard let prefix else { return name }
        let bytes = name.utf8
        guard bytes.starts(with: "\(prefix).".utf8) else { return nil }
        return String(name[bytes.index(bytes.startIndex, offsetBy: prefix.utf8.count + 1)...])
    }
}

extension PublicView: Encodable {
    /// Encodes the public values by their whole names, each as written in its input.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(values).encode(to: encoder)
    }
}
