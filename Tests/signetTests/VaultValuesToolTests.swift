import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault get`, `set` and `diff`.
@Suite struct VaultValuesToolTests {
    let vault: EditableVault

    init() async throws { vault = try await EditableVault() }

    private func get(_ arguments: [String]) async throws -> ProcessOutput {
        try await vault.vault(["get", "dump"] + arguments + EditableVault.keys)
    }

    private func diff(_ arguments: [String]) async throws -> ProcessOutput {
        try await vault.vault(["diff"] + arguments + ["--keys", "keys"])
    }

    // MARK: - get

    @Test func printsValuesForScripts() async throws {
        let schema = ["--schema", "schema.json"]
        #expect(try await get(["orders.host"] + schema).text == "orders.example.com\n")
        #expect(
            try await get(["orders.attempts", "orders.host"] + schema).text
                == "3\norders.example.com\n")
        #expect(
            try await get(["orders.host", "--json"] + schema).text
                == #"{"values":{"orders.host":"orders.example.com"},"origins":{"orders.host":"defaults"}}"#
                + "\n")
        #expect(try await get(["partner.token", "--show-secrets"]).text == "ZZZZZZcanaryZZZZZZ\n")
        let piped = try await vault.run(
            ["vault", "get", "-", "orders.host", "--show-secrets"] + EditableVault.keys,
            stdin: try vault.folder.read("dump"))
        #expect(piped.text == "orders.example.com\n")
    }

    @Test func printsTheValuesOfAGroup() async throws {
        let schema = ["--schema", "schema.json"]
        let lines = "orders.host=orders.example.com\norders.timeout=5s\norders.attempts=3\n"
        #expect(try await get(["orders."] + schema).text == lines)
        let json = try await get(["orders.", "--json"] + schema)
        #expect(try JSONValue(parsing: json.stdout)["values"]?.object?.count == 3)
        try expect(
            try await get(["partner.", "--json"] + schema), exit: 2, code: "secret-value")
        try expect(try await get(["order.", "--json"] + schema), exit: 1, code: "no-value")
        let near = try await get(["orders.hots"] + schema)
        #expect(near.stderr.contains(#"did you mean "orders.host"?"#), "\(near.stderr)")
        let dump = try await vault.vault(["get", "orders.host"] + schema + EditableVault.keys)
        #expect(dump.exit == 2 && dump.stderr.contains(#""orders.host" is the dump"#))
    }

    @Test func secretsArePrintedOnlyOnRequest() async throws {
        for arguments in [
            ["partner.token"], ["partner.token", "--schema", "schema.json"], ["orders.host"],
            ["orders.host", "partner.token", "--schema", "schema.json"],
        ] {
            try expect(try await get(arguments + ["--json"]), exit: 2, code: "secret-value")
            let words = try await get(arguments)
            #expect(words.exit == 2 && words.stdout.isEmpty)
            #expect(words.stderr.contains("--show-secrets"))
        }
        // A value that looks like a secret isn't shown, even if the schema makes it public.
        _ = try await vault.set(
            ["partner.token=-"], stdin: "3q2+7wABAgMEBQYHCAkKCwwNDg8Q/v3t7s7Zr4q1Xpc=")
        try vault.folder.write(
            #"{"keys":{"partner.token":{"type":"string","visibility":"public"}}}"#,
            to: "schema.json")
        try expect(
            try await get(["partner.token", "--schema", "schema.json", "--json"]), exit: 2,
            code: "secret-value")
    }

    @Test func aKeyWithoutAValueIsExit1() async throws {
        try expect(try await get(["nothing", "--json"]), exit: 1, code: "no-value")
        try expect(
            try await get(["orders.note", "--schema", "schema.json", "--json"]), exit: 1,
            code: "no-value")
        try expect(
            try await get(["nothing", "--schema", "schema.json", "--json"]), exit: 2,
            code: "unknown-config-key")
        let none = try await get(["orders.host", "nothing", "--show-secrets"])
        #expect(none.exit == 1 && none.stdout.isEmpty)
    }

    @Test func linesOfTwoValuesCannotBeConfused() async throws {
        _ = try await vault.set(["partner.token=-"], stdin: "one\ntwo\n")
        #expect(try await get(["partner.token", "--show-secrets"]).text == "one\ntwo\n")
        try expect(
            try await get(["partner.token", "orders.host", "--show-secrets"] + ["x", "--json"]),
            exit: 1, code: "no-value")
        let two = try await get(["partner.token", "orders.host", "--show-secrets"])
        #expect(two.exit == 2 && two.stdout.isEmpty)
        let json = try await get(["partner.token", "orders.host", "--show-secrets", "--json"])
        #expect(try JSONValue(parsing: json.stdout)["values"]?["partner.token"] == "one\ntwo")
    }

    // MARK: - set

    @Test func setsFromEverySource() async throws {
        try vault.folder.write("ZZZZZZfileZZZZZZ\n", to: "token")
        try vault.folder.write(#"{"a":1}"#, to: "limits.json")
        let output = try await vault.set(
            [
                "orders.attempts=4", "orders.note==a@b", "partner.limits@limits.json",
                "partner.token@token", "--json",
            ])
        #expect(
            output.text
                == #"{"out":"dump","sequence":2,"changes":[{"key":"orders.attempts","change":"changed"},{"key":"partner.token","change":"changed"},{"key":"orders.note","change":"added"},{"key":"partner.limits","change":"added"}]}"#
                + "\n")
        var inside = try await vault.inside()
        #expect(inside["values"]?["partner.token"] == "ZZZZZZfileZZZZZZ")
        #expect(inside["values"]?["orders.note"] == "=a@b")
        #expect(inside["values"]?["partner.limits"] == ["a": 1])
        #expect(inside["origins"]?["partner.token"] == "defaults")
        #expect(inside["origins"]?["partner.limits"] == "launch")
        #expect(inside["values"]?.object?.memberNames.first == "orders.host")

        for (arguments, stdin, environment, wanted) in [
            (["partner.token=-"], "ZZZZZZstdinZZZZZZ\n", [:], "ZZZZZZstdinZZZZZZ"),
            (["partner.token@-"], "ZZZZZZstdin2ZZZZZZ", [:], "ZZZZZZstdin2ZZZZZZ"),
            (
                ["--from", "partner.token=env:TOKEN"], "", ["TOKEN": "ZZZZZZenvZZZZZZ\n"],
                "ZZZZZZenvZZZZZZ\n"
            ),
            (
                ["--from", "partner.token=command:echo ZZZZZZcommandZZZZZZ"], "", [:],
                "ZZZZZZcommandZZZZZZ"
            ),
            (["--from", "partner.token=fd:0"], "ZZZZZZfdZZZZZZ\n", [:], "ZZZZZZfdZZZZZZ"),
            (["--from", "partner.token=token"], "", [:], "ZZZZZZfileZZZZZZ"),
        ] as [([String], String, [String: String], String)] {
            let output = try await vault.set(arguments, stdin: stdin, environment: environment)
            #expect(output.exit == 0, "\(output.stderr)")
            #expect(!output.text.contains("ZZZZZZ"))
            inside = try await vault.inside()
            #expect(inside["values"]?["partner.token"]?.string == wanted)
        }
        #expect(inside["sequence"] == 8)
    }

    @Test func setsOrigins() async throws {
        let output = try await vault.set(["orders.host=a.b", "--origin", "fetched"])
        #expect(output.text == "changed orders.host\nsealed dump (sequence 2)\n")
        #expect(try await vault.inside()["origins"]?["orders.host"] == "fetched")
        let same = try await vault.set(["orders.host=a.b", "--origin", "defaults"])
        #expect(same.text.hasPrefix("origin orders.host\n"))
    }

    @Test func anUnchangedValueLeavesTheFile() async throws {
        let before = try vault.folder.read("dump")
        for output in [
            try await vault.set(["orders.attempts=3"]), try await vault.unset(["orders.note"]),
        ] {
            #expect(output.exit == 0 && output.text.hasPrefix("nothing to change"))
        }
        #expect(try vault.folder.read("dump") == before)
    }

    @Test func aSecretInTheArgumentsIsRefused() async throws {
        let before = try vault.folder.read("dump")
        try expect(
            try await vault.set(["partner.token=ZZZZZZnewZZZZZZ", "--json"]), exit: 2,
            code: "secret-in-arguments")
        let words = try await vault.set(["partner.token=ZZZZZZnewZZZZZZ"])
        #expect(words.exit == 2 && words.stderr.contains("partner.token@FILE"))
        #expect(try vault.folder.read("dump") == before)
    }

    @Test(
        arguments: [
            (["orders.attempts=6"], 2, "out-of-range"), (["orders.attempts=x"], 2, "wrong-type"),
            (["orders.host=A"], 2, "pattern-mismatch"), (["nothing=1"], 2, "unknown-config-key"),
            (["orders.host=a", "--origin", "launch"], 2, "source-not-allowed"),
            (["orders.note=AKIAABCDEFGHIJKLMNOP"], 2, "public-value-looks-secret"),
            (["partner.token"], 2, "no-terminal"), (["partner.token@none"], 2, "unreadable-file"),
            (["partner.token@."], 2, "unreadable-file"),
            (["--from", "partner.token=env:NOT_THERE"], 2, "unreadable-keys"),
            (["--from", "partner.token=command:false"], 2, "unreadable-keys"),
            (["--from", "partner.token=command:true"], 2, "malformed-keys"),
            (["--from", "partner.token=schema-644"], 2, "key-file-permissions"),
            (["partner.limits@token"], 2, "wrong-type"),
            (["partner.token@bad"], 2, "malformed-input"),
            (["orders.attempts=4", "orders.attempts=5"], 2, "usage"),
            (["orders.note=-", "partner.token=-"], 2, "usage"), (["ZZZZZZvalue"], 2, "usage"),
            (["orders.attempts=4", "--origin", "me"], 2, "usage"), ([], 2, "usage"),
        ] as [([String], Int32, String)])
    func refusesToSet(_ arguments: [String], _ exit: Int32, _ code: String) async throws {
        try vault.folder.write([0xff, 0xfe], to: "bad")
        try vault.folder.write("ZZZZZZ", to: "token")
        try vault.folder.write("x", to: "schema-644", mode: 0o644)
        let before = try vault.folder.read("dump")
        try expect(try await vault.set(arguments + ["--json"]), exit: exit, code: code)
        #expect(try vault.folder.read("dump") == before)
        #expect(
            try vault.folder.contents()
                == ["bad", "defaults.json", "dump", "keys", "schema-644", "schema.json", "token"])
    }

    @Test func changesOnlyItsOwnVersion() async throws {
        for (version, code) in [("1.10.0", "older-version"), ("1.8.0", "newer-version")] {
            let output = try await vault.vault([
                "set", "dump", "orders.attempts=4", "--schema", "schema.json", "--keys", "keys",
                "--app-id", "com.example.shop", "--app-version", version, "--json",
            ])
            try expect(output, exit: 1, code: code)
        }
        try expect(
            try await vault.set(["orders.attempts=4", "--json"], on: "none"), exit: 2,
            code: "unreadable-file")
    }

    @Test func anOlderDumpThatWasPutBackIsNotChanged() async throws {
        try vault.copy(to: "old")
        #expect(try await vault.set(["orders.attempts=4", "--state", "state"]).exit == 0)
        try vault.copy("old", to: "dump")
        try expect(
            try await vault.set(["orders.attempts=5", "--state", "state", "--json"]), exit: 1,
            code: "rolled-back")
        try expect(
            try await get(["orders.host", "--show-secrets", "--state", "state", "--json"]), exit: 1,
            code: "rolled-back")
        #expect(try vault.folder.read("dump") == vault.folder.read("old"))
    }

    // MARK: - diff

    @Test func printsTheDifferences() async throws {
        try vault.copy(to: "old")
        _ = try await vault.set(["orders.attempts=4", "partner.token=-"], stdin: "ZZZZZZnew")
        _ = try await vault.unset(["orders.timeout"])
        let same = try await diff(["old", "old"])
        #expect(same.exit == 0 && same.stdout.isEmpty)
        let words = try await diff(["old", "dump", "--schema", "schema.json"])
        #expect(words.exit == 1)
        #expect(
            words.text == """
                removed  orders.timeout   defaults  "5s"
                changed  orders.attempts  defaults  3 -> 4
                changed  partner.token    defaults  secret

                """)
        #expect(!words.text.contains("ZZZZZZ"))
        let json = try JSONValue(
            parsing: try await diff(["old", "dump", "--schema", "schema.json", "--json"]).stdout)
        #expect(json["equal"] == false && json["changes"]?.array?.count == 3)
        #expect(!json.text.contains("ZZZZZZ") && json.text.contains("\"value\":4"))
        let bare = try await diff(["old", "dump"])
        #expect(!bare.text.contains("4") && bare.exit == 1)
        let shown = try await diff(["old", "dump", "--show-secrets"])
        #expect(shown.text.contains(#""ZZZZZZcanaryZZZZZZ" -> "ZZZZZZnew""#))
    }

    @Test func comparesVersionsThatAreNamed() async throws {
        try vault.copy(to: "old")
        let rebound = try await vault.vault([
            "rebind", "dump", "--keys", "keys", "--app-id", "com.example.shop",
            "--from-app-version", "1.9.0", "--to-app-version", "1.10.0", "--to-system-version",
            "99",
        ])
        #expect(rebound.exit == 0)
        try expect(try await diff(["old", "dump", "--json"]), exit: 1, code: "newer-version")
        let app = ["--app-version", "1.9.0", "--app-version", "1.10.0"]
        try expect(try await diff(["old", "dump", "--json"] + app), exit: 1, code: "newer-version")
        let output = try await diff(
            ["old", "dump", "--system-version", "99", "--system-version", "0.1.0"] + app)
        #expect(output.exit == 0, "\(output.stderr)")
        try expect(
            try await diff(["old", "old", "--app-id", "x", "--json"]), exit: 1, code: "wrong-app")
    }

    @Test func comparesWithFreshInputs() async throws {
        let inputs = ["dump", "--schema", "schema.json", "--defaults", "defaults.json"]
        #expect(try await diff(inputs).exit == 0)
        let launched = try await diff(inputs + ["--launch", "orders.attempts=5"])
        #expect(launched.text == "changed  orders.attempts  defaults -> launch  3 -> 5\n")
        #expect(launched.exit == 1)
        try expect(
            try await diff(inputs + ["--launch", "orders.attempts=9", "--json"]), exit: 2,
            code: "out-of-range")
    }

    @Test func listsADumpForGitWithoutASecret() async throws {
        let list = ["dump", "--textconv", "--schema", "schema.json"]
        let first = try await diff(list)
        #expect(first.exit == 0 && !first.text.contains("ZZZZZZ"), "\(first.stderr)")
        #expect(first.text.contains("\norders.attempts (defaults) 3\n"))
        let line = try #require(first.text.split(separator: "\n").last)
        #expect(line.hasPrefix("partner.token (defaults) secret "))
        // Sealed again, the same values give the same lines except for the sequence.
        _ = try await vault.set(["orders.attempts=4"])
        _ = try await vault.set(["orders.attempts=3"])
        let again = try await diff(list)
        #expect(
            again.text == first.text.replacing("sequence 1\n", with: "sequence 3\n"))
        _ = try await vault.set(["partner.token=-"], stdin: "ZZZZZZother")
        #expect(!(try await diff(list)).text.contains(line))
        let json = try JSONValue(parsing: try await diff(["dump", "--textconv", "--json"]).stdout)
        #expect(json["entries"]?.array?.allSatisfy { $0["fingerprint"] != nil } == true)
    }

    // MARK: - Wrong usage

    @Test(arguments: [
        ["get"], ["get", "dump"], ["get", "dump", "a"], ["set", "dump", "a=1"],
        ["set", "dump", "a=1", "--schema", "schema.json"], ["diff", "dump", "--keys", "keys"],
        ["diff", "dump", "dump", "--textconv", "--keys", "keys"], ["diff", "dump", "dump"],
        ["diff", "dump", "--defaults", "defaults.json", "--keys", "keys"],
        ["diff", "dump", "dump", "--launch", "a=1", "--keys", "keys"],
        ["edit", "dump"], ["edit"], ["edit", "dump", "--keys", "keys", "--schema", "schema.json"],
        ["merge", "a", "b", "--keys", "keys"], ["merge", "dump", "dump", "dump"],
        ["merge", "dump", "dump", "dump", "--keys", "keys", "--prefer", "mine"],
        ["merge", "dump", "dump", "dump", "--keys", "keys", "--take", "a"],
        ["merge", "dump", "dump", "dump", "--keys", "keys", "--take", "a=base"],
        [
            "merge", "dump", "dump", "dump", "--keys", "keys", "--take", "a=ours", "--take",
            "a=ours",
        ],
        ["merge", "dump", "dump", "dump", "--keys", "keys", "--passphrase", "env:P"],
    ])
    func wrongUsageIsExit2(_ arguments: [String]) async throws {
        try expect(try await vault.vault(arguments + ["--json"]), exit: 2, code: "usage")
        let words = try await vault.vault(arguments)
        #expect(words.exit == 2 && words.stdout.isEmpty && !words.stderr.isEmpty)
    }
}
