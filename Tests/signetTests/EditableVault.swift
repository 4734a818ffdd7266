import Foundation
import SignetJSON
import TestSupport
import Testing

/// A folder with keys, a schema and a sealed dump, for the commands that change a dump by hand.
final class EditableVault: Sendable {
    static let schema = """
        {"keys":{
          "orders.host":{"type":"string","visibility":"public","setBy":["defaults","fetched"],
                         "pattern":"^[a-z.]+$"},
          "orders.timeout":{"type":"duration","visibility":"public"},
          "orders.attempts":{"type":"integer","visibility":"public","minimum":1,"maximum":5},
          "orders.note":{"type":"string","visibility":"public"},
          "partner.token":{"type":"string"},
          "partner.limits":{"type":"object"}}}
        """
    static let defaults = """
        {"orders.host":"orders.example.com","orders.timeout":"5s","orders.attempts":3,
         "partner.token":"ZZZZZZcanaryZZZZZZ"}
        """
    static let identity = ["--app-id", "com.example.shop", "--app-version", "1.9.0"]
    static let keys = ["--keys", "keys"] + identity
    static let schemaAndKeys = ["--schema", "schema.json"] + keys

    let folder: TemporaryDirectory

    init() async throws {
        folder = try TemporaryDirectory()
        try folder.write(Self.schema, to: "schema.json")
        try folder.write(Self.defaults, to: "defaults.json")
        let made = try await run(["keys", "new", "--type", "vault", "--id", "v1", "--out", "keys"])
        #expect(made.exit == 0, "\(made.stderr)")
        try await seal()
    }

    func run(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            arguments, stdin: stdin, environment: environment, directory: folder.url)
    }

    /// Runs a `vault` command, whose standard error must contain no value.
    func vault(
        _ arguments: [String], stdin: String = "", environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        let output = try await run(
            ["vault"] + arguments, stdin: Array(stdin.utf8), environment: environment)
        #expect(!output.stderr.contains("ZZZZZZ"), "a secret on standard error: \(output.stderr)")
        return output
    }

    func set(
        _ arguments: [String], on file: String = "dump", stdin: String = "",
        environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await vault(
            ["set", file] + arguments + Self.schemaAndKeys, stdin: stdin, environment: environment)
    }

    func unset(_ names: [String], on file: String = "dump") async throws -> ProcessOutput {
        try await vault(["unset", file] + names + Self.schemaAndKeys)
    }

    func seal(
        _ file: String = "dump", _ more: [String] = [], keys: [String] = keys
    ) async throws {
        let sealed = try await vault(
            ["seal", "--schema", "schema.json", "--defaults", "defaults.json", "--key-id", "v1"]
                + keys + ["--out", file] + more)
        #expect(sealed.exit == 0, "\(sealed.stderr)")
    }

    /// The whole inside of a dump.
    func inside(_ file: String = "dump", _ keys: [String] = keys) async throws -> JSONValue {
        try JSONValue(parsing: try await vault(["open", file, "--json"] + keys).stdout)
    }

    func copy(_ file: String = "dump", to name: String) throws {
        try folder.write(folder.read(file), to: name)
    }

    /// Writes a program of `sh` that edits `$1`; gives the words of `EDITOR`.
    func editor(_ script: String, name: String = "editor") throws -> String {
        "sh '\(try folder.write(script, to: name))'"
    }
}

/// Demands an exit code and, with `--json`, an error of a code and nothing else.
func expect(
    _ output: ProcessOutput, exit: Int32, code: String,
    at location: SourceLocation = #_sourceLocation
) throws {
    #expect(output.exit == exit, "\(output.stderr)\(output.text)", sourceLocation: location)
    let object = try? JSONValue(parsing: Array(output.stdout.dropLast()))
    #expect(
        object?["error"]?["code"]?.string == code, "\(output.text)\(output.stderr)",
        sourceLocation: location)
    #expect(!output.text.contains("ZZZZZZ"), sourceLocation: location)
}
