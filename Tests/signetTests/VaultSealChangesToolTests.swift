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
        _ = try await vault.unset(["orders.timeout"])
        _ = try await vault.set(["orders.attempts=5"])
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

    @Test func refusesToLoseAValueOfTheDump() async throws {
        try vault.folder.write("ZZZZZZlaunched", to: "token")
        try vault.folder.write(
            #"{"orders.host":"orders.example.com","orders.timeout":"5s"}"#, to: "defaults.json")
        // The dump has orders.attempts and partner.token.
        let before = try vault.folder.read("dump")
        let refused = try await seal(["--json"])
        try expect(refused, exit: 1, code: "would-lose-values")
        let errors = try JSONValue(parsing: refused.stdout)["error"]?["errors"]?.array ?? []
        #expect(errors.compactMap { $0["key"]?.string } == ["orders.attempts", "partner.token"])
        #expect(try vault.folder.read("dump") == before)
        let given = ["--launch", "partner.token@token", "--launch", "orders.attempts=2"]
        let sealed = try await seal(given)
        #expect(sealed.exit == 0, "\(sealed.stderr)")
        try expect(try await seal(["--json"]), exit: 1, code: "would-lose-values")
        let replaced = try await seal(["--replace", "--json"])
        let told = try JSONValue(parsing: replaced.stdout)
        #expect(told["dropped"] == ["orders.attempts", "partner.token"])
        #expect(
            told["withoutValue"]
                == ["orders.attempts", "orders.note", "partner.token", "partner.limits"])
        #expect(try await vault.inside()["values"]?["partner.token"] == nil)
        let words = try await seal(given)
        #expect(words.text.contains("no value: orders.note, partner.limits"))
        let dropped = try await seal(["--replace"])
        #expect(dropped.text.contains("dropped: orders.attempts, partner.token"))
    }

    @Test func refusesToLoseAKeyThatLeftTheSchema() async throws {
        try vault.folder.write(#"{"keys":{"a":{"type":"string"}}}"#, to: "schema.json")
        try vault.folder.write(#"{"a":"x"}"#, to: "defaults.json")
        try expect(try await seal(["--json"]), exit: 1, code: "would-lose-values")
        #expect(try await seal(["--replace"]).exit == 0)
    }

    @Test func replaceSaysIfTheOldDumpDoesNotOpen() async throws {
        _ = try await vault.run(["keys", "new", "--type", "vault", "--id", "v1", "--out", "k2"])
        let arguments =
            ["seal", "--schema", "schema.json", "--defaults", "defaults.json", "--keys", "k2"]
            + ["--out", "dump", "--replace"] + EditableVault.identity
        let words = try await vault.vault(arguments)
        #expect(words.exit == 0 && words.text.contains("did not open"), "\(words.stderr)")
    }

    @Test func namesAGivenValueThatAChangeHides() async throws {
        _ = try await vault.set(["orders.attempts=5"])
        let sealed = try await seal(["--launch", "orders.attempts=4", "--json"])
        #expect(try JSONValue(parsing: sealed.stdout)["ignored"] == ["orders.attempts"])
        let words = try await seal(["--launch", "orders.attempts=4"])
        #expect(words.text.contains("ignored the given values"))
        #expect(try await vault.inside()["values"]?["orders.attempts"] == 5)
        let same = try await seal(["--launch", "orders.attempts=5", "--json"])
        #expect(try JSONValue(parsing: same.stdout)["ignored"] == [])
    }

    @Test(arguments: ["seal", "public", "diff"])
    func refusesASecretInTheArguments(_ command: String) async throws {
        let before = try vault.folder.read("dump")
        let inputs = ["--schema", "schema.json", "--defaults", "defaults.json", "--json"]
        let launch = ["--launch", "partner.token=ZZZZZZ"]
        let more: [String] =
            switch command {
            case "seal": ["--out", "dump"] + EditableVault.keys
            case "diff": ["dump"] + Array(EditableVault.keys.prefix(2))
            default: []
            }
        let output = try await vault.vault([command] + inputs + launch + more)
        try expect(output, exit: 2, code: "secret-in-arguments")
        #expect(output.text.contains("partner.token@FILE"))
        #expect(try vault.folder.read("dump") == before)
    }

    @Test func readsLaunchValuesFromSources() async throws {
        func sealed(
            _ launch: [String], stdin: String = "", environment: [String: String] = [:]
        ) async throws -> ProcessOutput {
            try await vault.vault(
                ["seal", "--defaults", "defaults.json", "--out", "dump", "--json"]
                    + EditableVault.schemaAndKeys + launch.flatMap { ["--launch", $0] },
                stdin: stdin, environment: environment)
        }
        #expect(try await sealed(["partner.token@env:T"], environment: ["T": "ZZZZZZ1"]).exit == 0)
        #expect(try await vault.inside()["values"]?["partner.token"] == "ZZZZZZ1")
        let both = try await sealed(
            ["partner.token@-", "orders.note=a=b@c"], stdin: "ZZZZZZ2\n")
        #expect(both.exit == 0, "\(both.stderr)")
        #expect(try await vault.inside()["values"]?["partner.token"] == "ZZZZZZ2")
        #expect(try await vault.inside()["values"]?["orders.note"] == "a=b@c")
        for (launch, code) in [
            (["partner.token@none"], "unreadable-file"), (["partner.token@env:NONE"], ""),
            (["partner.token@-", "orders.note@-"], "usage"), (["nothing@x"], "malformed-input"),
            (["partner.token@-", "partner.token@-"], "usage"),
            (["orders.note@-", "orders.note=1"], "usage"),
        ] {
            let output = try await sealed(launch)
            #expect(output.exit == 2, "\(launch)")
            if !code.isEmpty { try expect(output, exit: 2, code: code) }
        }
    }

    @Test func aRequiredKeyMustHaveAValue() async throws {
        try vault.folder.write(
            EditableVault.schema.replacing(
                #""orders.note":{"#, with: #""orders.note":{"required":true,"#), to: "schema.json")
        let before = try vault.folder.read("dump")
        let refused = try await seal(["--json"])
        try expect(refused, exit: 2, code: "missing-value")
        #expect(refused.text.contains("orders.note"))
        try expect(try await seal(["--replace", "--json"]), exit: 2, code: "missing-value")
        let inputs = ["--schema", "schema.json", "--defaults", "defaults.json", "--json"]
        try expect(try await vault.vault(["public"] + inputs), exit: 2, code: "missing-value")
        #expect(try vault.folder.read("dump") == before)
        #expect(try await vault.set(["orders.note=a"]).exit == 0)
        // The value that was set is kept, and can't be removed.
        #expect(try await seal().exit == 0)
        try expect(
            try await vault.unset(["orders.note", "--json"]), exit: 2, code: "missing-value")
    }

    @Test func theListAndTheCheckNameKeysWithoutValue() async throws {
        let listed = try await vault.vault(["list", "dump"] + EditableVault.schemaAndKeys)
        #expect(listed.stderr.contains("no value: orders.note, partner.limits"))
        let json = try await vault.vault(["list", "dump", "--json"] + EditableVault.schemaAndKeys)
        #expect(
            try JSONValue(parsing: json.stdout)["withoutValue"]
                == ["orders.note", "partner.limits"])
        try vault.folder.write(
            #"""
            {"app":{"id":"com.example.shop","version":"1.9.0"},"keys":"keys",
             "schema":"schema.json","dump":"dump"}
            """#, to: "signet.json")
        let checked = try await vault.run(["self-check", "--offline"])
        #expect(checked.exit == 0, "\(checked.text)")
        #expect(checked.text.contains("no value: orders.note, partner.limits"))
    }

    @Test(arguments: [
        ["keys", "new", "--type", "vault", "--id", "a", "--out", "-"],
        ["keys", "import", "keys", "--id", "a", "--out", "-"],
        ["vault", "init", "defaults.json", "--out", "-"],
        ["vault", "seal", "--schema", "schema.json", "--defaults", "defaults.json", "--out", "-"]
            + EditableVault.keys,
        ["vault", "set", "-", "orders.note=a"] + EditableVault.schemaAndKeys,
        ["vault", "set", "dump", "orders.note=a", "--state", "-"] + EditableVault.schemaAndKeys,
        ["vault", "rekey", "-", "--to-keys", "keys"] + EditableVault.keys,
        ["vault", "rebind", "-", "--from-app-version", "1", "--to-app-version", "2"]
            + EditableVault.keys.prefix(4),
        ["vault", "merge", "dump", "-", "dump", "--keys", "keys"],
        ["verify", "--scheme", "github", "--keys", "keys", "--nonces", "-"],
        ["pins", "verify", "--keys", "keys", "--state", "-"],
    ])
    func refusesToWriteToStandardOutput(_ arguments: [String]) async throws {
        let before = try vault.folder.contents()
        let output = try await vault.run(arguments + ["--json"])
        try expect(output, exit: 2, code: "usage")
        #expect(output.text.contains("found -"), "\(output.text)")
        #expect(try vault.folder.contents() == before)
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
                #""keys":{"#,
                with: #""keys":{"deep":{"type":"array","visibility":"public","setBy":["launch"]},"#),
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
