#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// The keys that `vault set --add` puts into the schema.
struct NewKeys {
    /// The form of the keys, as far as a person gave it.
    struct Form {
        let isPublic: Bool?
        let type: String?
    }

    private var rules = JSONObject()

    /// No keys.
    init() {}

    /// Finds the keys that the schema lacks.
    ///
    /// - Parameters:
    ///   - assignments: `KEY=VALUE`, `KEY@SOURCE` or `KEY`.
    ///   - sources: `KEY=SOURCE`.
    /// - Throws: `secret-in-arguments` for the value of a new secret key; `usage` if a key is in
    ///   the schema with another form.
    init(
        in assignments: [String], from sources: [String], as form: Form, beside schema: Schema
    ) throws {
        for (text, signs) in assignments.map({ ($0, "=@") }) + sources.map({ ($0, "=") }) {
            let (name, rest) = KeyValueArgument.parts(of: text, schema: schema, signs: signs)
            if let rule = schema.rule(named: name) {
                try Self.require(rule, toHave: form)
                continue
            }
            guard !name.isEmpty else { throw ToolError.usage("an argument has no KEY") }
            let isPublic = form.isPublic == true
            var value: String?
            if signs == "=@", rest.first == ASCII.equals, rest.count > 1, rest != [0x3D, 0x2D] {
                value = String(decoding: rest.dropFirst(), as: UTF8.self)
            }
            guard isPublic || value == nil else {
                let shown = printable(name)
                throw ToolError(
                    .secretInArguments,
                    "\(quoted(name)) is new, so it is secret unless --public is given, and others can "
                        + "read an argument list; give \(shown)@FILE, \(shown)@env:NAME, \(shown)=- "
                        + "for standard input, or \(shown) alone to be asked")
            }
            var rule =
                form.type.map { ["type": .string($0)] }
                ?? value.map { Self.guess($0, named: name) } ?? ["type": "string"]
            rule["visibility"] = isPublic ? "public" : "secret"
            rules[name] = .object(rule)
        }
    }

    /// Whether the schema has all keys.
    var isEmpty: Bool { rules.isEmpty }

    /// The keys with their types and visibilities.
    var summary: String {
        rules.map { name, rule in
            let words = ["type", "visibility"].compactMap { rule[$0]?.string }
            return "\(printable(name)) (\(words.joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    /// Returns the schema of a file with these keys added. Writes nothing.
    func schema(in path: String) throws(VaultError) -> Schema {
        try Self.schema(adding: rules, to: Self.read(path), of: path).schema
    }

    /// Writes the keys into a schema's file, whose other bytes stay as they are.
    ///
    /// - Throws: `unwritable-file`; `file-busy` if another process has given one of the keys
    ///   another form in the meantime.
    func write(to path: String) throws(VaultError) {
        guard !isEmpty else { return }
        var lock = try Self.writing { () throws(FileFailure) in try FileLock(guarding: path) }
        let bytes = try Self.schema(adding: rules, to: Self.read(path), of: path).bytes
        try Self.writing { () throws(FileFailure) in try lock.write(bytes, mode: lock.mode) }
    }

    private static func writing<Value: ~Copyable>(
        _ work: () throws(FileFailure) -> Value
    ) throws(VaultError) -> Value {
        do throws(FileFailure) {
            return try work()
        } catch {
            throw VaultError(error.kind == .busy ? .fileBusy : .unwritableFile, error.message)
        }
    }

    private static func read(_ path: String) throws(VaultError) -> [UInt8] {
        do throws(FileFailure) {
            return try InputFile.read(path, limit: ConfigurationInput.sizeLimit)
        } catch {
            throw VaultError(.unreadableFile, error.message)
        }
    }

    /// Adds keys to a schema's text.
    private static func schema(
        adding rules: JSONObject, to text: [UInt8], of path: String
    ) throws(VaultError) -> (schema: Schema, bytes: [UInt8]) {
        let document = (try? JSONValue(parsing: text))?["keys"]?.object ?? [:]
        for (name, rule) in rules where document[name] != nil && document[name] != rule {
            throw VaultError(
                .fileBusy,
                "\(printable(path)): another process added \(quoted(name)) in another form in the "
                    + "meantime")
        }
        let missing = JSONObject(rules.filter { document[$0.name] == nil })
        let bytes = missing.isEmpty ? text : inserting(missing, into: text)
        return (try Schema(parsing: bytes), bytes)
    }

    /// Inserts members after the last key of a schema's text. The last two braces of the text end
    /// the document and its keys.
    private static func inserting(_ members: JSONObject, into text: [UInt8]) -> [UInt8] {
        let brace = UInt8(ascii: "}")
        guard let end = text.lastIndex(of: brace), let close = text[..<end].lastIndex(of: brace),
            let last = text[..<close].lastIndex(where: { !" \t\r\n".utf8.contains($0) })
        else { return text }
        let lines = JSONValue.object(["keys": .object(members)]).serialized(.pretty)
            .split(separator: ASCII.lineFeed).dropFirst(2).dropLast(2)
        let isFirst = text[last] == UInt8(ascii: "{")
        let space = text[(last + 1)..<close]
        return text[...last] + (isFirst ? [] : [ASCII.comma]) + [ASCII.lineFeed]
            + lines.joined(separator: [ASCII.lineFeed])
            + (space.contains(ASCII.lineFeed) ? space : [ASCII.lineFeed, ASCII.space, ASCII.space])
            + text[close...]
    }

    /// Guesses a public key's rule from its value, as vault init does.
    private static func guess(_ text: String, named name: String) -> JSONObject {
        let whole = try? JSONValue(parsing: text)
        if whole?.object != nil { return ["type": "object"] }
        let value = whole?.array == nil ? CoreSchema.value(of: text) : whole ?? .null
        let guessed = try? GuessedSchema(of: JSONObject([(name, value)])).document["keys"]?[name]
        return guessed?.object ?? ["type": "string"]
    }

    /// Checks that a key of the schema has the form that a person gave.
    private static func require(_ rule: KeyRule, toHave form: Form) throws(ToolError) {
        let (type, isPublic) = (form.type ?? rule.type.rawValue, form.isPublic ?? rule.isPublic)
        guard type == rule.type.rawValue, isPublic == rule.isPublic else {
            throw .usage(
                "\(quoted(rule.name)) is in the schema as \(rule.type.rawValue), "
                    + "\(rule.isPublic ? "public" : "secret"); edit the schema to change that, "
                    + "then run signet vault seal")
        }
    }
}
#endif
