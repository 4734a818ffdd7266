import SignetBase
public import SignetJSON

/// The part of a configuration that its schema makes public, read by typed keys.
///
/// ```swift
/// let timeout = ConfigurationKey<Duration, PublicValue>("orders.timeout")
/// let retries = ConfigurationKey<Int?, PublicValue>("orders.retries")  // may have no value
/// let configuration = try GlobalConfiguration(
///     schema: Schema(contentsOf: "/etc/shop/schema.json"),
///     defaults: .file("/etc/shop/defaults.json"), requiring: timeout, retries)
///
/// let view = configuration.public
/// print(view[timeout], view[retries] ?? 3)  // required above, so these can't fail
///
/// let name = ConfigurationKey<String, PublicValue>("orders.name")
/// print(try view.value(for: name))  // throws if the key is missing, secret or of another type
/// ```
public struct PublicView: Sendable, CustomStringConvertible {
    private final class Storage: Sendable {
        /// Values by the keys' numbers; nil if a key is secret, unknown or has no value.
        let slots: [CheckedValue?]
        let schema: Schema
        let values: JSONObject
        let origins: JSONObject

        init(schema: Schema, settings: [Setting]) {
            var slots: [CheckedValue?] = []
            for (rule, setting) in zip(schema.rules, settings) where rule.isPublic {
                guard let winner = setting.winner else { continue }
                let number = KeyNumbers.number(of: rule.name)
                while slots.count <= number { slots.append(nil) }
                slots[number] = winner.value
            }
            self.slots = slots
            self.schema = schema
            (values, origins) = schema.winners(of: settings, where: \.isPublic)
        }
    }

    private let storage: Storage

    init(schema: Schema, settings: [Setting]) {
        self.storage = Storage(schema: schema, settings: settings)
    }

    /// The public values, in the order of the schema.
    public var values: JSONObject { storage.values }

    /// The origin of each public value, in the order of the schema.
    public var origins: JSONObject { storage.origins }

    /// The value of a key that was required when the configuration was created.
    ///
    /// - Precondition: The key is public, has a value (or is optional), and the value is of the
    ///   key's type. `GlobalConfiguration(…, requiring:)` and ``require(_:)`` check that once and
    ///   throw an error.
    @inlinable
    public subscript<Value>(key: ConfigurationKey<Value, PublicValue>) -> Value {
        // Inlined, so that the compiler knows the type: 20 ns a read (benchmark public-read).
        if let checked = slot(key.number), let value = Value(checked) { return value }
        return valueIfMissing(for: key)
    }

    /// Returns the value of an optional key that has none, or traps if the key was never required.
    @usableFromInline
    func valueIfMissing<Value>(for key: ConfigurationKey<Value, PublicValue>) -> Value {
        guard let value = read(key) else {
            preconditionFailure("configuration key \(quoted(key.name)) was read but never required")
        }
        return value
    }

    /// Returns the value of a key.
    ///
    /// - Throws: As ``require(_:)``.
    public func value<Value>(
        for key: ConfigurationKey<Value, PublicValue>
    ) throws(VaultError) -> Value {
        if let value = read(key) { return value }
        let name = quoted(key.name)
        guard let rule = storage.schema.rule(named: key.name) else {
            throw Self.unknown(key.name, in: storage.schema)
        }
        guard rule.isPublic else {
            throw VaultError(
                .notPublic,
                "key \(name), which the program reads publicly, is secret; read it with `withSecret`"
            )
        }
        guard slot(key.number) != nil else {
            throw Self.missing(key.name)
        }
        throw Self.wrongType(of: slot(key.number), rule: rule, as: Value.self)
    }

    /// Returns the error for a key that the schema lacks.
    static func unknown(_ name: String, in schema: Schema) -> VaultError {
        VaultError(
            .unknownConfigKey,
            "key \(quoted(name)), which the program reads: not in the schema"
                + NearestName.suggestion(for: name, among: schema.keys))
    }

    /// Returns the error for a key without a value.
    static func missing(_ name: String) -> VaultError {
        VaultError(
            .missingValue, "key \(quoted(name)), which the program reads: no input sets it")
    }

    /// Returns the error for a value that can't be read as a Swift type.
    static func wrongType(of value: CheckedValue?, rule: KeyRule, as type: Any.Type) -> VaultError {
        let reason = value.flatMap { decodingProblem(of: $0, as: type) }
        return VaultError(
            .wrongType,
            "key \(quoted(rule.name)): the value, of type \(rule.type.rawValue), cannot be read as "
                + "\(type)" + (reason.map { ": \($0)" } ?? ""))
    }

    /// Returns the value of a key by its name, for adapters to other libraries.
    ///
    /// - Returns: The value and its type in the schema; nil if the schema doesn't have the key or
    ///   no input sets it.
    /// - Throws: `not-public` if the key is secret, with or without a value.
    package func checkedValue(
        named name: String
    ) throws(VaultError) -> (value: CheckedValue, type: ValueType)? {
        guard let rule = storage.schema.rule(named: name) else { return nil }
        guard rule.isPublic else {
            throw VaultError(.notPublic, "key \(quoted(name)), which is read publicly, is secret")
        }
        return slot(KeyNumbers.number(of: rule.name)).map { ($0, rule.type) }
    }

    /// Checks that keys can be read: each is public in the schema and has a value of its type.
    ///
    /// - Throws: `unknown-config-key`, `not-public`, `missing-value` or `wrong-type`, naming the
    ///   key.
    public func require<each Value>(
        _ keys: repeat ConfigurationKey<each Value, PublicValue>
    ) throws(VaultError) {
        repeat _ = try value(for: each keys)
    }

    /// Returns the reason that a `Decodable` type can't be decoded. It names members, never values.
    private static func decodingProblem(of value: CheckedValue, as type: Any.Type) -> String? {
        guard !(type is any RawRepresentable.Type), let type = type as? any Decodable.Type
        else { return nil }
        do throws(JSONError) {
            _ = try StrictJSONDecoder().decode(type, from: value.codableForm)
            return nil
        } catch {
            return error.message
        }
    }

    private func read<Value>(_ key: ConfigurationKey<Value, PublicValue>) -> Value? {
        if let value = slot(key.number) { return Value(value) }
        guard Value.valueIfMissing != nil, storage.schema.rule(named: key.name)?.isPublic == true
        else { return nil }
        return Value.valueIfMissing
    }

    @usableFromInline
    func slot(_ number: Int) -> CheckedValue? {
        number < storage.slots.count ? storage.slots[number] : nil
    }

    /// The public keys with their values, in the order of the schema.
    var checked: [(rule: KeyRule, value: CheckedValue?)] {
        storage.schema.rules.filter(\.isPublic).map { rule in
            (rule, slot(KeyNumbers.number(of: rule.name)))
        }
    }

    /// The public values as JSON.
    public var description: String { JSONValue.object(values).text }
}
