import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault set --add`, `vault unset`, and keys that were mistyped.
@Suite struct NewKeyToolTests {
    let vault: EditableVault

    init() async throws { vault = try await EditableVault() }

    private func add(
        _ arguments: [String], stdin: String = ""
    ) async throws -> ProcessOutput {
        try await vault.set(["--add"] + arguments, stdin: stdin)
    }

    /// The schema's file.
    private var text: String {
        get throws { String(decoding: try vault.folder.read("schema.json"), as: UTF8.self) }
    }

    private var schema: JSONValue {
        get throws { try JSONValue(parsing: text) }
    }

    // MARK: - New keys

    @Test func putsASecretIntoTheSchemaToo() async throws {
        let before = try text
        let output = try await add(["smtp.password@-"], stdin: "ZZZZZZmail\n")
        #expect(output.text == "added smtp.password\nsealed dump (sequence 2)\n")
        #expect(output.stderr.contains("smtp.password (string, secret)"), "\(output.stderr)")
        #expect(try await vault.inside()["values"]?["smtp.password"] == "ZZZZZZmail")
        #expect(try schema["keys"]?["smtp.password"] == ["type": "string", "visibility": "secret"])
        // The other lines of the schema stay as they were.
        let kept = before.dropLast(2)
        #expect(try text.hasPrefix(kept))
        #expect(try text.hasSuffix("}}"))
    }

    @Test func guessesThePublicTypes() async throws {
        let output = try await add([
            "--public", "a.count=5", "a.wait=5s", "a.url=https://a.example.com", "a.on=true",
            #"a.hosts=["b","c"]"#, #"a.map={"d":1}"#, "a.zip=0123", "a.empty=",
        ])
        #expect(output.exit == 0, "\(output.stderr)")
        let types = ["count", "wait", "url", "on", "hosts", "map", "zip", "empty"].map {
            try? schema["keys"]?["a.\($0)"]?["type"]?.string
        }
        #expect(
            types == [
                "integer", "duration", "url", "boolean", "array", "object", "string", "string",
            ])
        #expect(try schema["keys"]?["a.hosts"]?["items"] == ["type": "string"])
        #expect(try await vault.inside()["values"]?["a.zip"] == "0123")
        let typed = try await add(["--public", "--type", "string", "a.text=5"])
        #expect(typed.exit == 0, "\(typed.stderr)")
        #expect(try await vault.inside()["values"]?["a.text"] == "5")
    }

    @Test func addsToASchemaOnOneLineOrWithoutKeys() async throws {
        let keys = try schema
        try vault.folder.write(keys.text, to: "schema.json", mode: 0o640)
        #expect(try await add(["--public", "new=1"]).exit == 0)
        #expect(try schema["keys"]?.object?.count == 7)
        #expect(try vault.folder.mode("schema.json") == 0o640)
        _ = try await vault.unset(["new", "orders.host", "orders.timeout", "orders.attempts"])
        _ = try await vault.unset(["partner.token"])
        try vault.folder.write(#"{"keys":{}}"#, to: "schema.json")
        let output = try await add(["--public", "only=1"])
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(try schema == ["keys": ["only": ["type": "integer", "visibility": "public"]]])
    }

    /// A crash after the schema was written leaves a key without a value.
    @Test func canBeRunAgainAfterItWasKilled() async throws {
        let sealed = try vault.folder.read("dump")
        _ = try await add(["smtp.password@-"], stdin: "ZZZZZZmail")
        let schema = try vault.folder.read("schema.json")
        try vault.folder.write(sealed, to: "dump")
        let again = try await add(["smtp.password@-"], stdin: "ZZZZZZmail")
        #expect(again.exit == 0, "\(again.stderr)")
        #expect(try vault.folder.read("schema.json") == schema)
        #expect(try await vault.inside()["values"]?["smtp.password"] == "ZZZZZZmail")
        // A dump that has the value already gets its key in the schema.
        try vault.folder.write(EditableVault.schema, to: "schema.json")
        #expect(try await add(["smtp.password@-"], stdin: "ZZZZZZmail").exit == 0)
        #expect(try self.schema["keys"]?["smtp.password"] != nil)
    }

    @Test func severalAtOnceLoseNoKey() async throws {
        let names = (1...6).map { "new.key\($0)" }
        try await withThrowingTaskGroup(of: ProcessOutput.self) { group in
            for name in names { group.addTask { try await add(["--public", "\(name)=1"]) } }
            for try await output in group { #expect(output.exit == 0, "\(output.stderr)") }
        }
        let values = try await vault.inside()["values"]
        for name in names {
            #expect(values?[name] == 1)
            #expect(try schema["keys"]?[name] != nil)
        }
    }

    @Test(
        arguments: [
            (["a.token=ZZZZZZnew"], 2, "secret-in-arguments"),
            (["--secret", "a.count=5"], 2, "secret-in-arguments"),
            (["--public", "a.token=ZZZZZZhunter2hunter2"], 2, "public-value-looks-secret"),
            (["--public", "a.b=AKIAABCDEFGHIJKLMNOP"], 2, "public-value-looks-secret"),
            (
                ["--public", "a.url=https://u:ZZZZZZp@a.example.com"], 2,
                "public-value-looks-secret"
            ),
            (["--public", "--type", "integer", "a.b=x"], 2, "wrong-type"),
            (["--public", "--secret", "a.b=1"], 2, "usage"),
            (["--type", "text", "a.b=1"], 2, "usage"),
            (["--public", "partner.token=-"], 2, "usage"),
            (["--type", "integer", "orders.note=1"], 2, "usage"),
            (["--public", "=1"], 2, "usage"), (["--public", "a.b=1", "a.b=2"], 2, "usage"),
            (["a.b"], 2, "no-terminal"), (["a.b@none"], 2, "unreadable-file"),
            (["--public", "a\u{200b}b=1"], 2, "malformed-schema"),
            (["--public", "a.b=1", "orders.attempts=9"], 2, "out-of-range"),
        ] as [([String], Int32, String)])
    func refusesAndWritesNothing(
        _ arguments: [String], _ exit: Int32, _ code: String
    ) async throws {
        let before = try (vault.folder.read("dump"), vault.folder.read("schema.json"))
        try expect(try await add(arguments + ["--json"]), exit: exit, code: code)
        #expect(try vault.folder.read("dump") == before.0)
        #expect(try vault.folder.read("schema.json") == before.1)
    }

    @Test func aDumpThatDoesNotOpenLeavesTheSchema() async throws {
        let output = try await vault.vault([
            "set", "dump", "--add", "--public", "a.b=1", "--schema", "schema.json", "--keys",
            "keys",
            "--app-id", "com.example.shop", "--app-version", "1.8.0", "--json",
        ])
        try expect(output, exit: 1, code: "newer-version")
        #expect(try text == EditableVault.schema)
    }

    @Test func theFormOfAKeyNeedsAdd() async throws {
        for option in [["--public"], ["--secret"], ["--type", "integer"]] {
            try expect(
                try await vault.set(option + ["orders.attempts=4", "--json"]), exit: 2,
                code: "usage")
        }
        let unknown = try await vault.set(["a.b=1"])
        #expect(unknown.exit == 2 && unknown.stderr.contains("--add puts a new key"))
    }

    // MARK: - unset

    @Test func removesValuesAndKeepsTheKeys() async throws {
        let output = try await vault.unset(["orders.timeout", "partner.token"])
        #expect(
            output.text
                == "removed orders.timeout\nremoved partner.token\nsealed dump (sequence 2)\n")
        #expect(try await vault.inside()["values"]?.object?.count == 2)
        #expect(try text == EditableVault.schema)
        // A value whose key was taken out of the schema can be removed.
        var keys = try #require(try schema["keys"]?.object)
        keys["orders.attempts"] = nil
        try vault.folder.write(
            JSONValue.object(["keys": .object(keys)]).serialized(), to: "schema.json")
        #expect(try await vault.unset(["orders.attempts"]).exit == 0)
    }

    @Test(
        arguments: [
            ([], "usage"), (["orders.host", "orders.hots"], "unknown-config-key"),
            (["orders."], "unknown-config-key"), (["orders.host", "orders.host"], "usage"),
        ] as [([String], String)])
    func refusesToRemove(_ names: [String], _ code: String) async throws {
        let before = try vault.folder.read("dump")
        try expect(try await vault.unset(names + ["--json"]), exit: 2, code: code)
        #expect(try vault.folder.read("dump") == before)
    }

    // MARK: - Mistyped keys

    @Test func writesTheArgumentThatWasMeant() async throws {
        let words = try await vault.set(["orders.attempts", "5"])
        #expect(words.exit == 2 && words.stderr.contains("write orders.attempts=5"))
        let secret = try await vault.set(["partner.token", "ZZZZZZnew"])
        #expect(secret.exit == 2 && secret.stderr.contains("write partner.token@SOURCE"))
    }

    @Test(arguments: [
        ["set", "dump", "orders.atempts=5"], ["set", "dump", "orders.atempts"],
        ["set", "dump", "--from", "orders.atempts=env:HOME"],
        ["unset", "dump", "orders.atempts"], ["get", "dump", "orders.atempts"],
    ])
    func namesTheNearestKey(_ arguments: [String]) async throws {
        let output = try await vault.vault(arguments + EditableVault.schemaAndKeys)
        #expect(
            output.exit == 2 && output.stderr.contains(#"did you mean "orders.attempts"?"#),
            "\(output.stderr)")
    }

    @Test func saysWhatIsWrongWithADump() async throws {
        let sealed = try vault.folder.read("dump")
        try vault.folder.write(Array("<<<<<<< HEAD\n".utf8) + sealed, to: "dump")
        let conflict = try await vault.vault(["list", "dump"] + EditableVault.schemaAndKeys)
        #expect(conflict.exit == 2 && conflict.stderr.contains("signet vault merge"))
        var changed = sealed
        changed[sealed.count / 2] = changed[sealed.count / 2] == 0x41 ? 0x42 : 0x41
        try vault.folder.write(changed, to: "dump")
        let output = try await vault.vault(["list", "dump"] + EditableVault.schemaAndKeys)
        #expect(output.exit == 1 && output.stderr.hasPrefix("signet: dump: the dump was changed"))
        #expect(output.stderr.contains("version control"))
    }

    @Test func saysThatAFileIsNoMessage() async throws {
        try vault.folder.write("{\"a\":1}\n", to: "message")
        _ = try await vault.run([
            "keys", "new", "--type", "hmac", "--id", "k", "--out", "hmac",
        ])
        let output = try await vault.run([
            "sign", "--scheme", "github", "--keys", "hmac", "message",
        ])
        #expect(output.exit == 2 && output.stderr.contains("expected METHOD TARGET HTTP/1.1"))
    }

    @Test func namesTheNearestKeyOfADump() async throws {
        let only = ["exec", "--dump", "dump"] + EditableVault.keys
        for word in ["orders.hots", "order."] {
            let output = try await vault.run(only + ["--only", word, "--", "env"])
            #expect(output.exit == 1 && output.stderr.contains("did you mean \"orders."))
        }
        try vault.folder.write(
            #"{"schema":"schema.json","keys":"keys","dump":"dump"}"#, to: "project.json")
        let listed = try await vault.vault(
            ["list", "orders.hots", "--project", "project.json"]
                + EditableVault.identity)
        #expect(listed.exit == 2 && listed.stderr.contains("signet vault get orders.host"))
    }
}
