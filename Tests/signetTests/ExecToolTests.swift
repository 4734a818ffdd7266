import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet exec`, and `vault export --format env` read by a real sh.
@Suite struct ExecToolTests {
    static let hostile = [
        "it's", "'", "''", "a\nb\n", "\n", "$(touch pwned)", "`touch pwned`", "${HOME}", "\\",
        "a\\'b",
        "\"quoted\"", "; touch pwned;", "& touch pwned &", "#x", " lead and trail ", "", "*", "~",
        "a\tb\rc", "é€😀", "-n", "!!", "%s%n",
    ]

    private let vault: EditableVault

    init() async throws { vault = try await EditableVault() }

    private func exec(
        _ command: [String], _ options: [String] = [], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["exec", "--dump", "dump"] + EditableVault.keys + options + ["--"] + command,
            environment: environment, directory: vault.folder.url)
    }

    private func setNote(_ value: String) async throws {
        try vault.folder.write(value + "\n", to: "value")
        let set = try await vault.set(["orders.note@value"])
        #expect(set.exit == 0, "\(set.stderr)")
    }

    @Test func theCommandHasTheValuesAndItsOwnStatus() async throws {
        let output = try await exec(
            [
                "sh", "-c",
                "printf '%s,%s,%s' \"$P_ORDERS_HOST\" $P_ORDERS_ATTEMPTS $P_PARTNER_TOKEN; exit 7",
            ],
            ["--prefix", "P_"])
        #expect(output.exit == 7 && output.stderr.isEmpty, "\(output.stderr)")
        #expect(output.text == "orders.example.com,3,ZZZZZZcanaryZZZZZZ")
    }

    @Test(arguments: hostile) func hostileValuesArriveAsTheyAre(_ value: String) async throws {
        try await setNote(value)
        let executed = try await exec(["sh", "-c", "printf '%s' \"$ORDERS_NOTE\""])
        #expect(executed.text == value, "\(executed.stderr)")
        let exported = try await vault.run(
            ["vault", "export", "dump", "--format", "env", "--show-secrets"] + EditableVault.keys)
        try vault.folder.write(exported.stdout, to: "env.sh")
        let read = try await ChildProcess.run(
            "sh", ["-c", ". ./env.sh && printf '%s' \"$ORDERS_NOTE\""],
            directory: vault.folder.url)
        #expect(read.text == value && read.stderr.isEmpty, "\(read.stderr)")
        #expect(!(try vault.folder.contents()).contains("pwned"))
    }

    @Test func onlyPassesTheNamedKeys() async throws {
        let output = try await exec(["env"], ["--only", "orders.host", "--prefix", "P_"])
        let names = output.text.split(separator: "\n").filter { $0.hasPrefix("P_") }
        #expect(names == ["P_ORDERS_HOST=orders.example.com"])
        let missing = try await exec(["env"], ["--only", "nothing", "--json"])
        try expect(missing, exit: 1, code: "no-value")
    }

    @Test func onlyPassesTheKeysOfAGroup() async throws {
        let output = try await exec(
            ["env"], ["--only", "orders.", "--only", "orders.host", "--prefix", "P_"])
        let names = output.text.split(separator: "\n").filter { $0.hasPrefix("P_") }
        #expect(
            names == [
                "P_ORDERS_HOST=orders.example.com", "P_ORDERS_TIMEOUT=5s", "P_ORDERS_ATTEMPTS=3",
            ])
        for (word, hint) in [
            ("order.", "no value below"), ("orders", "\"orders.\" means all of them"),
            ("orders.hots", "did you mean \"orders.host\"?"), (".", "no value below"),
        ] {
            let missing = try await exec(["env"], ["--only", word])
            #expect(missing.exit == 1 && missing.stdout.isEmpty, "\(word)")
            #expect(missing.stderr.contains(hint), "\(missing.stderr)")
        }
    }

    /// The path works in the command and its children, and the file can't be written.
    @Test func givesAValueAsAFile() async throws {
        try await setNote("it's a\nPEM")
        let script = """
            cat "$ORDERS_NOTE"; stat -L -c %a "$ORDERS_NOTE"; echo "$ORDERS_HOST"
            sh -c 'cat "$ORDERS_NOTE"'; (echo x >"$ORDERS_NOTE") 2>/dev/null || echo refused
            ls -l /proc/$$/fd | grep -c memfd
            """
        let output = try await exec(["sh", "-c", script], ["--file", "orders.note"])
        #expect(
            output.text
                == "it's a\nPEM600\norders.example.com\nit's a\nPEMrefused\n1\n",
            "\(output.text)\(output.stderr)")
        let only = try await exec(["env"], ["--only", "orders.host", "--file", "orders.note"])
        #expect(only.text.contains("ORDERS_NOTE=/proc/"), "\(only.stderr)")
        #expect(!only.text.contains("ORDERS_TIMEOUT"))
        try expect(
            try await exec(["env"], ["--file", "orders.none", "--json"]), exit: 1, code: "no-value")
    }

    @Test(arguments: ["node.options", "git.ssh.command", "pythonpath", "git.config.count"])
    func aNameThatAnInterpreterReadsMustBeNamed(_ key: String) async throws {
        try vault.folder.write(
            #"{"keys":{"\#(key)":{"type":"string","visibility":"public"}}}"#, to: "schema.json")
        try vault.folder.write(#"{"\#(key)":"code"}"#, to: "defaults.json")
        try await vault.seal("other")
        func exec(_ options: [String]) async throws -> ProcessOutput {
            try await SignetTool.run(
                ["exec", "--dump", "other"] + EditableVault.keys + options + ["--", "env"],
                directory: vault.folder.url)
        }
        try expect(try await exec(["--json"]), exit: 2, code: "reserved-name")
        let group = String(key.prefix { $0 != "." }) + "."
        if key.contains(".") {
            try expect(
                try await exec(["--only", group, "--json"]), exit: 2, code: "reserved-name")
        }
        let named = try await exec(["--only", key])
        #expect(named.exit == 0 && named.text.contains("=code\n"), "\(named.stderr)")
    }

    @Test func argumentsArriveAsTheyAre() async throws {
        let output = try await exec(
            ["sh", "-c", "printf '<%s>' \"$@\"", "sh", "--json", "", "a b", "--", "-x="])
        #expect(output.text == "<--json><><a b><--><-x=>", "\(output.stderr)")
    }

    @Test(arguments: [
        ("no-such-command", 127, "command-not-found"), ("./plain", 126, "command-not-executable"),
        (".", 126, "command-not-executable"), ("./none/x", 127, "command-not-found"),
    ])
    func aCommandThatCannotRunEndsAsInSh(
        _ name: String, _ status: Int32, _ code: String
    ) async throws {
        try vault.folder.write("not a program", to: "plain", mode: 0o644)
        try expect(try await exec([name], ["--json"]), exit: status, code: code)
        let sh = try await ChildProcess.run(
            "sh", ["-c", name == "." ? "./." : name], directory: vault.folder.url)
        #expect(sh.exit == status)
    }

    @Test func signalsLimitsAndDescriptorsAreAsTheyWere() async throws {
        // Everything that the command could see, with and without signet before it.
        let script = """
            grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; cat /proc/self/limits; umask; pwd
            ls /proc/self/fd | wc -l
            """
        let start =
            "ulimit -c 1000; trap '' USR1; exec 5</dev/null; exec \"$@\" sh -c '\(script.replacing("'", with: "'\\''"))'"
        let plain = try await ChildProcess.run(
            "sh", ["-c", start, "sh", "env"], directory: vault.folder.url)
        let under = try await ChildProcess.run(
            "sh",
            ["-c", start, "sh", SignetTool.url.path, "exec", "--dump", "dump"] + EditableVault.keys
                + ["--"], directory: vault.folder.url)
        #expect(under.exit == 0 && under.text == plain.text, "\(under.stderr)")
        #expect(!plain.text.contains("Max core file size        0 "))
    }

    @Test func aClosedStandardDescriptorStaysClosed() async throws {
        let script = "test -e /proc/self/fd/0 && echo open || echo closed"
        let output = try await ChildProcess.run(
            "sh",
            ["-c", "exec \"$@\" 0<&-", "sh", SignetTool.url.path, "exec", "--dump", "dump"]
                + EditableVault.keys + ["--", "sh", "-c", script], directory: vault.folder.url)
        #expect(output.text == "closed\n", "\(output.stderr)")
    }

    @Test func theVariableOfTheKeysIsTakenOut() async throws {
        let keys = String(decoding: try vault.folder.read("keys"), as: UTF8.self)
        let output = try await SignetTool.run(
            ["exec", "--dump", "dump", "--keys", "env:ROOTS"] + EditableVault.identity + [
                "--", "env",
            ],
            environment: ["ROOTS": keys, "OTHER": "stays"], directory: vault.folder.url)
        #expect(output.exit == 0 && output.text.contains("OTHER=stays"), "\(output.stderr)")
        #expect(!output.text.contains("ROOTS="))
    }

    @Test(arguments: [
        (
            #"{"a.b":{"type":"string"},"a-b":{"type":"string"}}"#, #"{"a.b":"1","a-b":"2"}"#,
            "name-collision"
        ),
        (#"{"path":{"type":"string"}}"#, #"{"path":"/"}"#, "reserved-name"),
        (#"{"ifs":{"type":"string"}}"#, #"{"ifs":"/"}"#, "reserved-name"),
        (#"{"zdotdir":{"type":"string"}}"#, #"{"zdotdir":"/"}"#, "reserved-name"),
        (#"{"ld.preload":{"type":"string"}}"#, #"{"ld.preload":"/"}"#, "reserved-name"),
        (#"{"makeflags":{"type":"string"}}"#, #"{"makeflags":"/"}"#, "reserved-name"),
        (
            #"{"npm.config.script-shell":{"type":"string"}}"#, #"{"npm.config.script-shell":"/"}"#,
            "reserved-name"
        ),
        (#"{"1st":{"type":"string"}}"#, #"{"1st":"/"}"#, "unusable-name"),
        (#"{"a":{"type":"string"}}"#, #"{"a":"b\u0000c"}"#, "zero-byte"),
    ])
    func invalidVariableNamesAndValuesAreRefused(
        _ keys: String, _ values: String, _ code: String
    ) async throws {
        try vault.folder.write(#"{"keys":\#(keys)}"#, to: "schema.json")
        try vault.folder.write(values, to: "defaults.json")
        try await vault.seal("dump", ["--replace"])
        try expect(try await exec(["true"], ["--json"]), exit: 2, code: code)
        try expect(
            try await vault.run(
                ["vault", "export", "dump", "--format", "env", "--show-secrets", "--json"]
                    + EditableVault.keys), exit: 2, code: code)
        if code == "reserved-name" || code == "unusable-name" {
            #expect(try await exec(["true"], ["--prefix", "P_"]).exit == 0)
        }
    }

    @Test func aDumpThatDoesNotOpenRunsNothing() async throws {
        let output = try await SignetTool.run(
            [
                "exec", "--dump", "dump", "--keys", "keys", "--app-id", "other", "--app-version",
                "1", "--json",
            ]
                + ["--", "touch", "pwned"], directory: vault.folder.url)
        try expect(output, exit: 1, code: "wrong-app")
        let without = try await SignetTool.run(
            ["exec", "--dump", "dump", "--json"] + EditableVault.keys, directory: vault.folder.url)
        try expect(without, exit: 2, code: "usage")
        #expect(!(try vault.folder.contents()).contains("pwned"))
    }
}
