#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// A key and where its new value comes from, as `vault set` is given it.
struct KeyValueArgument {
    private enum Source {
        case argument(String)
        case file(String)
        case source(String)
        case terminal
    }

    private let rule: KeyRule
    private let source: Source

    /// The key.
    var name: String { rule.name }

    /// Whether its value is all of standard input.
    var readsStandardInput: Bool {
        switch source {
        case .file("-"), .source("fd:0"): true
        default: false
        }
    }

    /// Reads `KEY=VALUE`, `KEY=-`, `KEY@SOURCE` or `KEY`; the key is the longest of the schema that
    /// fits.
    ///
    /// - Throws: `unknown-config-key`; `secret-in-arguments` for a secret key's value.
    init(_ text: String, schema: Schema) throws {
        if let rule = schema.rule(named: text) {
            self.rule = rule
            self.source = .terminal
            return
        }
        let (rule, sign, rest) = try Self.split(text, schema: schema, signs: "=@")
        self.rule = rule
        if sign == UInt8(ascii: "@") || rest == "-" {
            self.source = Self.source(rest)
            return
        }
        let name = printable(rule.name)
        try Self.requirePublic(
            rule,
            otherwise: "\(name)@FILE, \(name)@env:NAME, \(name)=- for standard input, or \(name) "
                + "alone to be asked")
        self.source = .argument(rest)
    }

    /// Reads all arguments of `vault set`.
    ///
    /// - Throws: As `init(_:schema:)`; `usage` for `KEY VALUE` in place of `KEY=VALUE`.
    static func parsed(_ texts: [String], schema: Schema) throws -> [KeyValueArgument] {
        for (text, next) in zip(texts, texts.dropFirst()) {
            let (name, rest) = parts(of: next, schema: schema, signs: "=@")
            guard let rule = schema.rule(named: text), rest.isEmpty || name.isEmpty,
                schema.rule(named: name) == nil
            else { continue }
            let shown = printable(text)
            throw ToolError.usage(
                "found \(quoted(text)) and a value as two arguments; write "
                    + (rule.isPublic ? "\(shown)=\(printable(next))" : "\(shown)@SOURCE"))
        }
        return try texts.map { try KeyValueArgument($0, schema: schema) }
    }

    /// Splits an argument into the key's name and the rest, which begins with the sign: at the end
    /// of the longest key of the schema that fits, else at the first sign.
    static func parts(
        of text: String, schema: Schema, signs: String
    ) -> (name: String, rest: [UInt8]) {
        let text = Array(text.utf8)
        let longest = schema.keys.map(\.utf8.count).max() ?? 0
        let ends = text.indices.prefix(longest + 1).filter { signs.utf8.contains(text[$0]) }
        func name(_ end: Int) -> String { String(decoding: text[..<end], as: UTF8.self) }
        let whole = text.endIndex
        let end =
            ([whole] + ends.reversed()).first { schema.rule(named: name($0)) != nil }
            ?? text.firstIndex(where: signs.utf8.contains) ?? whole
        return (name(end), Array(text[end...]))
    }

    /// Returns launch values as an input: `KEY=VALUE`, which is cut at the first `=`, or
    /// `KEY@SOURCE`.
    ///
    /// - Throws: `secret-in-arguments` for a secret key's VALUE, and what reading a source throws.
    static func launch(_ texts: [String], schema: Schema) throws -> ConfigurationInput {
        var plain: [String] = []
        var given: [KeyValueArgument] = []
        for text in texts {
            let name = text.utf8.firstIndex(of: UInt8(ascii: "=")).map { String(text[..<$0]) } ?? ""
            if let rule = schema.rule(named: name) {
                let shown = printable(name)
                try requirePublic(rule, otherwise: "\(shown)@FILE, \(shown)@env:NAME or \(shown)@-")
                plain.append(text)
            } else if let (rule, _, rest) = try? split(text, schema: schema, signs: "@") {
                given.append(KeyValueArgument(rule: rule, source: source(rest)))
            } else {
                plain.append(text)
            }
        }
        let names = given.map(\.name)
        try requireOnce(
            names
                + plain.map { String(decoding: $0.utf8.prefix { $0 != 0x3D }, as: UTF8.self) }
                .filter { name in names.contains { sameBytes($0, name) } })
        try requireOneFromStandardInput(given)
        return .joined([
            .texts(plain), .values(JSONObject(try given.map { ($0.name, try $0.value()) })),
        ])
    }

