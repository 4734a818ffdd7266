import Foundation
import SignetJSON
import TestSupport
import Testing

/// A folder with a schema, defaults and a vault root `v1`, and `signet vault …` run in it.
struct VaultFixture {
    static let identity = ["--app-id", "com.example.shop", "--app-version", "1.9.0"]
    static let inputs = ["--schema", "schema.json", "--defaults", "defaults.json"]

    let folder: TemporaryDirectory

    init() async throws {
        folder = try TemporaryDirectory()
        try folder.write(VaultToolTests.schema, to: "schema.json", mode: 0o644)
        try folder.write(VaultToolTests.defaults, to: "defaults.json", mode: 0o644)
        try await newKey("v1", in: "keys")
    }

    /// Makes a vault root.
    func newKey(_ id: String, in file: String, append: Bool = false) async throws {
        let made = try await SignetTool.run(
            ["keys", "new", "--type", "vault", "--id", id, "--out", file]
                + (append ? ["--append"] : []), directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
    }

    func vault(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        let output = try await SignetTool.run(
            ["vault"] + arguments, stdin: stdin, environment: environment, directory: folder.url)
        #expect(!output.stderr.contains("ZZZZZZcanary"), "a secret on standard error")
        return output
    }

    /// Seals the inputs into `dump`, or into the options' file.
    func seal(
        _ key: [String] = ["--keys", "keys", "--key-id", "v1"], out: String = "dump",
        _ more: [String] = [], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await vault(
            ["seal"] + Self.inputs + key + Self.identity + ["--out", out] + more,
            environment: environment)
    }

    /// Opens `dump` for the version that it was sealed for, or another.
    func open(
        _ key: [String] = ["--keys", "keys"], version: String = "1.9.0", _ more: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await vault(
            ["open", "dump", "--app-id", "com.example.shop", "--app-version", version] + key + more,
            environment: environment)
    }

    /// The arguments of a rebind from 1.9.0 to 1.10.0.
    static let rebind = [
        "rebind", "dump", "--app-id", "com.example.shop", "--from-app-version", "1.9.0",
        "--to-app-version", "1.10.0",
    ]

    /// Demands that work was done.
    func expectDone(_ output: ProcessOutput, at location: SourceLocation = #_sourceLocation) {
        #expect(output.exit == 0, "\(output.stderr)\(output.text)", sourceLocation: location)
    }

    /// Demands an exit code and, with `--json`, an error of a code and nothing else.
    func expect(
        _ output: ProcessOutput, exit: Int32, code: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(output.exit == exit, "\(output.stderr)\(output.text)", sourceLocation: location)
        let object = try JSONValue(parsing: Array(output.stdout.dropLast()))
        #expect(
            object["error"]?["code"]?.string == code, "\(output.text)", sourceLocation: location)
    }
}
