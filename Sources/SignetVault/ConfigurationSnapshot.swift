import SignetBase
import SignetJSON
import SignetSystem

/// A source of a configuration whose secrets a program reads: a ``GlobalConfiguration``, or the
/// latest snapshot of a ``LiveConfiguration``.
///
/// ```swift
/// extension ConfigurationKey where Value == String, Visibility == SecretValue {
///     static let databasePassword = Self("database.password")
/// }
///
/// let configuration = try GlobalConfiguration(
///     schema: Schema(contentsOf: "/etc/shop/schema.json"),
///     defaults: .file("/etc/shop/defaults.json"))
/// try configuration.withSecret(.databasePassword) { password in
///     print("the password has \(password.count) bytes")
/// }
/// ```
///
/// The bytes that `withSecret` lends are those of a text or URL in UTF-8, those that `bytes` stand
/// for, and for other types the value as JSON. They are a copy in memory that is locked, so that it
/// is never written to swap, and that is wiped when the closure ends. The configuration keeps its
/// own values in ordinary memory until it is released.
///
/// The system limits how much memory a process may lock (`ulimit -l`); a secret takes whole pages
/// while it is lent. At the limit the copy isn't locked, but still wiped. With `mustLock`,
/// `withSecret` throws `memory-not-locked` instead.
public protocol ConfigurationSnapshot: Sendable {
    /// The configuration that is current.
    var current: GlobalConfiguration { get }
}

extension GlobalConfiguration: ConfigurationSnapshot {
    /// This configuration.
    public var current: GlobalConfiguration { self }
}

extension LiveConfiguration: ConfigurationSnapshot {}

extension ConfigurationSnapshot {
    /// Lends the bytes of a secret to a closure, and wipes them when it ends.
    ///
    /// - Parameters:
    ///   - key: The key, which is secret in the schema.
    ///   - mustLock: Whether to throw if the memory can't be locked.
    ///   - body: Uses the bytes, which are valid only until it ends. A copy of them is its own.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or `VaultError`: `unknown-config-key`, `not-secret`,
    ///   `missing-value`, `wrong-type` or `memory-not-locked`. It names the key, never the value.
    public func withSecret<Value, Result>(
        _ key: ConfigurationKey<Value, SecretValue>, mustLock: Bool = false,
        _ body: (Span<UInt8>) throws -> Result
    ) throws -> Result {
        let secret = try current.secretBytes(of: key, mustLock: mustLock)
        return try body(secret.bytes)
    }

    /// Lends the bytes of a secret to a closure that throws no other error.
    public func withSecret<Value, Result>(
        _ key: ConfigurationKey<Value, SecretValue>, mustLock: Bool = false,
        _ body: (Span<UInt8>) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let secret = try current.secretBytes(of: key, mustLock: mustLock)
        return try body(secret.bytes)
    }

    /// Lends the bytes of a secret to an asynchronous closure, and wipes them when it ends.
    public func withSecret<Value, Result>(
        _ key: ConfigurationKey<Value, SecretValue>, mustLock: Bool = false,
        _ body: (Span<UInt8>) async throws -> Result
    ) async throws -> Result {
        let secret = try current.secretBytes(of: key, mustLock: mustLock)
        return try await body(secret.bytes)
    }

    /// Lends the bytes of a secret to an asynchronous closure that throws no other error.
    public func withSecret<Value, Result>(
        _ key: ConfigurationKey<Value, SecretValue>, mustLock: Bool = false,
        _ body: (Span<UInt8>) async throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        let secret = try current.secretBytes(of: key, mustLock: mustLock)
        return try await body(secret.bytes)
    }

    /// Returns a copy of a secret as the key's type, for a library that wants a `String` or a
    /// `Decodable` type. The copy is the program's own: Signet can't lock or wipe it.
    ///
    /// - Throws: As `withSecret`. An optional key without a value is nil, not an error.
    public func copyOfSecret<Value>(
        _ key: ConfigurationKey<Value, SecretValue>
    ) throws(VaultError) -> Value {
        try current.secret(key).typed
    }

    /// Decodes all values, or those with a prefix, public and secret, as a `Decodable` type. The
    /// secrets in it are copies, as those of ``copyOfSecret(_:)``.
    ///
    /// - Returns: The decoded value.
    /// - Throws: As ``PublicView/decode(_:at:names:)``.
    public func copyOfValues<Value: Decodable>(
        as type: Value.Type, at prefix: String? = nil, names: PublicView.MemberNames = .nested
    ) throws(VaultError) -> Value {
        let current = current
        return try PublicView.decode(
            type, from: current.schema.rules.map { ($0, current.value(named: $0.name)) },
            at: prefix, names: names, of: "the configuration")
    }
}

extension GlobalConfiguration {
    /// Returns a secret as the key's type; `value` is nil if the key is optional and has none.
    fileprivate func secret<Value>(
        _ key: ConfigurationKey<Value, SecretValue>
    ) throws(VaultError) -> (value: CheckedValue?, typed: Value) {
        let name = quoted(key.name)
        guard let rule = schema.rule(named: key.name) else {
            throw PublicView.unknown(key.name, in: schema)
        }
        guard !rule.isPublic else {
            throw VaultError(
                .notSecret,
                "key \(name), which the program reads as a secret, is public; read it with `public`"
            )
        }
        guard let value = value(named: key.name) else {
            if let missing = Value.valueIfMissing { return (nil, missing) }
            throw PublicView.missing(key.name)
        }
        guard let typed = Value(value) else {
            throw PublicView.wrongType(of: value, rule: rule, as: Value.self)
        }
        return (value, typed)
    }

    /// Copies the bytes of a secret into memory of their own.
    fileprivate func secretBytes<Value>(
        of key: ConfigurationKey<Value, SecretValue>, mustLock: Bool
    ) throws(VaultError) -> LockedBytes {
        let name = quoted(key.name)
        guard let value = try secret(key).value else { throw PublicView.missing(key.name) }
        let copy: LockedBytes?
        switch value.typed {
        case .string(let text): copy = LockedBytes(copying: text.utf8.span)
        case .url(let url): copy = LockedBytes(copying: url.text.utf8.span)
        case .bytes(let bytes): copy = LockedBytes(copying: bytes.span)
        default:
            var json = value.json.serialized()
            defer { wipe(&json) }
            copy = LockedBytes(copying: json.span)
        }
        guard let copy else {
            throw VaultError(.memoryNotLocked, "key \(name): the system has no memory for a copy")
        }
        guard copy.isLocked || !mustLock else {
            throw VaultError(
                .memoryNotLocked,
                "key \(name): the memory for a copy cannot be locked; raise the limit, which "
                    + "`ulimit -l` shows")
        }
        return copy
    }
}