    /// Checks that no key is given twice.
    static func requireOnce(_ names: [String]) throws(ToolError) {
        for (index, name) in names.enumerated()
        where names[..<index].contains(where: { sameBytes($0, name) }) {
            throw .usage("\(quoted(name)) is given twice")
        }
    }

    /// Checks that at most one value is all of standard input.
    static func requireOneFromStandardInput(_ given: [KeyValueArgument]) throws(ToolError) {
        guard given.count(where: \.readsStandardInput) <= 1 else {
            throw .usage("only one value can come from standard input")
        }
    }

    private init(rule: KeyRule, source: Source) {
        self.rule = rule
        self.source = source
    }

    private static func source(_ text: String) -> Source {
        KeySource(text).filePath == nil ? .source(text) : .file(text)
    }

    /// Checks that a value in the argument list isn't a secret.
    private static func requirePublic(_ rule: KeyRule, otherwise forms: String) throws {
        guard !rule.isPublic else { return }
        throw ToolError(
            .secretInArguments,
            "\(quoted(rule.name)) is secret, and others can read an argument list; give \(forms)")
    }

    /// Reads `KEY=SOURCE`.
    ///
    /// - Throws: `unknown-config-key`.
    init(from text: String, schema: Schema) throws {
        let (rule, _, rest) = try Self.split(text, schema: schema, signs: "=")
        self.rule = rule
        self.source = rest == PassphraseOption.prompt ? .terminal : .source(rest)
    }

    private static func split(
        _ text: String, schema: Schema, signs: String
    ) throws -> (rule: KeyRule, sign: UInt8, rest: String) {
        let (name, rest) = parts(of: text, schema: schema, signs: signs)
        if let rule = schema.rule(named: name), let sign = rest.first {
            return (rule, sign, String(decoding: rest.dropFirst(), as: UTF8.self))
        }
        // Without a sign the whole may be a value that was meant for another place.
        guard !rest.isEmpty, !name.isEmpty else {
            throw ToolError.usage(
                "an argument names no key of the schema; expected KEY followed by one of \(signs)"
                    + NearestName.suggestion(for: name, among: schema.keys))
        }
        let error = KeySelection.unknown(name, among: schema.keys)
        throw VaultError(
            error.code, "\(error.message); --add puts a new key into the schema, secret or --public"
        )
    }

    /// Reads the value and interprets it by the key's type.
    ///
    /// - Throws: `unreadable-file`, `malformed-input`, `wrong-type`, and what `KeySource` throws.
    func value() throws -> JSONValue {
        try rule.value(ofText: try text(), from: "the new value")
    }

    private func text() throws -> String {
        switch source {
        case .argument(let text): return text
        case .file(let path):
            var bytes = try InputFile.read(path, limit: Self.limit)
            defer { wipe(&bytes) }
            if bytes.last == 0x0A { bytes.removeLast() }
            return try Self.text(bytes.span, of: rule.name)
        case .source(let words):
            let secret = try KeySource(words).loadSecret("value", limit: Self.limit)
            return try Self.text(secret.bytes, of: rule.name)
        case .terminal:
            let secret = try SecretPrompt.askTwice("New value of \(printable(rule.name))")
            return try Self.text(secret.bytes, of: rule.name)
        }
    }

    private static let limit = 16 << 20

    private static func text(_ bytes: Span<UInt8>, of name: String) throws -> String {
        let copy = (0..<bytes.count).map { bytes[$0] }
        guard let text = String(validating: copy, as: UTF8.self) else {
            throw VaultError(.malformedInput, "the new value of \(quoted(name)) is not UTF-8")
        }
        return text
    }
}

extension SecretPrompt {
    /// Asks for a secret twice, because the person can't see a typing error.
    static func askTwice(_ subject: String) throws -> SecretBytes {
        let typed = try ask("\(subject): ")
        let again = try ask("\(subject), once more: ")
        guard constantTimeEqual(typed.bytes, again.bytes) else {
            throw ToolError(.inputMismatch, "the two inputs are not the same")
        }
        return SecretBytes(copying: typed.bytes)
    }
}
#endif
