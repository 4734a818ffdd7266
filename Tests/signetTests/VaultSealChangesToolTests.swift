import SignetJSON
import TestSupport
import Testing

/// `signet vault seal` over a dump that was changed by hand, and errors that name every problem.
@Suite struct VaultSealChangesToolTests {
    private let vault: EditableVault

    init() async throws { vault = try await EditableVault() }

    private func seal(_ more: [String] = []) async throws -> ProcessOutput {
        try await vault.vault(
            ["seal", "--defaults", "defaults.json", "--key-id", "v1", "--out", "dump"]
                + EditableVault.schemaAndKeys + more)
    }

    @Test func keepsAndNamesTheChangesOfSet() async throws {
        _ = try await vault.set(["orders.attempts=5", "--unset", "orders.timeout"])
        let sealed = try await seal()
        #expect(sealed.exit == 0, "\(sealed.stderr)")
        #expect(sealed.text.contains("orders.timeout, orders.attempts"))
        let inside = try await vault.inside()
        #expect(inside["values"]?["orders.attempts"] == 5)
        #expect(inside["values"]?["orders.timeout"] == nil)
        #expect(inside["changed"] == ["orders.timeout", "orders.attempts"])
        let told = try JSONValue(parsing: try await seal(["--json"]).stdout)
        #expect(told["kept"] == ["orders.timeout", "orders.attempts"])
    }

    @Test func replaceDropsIt() async throws {
        _ = try await vault.set(["orders.attempts=5"])
        let sealed = try await seal(["--replace", "--json"])
        #expect(try JSONValue(parsing: sealed.stdout)["kept"] == [])
        let inside = try await vault.inside()
        #expect(inside["values"]?["orders.attempts"] == 3 && inside["changed"] == nil)
    }

    @Test func aKeptValueThatTheSchemaRefusesIsNamed() async throws {
        _ = try await vault.set(["orders.attempts=5"])
        let before = try vault.folder.read("dump")
        try vault.folder.write(
            EditableVault.schema.replacing(#""maximum":5"#, with: #""maximum":4"#),
            to: "schema.json")
        let refused = try await seal(["--json"])
        try expect(refused, exit: 1, code: "would-lose-changes")
        let error = try JSONValue(parsing: refused.stdout)["error"]
        #expect(error?["errors"]?.array?.first?["key"] == "orders.attempts")
        let words = try await seal()
        #expect(words.exit == 1 && words.stderr.contains("--replace"))
        #expect(try vault.folder.read("dump") == before)
        #expect(try await seal(["--replace"]).exit == 0)
    }

    @Test func unreadableValuesReplaceNothing() async throws {
        let before = try vault.folder.read("dump")
        try vault.folder.write(
            EditableVault.schema.replacing(
                #""keys":{"#, with: #""keys":{"deep":{"type":"array","setBy":["launch"]},"#),
            to: "schema.json")
        func nested(_ depth: Int) -> [String] {
            let brackets = [String](repeating: "[", count: depth).joined()
            return ["--launch", "deep=" + brackets + brackets.replacing("[", with: "]"), "--json"]
        }
        try expect(try await seal(nested(511)), exit: 2, code: "malformed-input")
        #expect(try vault.folder.read("dump") == before)
        #expect(try await seal(nested(510)).exit == 0)
        #expect(try await vault.inside()["values"]?["deep"] != nil)
    }

    @Test func aDumpThatDoesNotOpenIsRefusedWithItsOwnCode() async throws {
        let before = try vault.folder.read("dump")
        _ = try await vault.run(["keys", "new", "--type", "vault", "--id", "v1", "--out", "k2"])
        let arguments = [
            "seal", "--defaults", "defaults.json", "--out", "dump", "--schema", "schema.json",
            "--keys", "k2", "--json",
        ]
        try expect(
            try await vault.vault(arguments + EditableVault.identity), exit: 1, code: "wrong-key")
        try expect(
            try await vault.vault(
                arguments + ["--app-id", "com.example.other", "--app-version", "1"]), exit: 1,
            code: "wrong-app")
        try vault.folder.write(before.dropLast(5), to: "dump")
        try expect(
            try await vault.vault(arguments + EditableVault.identity), exit: 2,
            code: "malformed-dump")
        #expect(
            try await vault.vault(arguments + EditableVault.identity + ["--replace"]).exit == 0)
    }

    @Test func allErrorsAreReportedInOneRun() async throws {
        try vault.folder.write(
            #"{"orders":{"host":"NO","attempts":9},"partner.token":1,"nothing":1}"#,
            to: "defaults.json")
        let arguments = ["public", "--schema", "schema.json", "--defaults", "defaults.json"]
        let output = try await vault.vault(arguments + ["--json"])
        try expect(output, exit: 2, code: "pattern-mismatch")
        let errors = try JSONValue(parsing: output.stdout)["error"]?["errors"]?.array ?? []
        #expect(
            errors.map { $0["code"]?.string } == [
                "pattern-mismatch", "out-of-range", "wrong-type", "unknown-config-key",
            ])
        #expect(
            errors.map { $0["key"]?.string } == [
                "orders.host", "orders.attempts", "partner.token", "nothing",
            ])
        let words = try await vault.vault(arguments)
        let lines = words.stderr.split(separator: "\n")
        #expect(words.exit == 2 && lines.count == 5 && lines.last?.contains("4 errors") == true)
    }

    @Test func aContentKeyOpensItsDump() async throws {
        let key = try await vault.vault(["export-key", "dump"] + EditableVault.keys)
        try vault.folder.write(key.stdout, to: "content-key")
        let opened = try await vault.vault(
            ["open", "dump", "--content-key", "content-key", "--json"])
        #expect(opened.exit == 0, "\(opened.stderr)")
        #expect(try JSONValue(parsing: opened.stdout) == (try await vault.inside()))
        try vault.folder.write(key.stdout, to: "content-key", mode: 0o644)
        try expect(
            try await vault.vault(["open", "dump", "--content-key", "content-key", "--json"]),
            exit: 2, code: "key-file-permissions")
        try vault.folder.write(key.stdout, to: "content-key")
        try await vault.seal("other")
        try expect(
            try await vault.vault(["open", "other", "--content-key", "content-key", "--json"]),
            exit: 1, code: "wrong-key")
        try vault.folder.write("{}", to: "content-key")
        try expect(
            try await vault.vault(["open", "dump", "--content-key", "content-key", "--json"]),
            exit: 2, code: "malformed-keys")
    }
}
