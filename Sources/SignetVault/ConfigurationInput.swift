import FoundationEssentials
internal import SignetBase
import SignetCrypto
public import SignetJSON
internal import SignetSystem

/// One of the three inputs of a configuration: the source of some of its values.
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
    private enum Source: Sendable {
        case file(String)
        case json([UInt8])
        case values(JSONObject)
        case texts([String])
        case environment(prefix: String, variables: [String: String]?)
        case detected(prefix: String, appVersion: String?, variables: [String: String]?)
        case joined([ConfigurationInput])
    }

    private let source: Source

    /// An input without values.
    public static let none = ConfigurationInput(source: .joined([]))

    /// Reads a JSON object from a file or pipe of at most 16 MiB; `-` is standard input.
    ///
    /// The object is flat: its members are keys. A nested object is flattened with dots, as far as
    /// keys of the schema begin with its name and a dot, unless a key takes it whole.
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

    /// Uses what the program finds out about itself and the machine. Only keys that the schema has are set, and
    /// a value that cannot be found sets none.
    ///
    /// | key | type | value |
    /// | --- | --- | --- |
    /// | `launch.startedAt` | string, integer | when the process started: RFC 3339, or Unix seconds |
    /// | `launch.appVersion` | string | `appVersion` |
    /// | `launch.hostName` | string | the machine's name |
    /// | `launch.locale` | string | a language tag such as `de-DE`, of `LC_ALL`, `LC_MESSAGES` or `LANG` |
    /// | `launch.operatingSystem` | string | name and version |
    ///
    /// Join it first, so that values that are passed in win:
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

    /// Reads the input.
    ///
    /// - Parameter problems: Gets the errors: `unreadable-file` and `malformed-input`; `wrong-type`
    ///   if a text isn't of its key's type; `unknown-config-key`. Entries without an error are
    ///   returned all the same.
    func entries(
        for schema: Schema, origin: ConfigurationOrigin, problems: inout [VaultError]
    ) -> [Entry] {
        do throws(VaultError) {
            return try read(for: schema, origin: origin, problems: &problems)
        } catch {
            problems.append(error)
            return []
        }
    }

    private func read(
        for schema: Schema, origin: ConfigurationOrigin, problems: inout [VaultError]
    ) throws(VaultError) -> [Entry] {
        let place = origin.rawValue
        switch source {
        case .file(let path):
            let object = try Self.object(parsing: Self.read(path), place: "\(place) (\(path))")
            return try Self.entries(of: object, schema: schema, place: place)
        case .json(let bytes):
            return try Self.entries(
                of: try Self.object(parsing: bytes, place: place), schema: schema, place: place)
        case .values(let object):
            return try Self.entries(of: object, schema: schema, place: place)
        case .texts(let texts):
            return Self.entries(
                parsing: texts, schema: schema, place: place, problems: &problems)
        case .environment(let prefix, let variables):
            return try Self.entries(
                parsing: variables ?? ProcessInfo.processInfo.environment, prefix: prefix,
                schema: schema, place: place, problems: &problems)
        case .detected(let prefix, let appVersion, let variables):
            let found = DetectedValues(
                appVersion: appVersion,
                variables: variables ?? ProcessInfo.processInfo.environment)
            return found.entries(for: schema, prefix: prefix, place: "\(place) (detected)")
        case .joined(let inputs):
            var entries: [Entry] = []
            for input in inputs {
                entries += input.entries(for: schema, origin: origin, problems: &problems)
            }
            return entries
        }
    }

    private static func read(_ path: String) throws(VaultError) -> [UInt8] {
        do {
            return try InputFile.read(path, limit: sizeLimit)
        } catch {
            throw VaultError(.unreadableFile, "\(error)")
        }
    }

    private static func object(
        parsing bytes: [UInt8], place: String
    ) throws(VaultError) -> JSONObject {
        guard bytes.count <= sizeLimit else {
            throw VaultError(.malformedInput, "\(place): larger than 16 MiB")
        }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw VaultError(.malformedInput, "\(place): not JSON: \(error.messageWithoutNames)")
        }
        guard let object = value.object else {
            throw VaultError(
                .malformedInput, "\(place): found \(value.article), expected an object KEY:VALUE")
        }
        return object
    }

    /// Returns the members of an object as keys, flattened with dots where the schema wants it.
    ///
    /// - Throws: `malformed-input` if a nested and a flat member are the same key.
    private static func entries(
        of object: JSONObject, schema: Schema, place: String
    ) throws(VaultError) -> [Entry] {
        var entries: [Entry] = []
        flatten(object, prefix: "", schema: schema, place: place, into: &entries)
        guard entries.count != object.count || object.contains(where: { $0.value.object != nil })
        else { return entries }
        var seen: Set<ByteName> = []
        for entry in entries where !seen.insert(ByteName(entry.name)).inserted {
            throw VaultError(
                .malformedInput, "\(quoted(entry.name)) in \(place): duplicate key",
                key: entry.name)
        }
        return entries
    }

    private static func flatten(
        _ object: JSONObject, prefix: String, schema: Schema, place: String,
        into entries: inout [Entry]
    ) {
        for (member, value) in object {
            let name = prefix + member
            if let nested = value.object, schema.position(of: name) == nil,
                schema.hasKeys(below: name)
            {
                flatten(
                    nested, prefix: name + ".", schema: schema, place: place, into: &entries)
            } else {
                entries.append(Entry(name: name, value: value, place: place))
            }
        }
    }
}

