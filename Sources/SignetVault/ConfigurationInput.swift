import FoundationEssentials
internal import SignetBase
import SignetCrypto
public import SignetJSON
internal import SignetSystem

/// One of the three inputs of a configuration: where its values come from.
public struct ConfigurationInput: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Source: Sendable {
        case file(String)
        case json([UInt8])
        case values(JSONObject)
        case texts([String])
        case environment(prefix: String, variables: [String: String]?)
        case joined([ConfigurationInput])
    }

    private let source: Source

    /// No values.
    public static let none = ConfigurationInput(source: .joined([]))

    /// A file or pipe that holds a flat JSON object, at most 16 MiB; `-` is standard input.
    public static func file(_ path: String) -> ConfigurationInput { .init(source: .file(path)) }

    /// The bytes of a flat JSON object, read strictly.
    public static func json(_ bytes: [UInt8]) -> ConfigurationInput { .init(source: .json(bytes)) }

    /// Values made by the program.
    public static func values(_ values: JSONObject) -> ConfigurationInput {
        .init(source: .values(values))
    }

    /// Texts of the form `KEY=VALUE`, cut at the first `=`. VALUE is plain text for a string, a URL, bytes
    /// and a duration, and JSON for the other types. A key may come once.
    public static func texts(_ texts: [String]) -> ConfigurationInput {
        .init(source: .texts(texts))
    }

    /// Environment variables named by a prefix and the key in capitals, with `_` for all but letters
    /// and digits: `orders.host` behind `SHOP_` is `SHOP_ORDERS_HOST`. Values are read as those of `texts`.
    ///
    /// A variable with the prefix that belongs to no key is refused, because a misspelled one would
    /// be lost without a word; so the prefix must be the program's own.
    ///
    /// - Parameters:
    ///   - prefix: At least one character.
    ///   - variables: The environment; nil is the process's own when the configuration is made.
    /// - Returns: The input.
    public static func environment(
        prefix: String, variables: [String: String]? = nil
    ) -> ConfigurationInput {
        .init(source: .environment(prefix: prefix, variables: variables))
    }

    /// Several inputs as one; later ones win.
    public static func joined(_ inputs: [ConfigurationInput]) -> ConfigurationInput {
        .init(source: .joined(inputs))
    }

    /// Only that it is an input; its values do not print.
    public var description: String { "ConfigurationInput(redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A value with its key's name and where it stood, for messages.
    struct Entry {
        let name: String
        let value: JSONValue
        let place: String
    }

    /// The largest input.
    package static let sizeLimit = 16 << 20

    /// Reads the input.
    ///
    /// - Throws: `unreadable-file` and `malformed-input`; `wrong-type` for a text that is none of its key's
    ///   type; `unknown-config-key`.
    func entries(for schema: Schema, origin: ConfigurationOrigin) throws(VaultError) -> [Entry] {
        let place = origin.rawValue
        switch source {
        case .file(let path):
            return Self.entries(try Self.object(Self.read(path), "\(place) (\(path))"), place)
        case .json(let bytes): return Self.entries(try Self.object(bytes, place), place)
        case .values(let object): return Self.entries(object, place)
        case .texts(let texts): return try Self.entries(texts, schema, place)
        case .environment(let prefix, let variables):
            let variables = variables ?? ProcessInfo.processInfo.environment
            return try Self.entries(prefix, variables, schema, place)
        case .joined(let inputs):
            var entries: [Entry] = []
            for input in inputs { entries += try input.entries(for: schema, origin: origin) }
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
        _ bytes: [UInt8], _ place: String
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
                .malformedInput, "\(place): found \(value.article), wanted an object KEY:VALUE")
        }
        return object
    }

    private static func entries(_ object: JSONObject, _ place: String) -> [Entry] {
        object.map { Entry(name: $0.name, value: $0.value, place: place) }
    }
}

// MARK: - Text

extension ConfigurationInput {
    private static func entries(
        _ texts: [String], _ schema: Schema, _ place: String
    ) throws(VaultError) -> [Entry] {
        var seen: Set<ByteName> = []
        var entries: [Entry] = []
        for (index, text) in texts.enumerated() {
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")),
                equals > text.startIndex
            else {
                throw VaultError(.malformedInput, "\(place) value \(index + 1): wanted KEY=VALUE")
            }
            let name = String(text[..<equals])
            guard seen.insert(ByteName(name)).inserted else {
                throw VaultError(.malformedInput, "\(quoted(name)) in \(place): it is given twice")
            }
            guard let rule = schema.rule(named: name) else { throw .unknown(name, in: place) }
            let value = String(text[text.utf8.index(after: equals)...])
            entries.append(try Self.entry(value, rule, place))
        }
        return entries
    }

    private static func entries(
        _ prefix: String, _ variables: [String: String], _ schema: Schema, _ place: String
    ) throws(VaultError) -> [Entry] {
        guard !prefix.isEmpty else {
            throw VaultError(.malformedInput, "\(place): an empty prefix would take every variable")
        }
        var rules: [ByteName: [KeyRule]] = [:]
        for rule in schema.rules {
            rules[ByteName(variable(prefix, rule.name)), default: []].append(rule)
        }
        var entries: [Entry] = []
        for (name, value) in variables.sorted(by: { $0.key < $1.key })
        where name.utf8.starts(with: prefix.utf8) {
            guard let fitting = rules[ByteName(name)] else {
                throw VaultError(
                    .unknownConfigKey,
                    "variable \(quoted(name)) in \(place): no key of the schema has this name")
            }
            guard fitting.count == 1 else {
                let names = fitting.map { quoted($0.name) }.joined(separator: " and ")
                throw VaultError(
                    .malformedInput,
                    "variable \(quoted(name)) in \(place): both \(names) have this name")
            }
            entries.append(try entry(value, fitting[0], "\(place) (variable \(name))"))
        }
        return entries
    }

    /// The environment variable of a key.
    static func variable(_ prefix: String, _ key: String) -> String {
        let name = key.utf8.map { byte in
            switch byte {
            case 0x61...0x7a: byte - 0x20
            case 0x30...0x39, 0x41...0x5a: byte
            default: UInt8(ascii: "_")
            }
        }
        return prefix + String(decoding: name, as: UTF8.self)
    }

    /// A text as a value of its key's type: itself, a number of seconds, or JSON.
    static func entry(
        _ text: String, _ rule: KeyRule, _ place: String
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
                    "\(quoted(rule.name)) in \(place): wanted \(rule.type.wanted) as JSON: "
                        + error.messageWithoutNames)
            }
        }
        return Entry(name: rule.name, value: value, place: place)
    }
}
