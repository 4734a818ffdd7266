import Foundation
import SignetJSON
import TestSupport
import Testing

/// `vault diff` of two environments, each with its own `signet.json`.
@Suite struct EnvironmentDiffToolTests {
    private let folder: TemporaryDirectory

    init() async throws {
        folder = try TemporaryDirectory()
        for (name, replicas, version) in [("staging", 3, "1.0.0"), ("production", 9, "2.0.0")] {
            try folder.write(
                #"{"app":{"replicas":\#(replicas)},"smtp":{"password":"ZZZZZZ\#(name)"}}"#,
                to: "\(name).json")
            let made = try await run([
                "init", "\(name).json", "--out", name, "--app-id", "shop-\(name)",
                "--app-version", version, "--keys", "\(name).keys",
            ])
            #expect(made.exit == 0, "\(made.stderr)")
        }
    }

    private func run(_ arguments: [String], in name: String = ".") async throws -> ProcessOutput {
        try await SignetTool.run(
            ["vault"] + arguments, directory: folder.url.appending(path: name))
    }

    private static let dumps = ["staging/signet.dump", "production/signet.dump"]

    @Test func usesTheProjectOfEachSide() async throws {
        let words = """
            changed  app.replicas   defaults  3 -> 9
            changed  smtp.password  launch    secret

            """
        let output = try await run(["diff"] + Self.dumps)
        #expect(output.exit == 1 && output.text == words, "\(output.text)\(output.stderr)")
        let inside = try await run(["diff", "signet.dump", "../" + Self.dumps[1]], in: "staging")
        #expect(inside.exit == 1 && inside.text == words, "\(inside.stderr)")
        let same = try await run(["diff", "../" + Self.dumps[0], "signet.dump"], in: "staging")
        #expect(same.exit == 0 && same.text.isEmpty, "\(same.stderr)")
    }

    /// A key that one side's schema makes secret is hidden on that side.
    @Test func hidesWhatOneSideCallsSecret() async throws {
        let schema = String(
            decoding: try folder.read("production/schema.json"), as: UTF8.self
        ).replacing("\"public\"", with: "\"secret\"")
        try folder.write(schema, to: "production/schema.json")
        let output = try await run(["diff"] + Self.dumps)
        #expect(output.text.contains("app.replicas   defaults  3 -> secret"), "\(output.text)")
        let json = try await run(["diff", "--json"] + Self.dumps)
        let change = try JSONValue(parsing: json.stdout)["changes"]?.array?.first
        #expect(change?["before"]?["value"] == 3 && change?["after"]?["value"] == nil)
    }

    @Test func refusesWhatIsNotOfItsFolder() async throws {
        // A dump of the other environment in the folder.
        try folder.write(folder.read("production/signet.dump"), to: "staging/other.dump")
        let wrong = try await run(["diff", "staging/other.dump", Self.dumps[1], "--json"])
        try expect(wrong, exit: 1, code: "wrong-app")
        // Named projects and options count for both sides.
        let none = try await run(["diff"] + Self.dumps + ["--project", "none", "--json"])
        try expect(none, exit: 2, code: "usage")
        let keys = try await run(["diff"] + Self.dumps + ["--keys", "staging.keys", "--json"])
        #expect(keys.exit == 1 && keys.text.contains("\"error\""))
        // A file that was found may not run a command.
        var project = try #require(
            JSONValue(parsing: try folder.read("production/signet.json")).object)
        project["keys"] = "command:cat ../production.keys"
        try folder.write(
            JSONValue.object(project).serialized(), to: "production/signet.json", mode: 0o644)
        let command = try await run(["diff"] + Self.dumps + ["--json"])
        try expect(command, exit: 2, code: "malformed-input")
    }
}