// MARK: - Text

extension ConfigurationInput {
    private static func entries(
        parsing texts: [String], schema: Schema, place: String, problems: inout [VaultError]
    ) -> [Entry] {
        var seen: Set<ByteName> = []
        var entries: [Entry] = []
        for (index, text) in texts.enumerated() {
            do throws(VaultError) {
                guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")),
                    equals > text.startIndex
                else {
                    throw VaultError(
                        .malformedInput, "\(place) value \(index + 1): expected KEY=VALUE")
                }
                let name = String(text[..<equals])
                guard seen.insert(ByteName(name)).inserted else {
                    throw VaultError(
                        .malformedInput, "\(quoted(name)) in \(place): duplicate key", key: name)
                }
                guard let rule = schema.rule(named: name) else { throw .unknown(name, in: place) }
                let value = String(text[text.utf8.index(after: equals)...])
                entries.append(try Self.entry(parsing: value, rule: rule, place: place))
            } catch {
                problems.append(error)
            }
        }
        return entries
    }

    private static func entries(
        parsing variables: [String: String], prefix: String, schema: Schema, place: String,
        problems: inout [VaultError]
    ) throws(VaultError) -> [Entry] {
        guard !prefix.isEmpty else {
            throw VaultError(
                .malformedInput, "\(place): an empty prefix would match every variable")
        }
        var rules: [ByteName: [KeyRule]] = [:]
        for rule in schema.rules {
            rules[ByteName(variable(for: rule.name, prefix: prefix)), default: []].append(rule)
        }
        var entries: [Entry] = []
        for (name, value) in variables.sorted(by: { $0.key < $1.key })
        where name.utf8.starts(with: prefix.utf8) {
            do throws(VaultError) {
                guard let matches = rules[ByteName(name)] else {
                    throw VaultError(
                        .unknownConfigKey,
                        "variable \(quoted(name)) in \(place): no key of the schema has this name")
                }
                guard matches.count == 1 else {
                    let names = matches.map { quoted($0.name) }.joined(separator: " and ")
                    throw VaultError(
                        .malformedInput,
                        "variable \(quoted(name)) in \(place): both \(names) have this name")
                }
                let place = "\(place) (variable \(name))"
                entries.append(try entry(parsing: value, rule: matches[0], place: place))
            } catch {
                problems.append(error)
            }
        }
        return entries
    }

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

    /// Reads a text as a value of its key's type: plain text, a number of seconds, or JSON.
    static func entry(
        parsing text: String, rule: KeyRule, place: String
    ) throws(VaultError) -> Entry {
        let value: JSONValue
        if rule.type.isText {
            value = .string(text)
        } else if rule.type == .duration {
            value = JSONNumber(text: text).map(JSONValue.number) ?? .string(text)
        } else {
            do throws(JSONError) {
                value = try JSONValue(parsing: Array(text.utf8))
            } catch {
                throw VaultError(
                    .wrongType,
                    "\(quoted(rule.name)) in \(place): expected \(rule.type.expectation) as JSON: "
                        + error.messageWithoutNames, key: rule.name)
            }
        }
        return Entry(name: rule.name, value: value, place: place)
    }
}
