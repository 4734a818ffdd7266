import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault edit` with scripts as editors, correct and faulty ones.
@Suite struct VaultEditToolTests {
    let vault: EditableVault

    init() async throws { vault = try await EditableVault() }

    /// Edits with a script that first writes its folder's path to a file.
    private func edit(
        _ script: String, _ more: [String] = []
    ) async throws -> ProcessOutput {
        let editor = try vault.editor("printf %s \"$1\" > where\n" + script)
        let output = try await run(more, ["VISUAL": "", "EDITOR": editor])
        try expectNothingLeft()
        return output
    }

    /// Edits on a terminal, whose output isn't read.
    private func run(
        _ more: [String] = [], _ environment: [String: String]
    ) async throws -> ProcessOutput {
        try await TerminalRun.run(
            ["vault", "edit", "dump"] + more + EditableVault.schemaAndKeys,
            environment: environment, directory: vault.folder.url)
    }

    /// Demands that the folder in which the last editor worked is gone.
    private func expectNothingLeft(at location: SourceLocation = #_sourceLocation) throws {
        let file = String(decoding: try vault.folder.read("where"), as: UTF8.self)
        let folder = URL(filePath: file).deletingLastPathComponent()
        #expect(folder.lastPathComponent.hasPrefix("signet-edit-"), sourceLocation: location)
        #expect(
            !FileManager.default.fileExists(atPath: folder.path), "\(folder.path) is left",
            sourceLocation: location)
    }

    private static let toNew = "sed -i s/ZZZZZZcanaryZZZZZZ/ZZZZZZnewZZZZZZ/ \"$1\"\n"

    // MARK: - What works

    @Test func editsInAPrivateFolderAndRemovesIt() async throws {
        let output = try await edit(
            """
            d=$(dirname "$1")
            stat -c '%a %n' "$d" "$1" > modes
            cp "$1" "$1~"; cp "$1" "$d/.values.json.swp"; chmod 400 "$d/.values.json.swp"
            mkdir "$d/backup"; cp "$1" "$d/backup/one"; ln -s "$PWD/keys" "$d/link"
            mkfifo "$d/pipe"; [ "$TMPDIR" = "$d" ] || exit 9
            sed -e s/ZZZZZZcanaryZZZZZZ/ZZZZZZnewZZZZZZ/ -e s/example/sample/ "$1~" > "$d/new" && mv "$d/new" "$1"
            echo words of the editor
            """, ["--json"])
        #expect(output.exit == 0, "\(output.stderr)")
        // The editor's output isn't mixed in.
        let told = try JSONValue(parsing: output.stdout)
        #expect(told["sequence"] == 2 && told["changes"]?.array?.count == 2)
        let modes = String(decoding: try vault.folder.read("modes"), as: UTF8.self)
        #expect(modes.split(separator: "\n").map { $0.prefix(3) } == ["700", "600"])
        let inside = try await vault.inside()
        #expect(inside["values"]?["partner.token"] == "ZZZZZZnewZZZZZZ")
        #expect(inside["values"]?["orders.host"] == "orders.sample.com")
        #expect(inside["origins"]?["partner.token"] == "defaults")
        #expect(!(try vault.folder.read("keys")).isEmpty)
    }

    @Test func addsAndRemoves() async throws {
        let output = try await edit(
            #"echo '{"partner.limits":{"a":1},"orders.host":"a.b"}' > "$1""#)
        #expect(output.exit == 0, "\(output.stderr)")
        let inside = try await vault.inside()
        #expect(inside["values"] == ["orders.host": "a.b", "partner.limits": ["a": 1]])
        #expect(inside["origins"] == ["orders.host": "defaults", "partner.limits": "launch"])
    }

    @Test(arguments: ["", "cp \"$1\" x; mv x \"$1\"", "touch \"$1\"", "printf '\\n\\n' >> \"$1\""])
    func anUnchangedValueLeavesTheFile(_ script: String) async throws {
        let before = try vault.folder.read("dump")
        let output = try await edit(script)
        #expect(output.exit == 0 && output.text.hasPrefix("nothing to change"), "\(output.stderr)")
        #expect(try vault.folder.read("dump") == before)
    }

    @Test func takesTheEditorThatThePersonChose() async throws {
        let other = try vault.editor(
            "[ \"$1\" = --flag ] && [ \"$2\" = 'two words' ] && shift 2 && " + Self.toNew,
            name: "visual")
        let output = try await run(
            [], ["VISUAL": other + " --flag 'two words'", "EDITOR": "false"])
        #expect(output.exit == 0, "\(output.stderr)")
    }

    // MARK: - What goes wrong

    @Test(arguments: ["cat", ""])
    func refusesToRunWithoutATerminal(_ editor: String) async throws {
        let before = try vault.folder.read("dump")
        let arguments = ["edit", "dump"] + EditableVault.schemaAndKeys
        let environment = ["VISUAL": "", "EDITOR": editor]
        try expect(
            try await vault.vault(arguments + ["--json"], environment: environment), exit: 2,
            code: "no-terminal")
        let words = try await vault.vault(arguments, environment: environment)
        #expect(words.exit == 2 && words.stdout.isEmpty)
        #expect(words.stderr.contains("signet vault set KEY@SOURCE"))
        #expect(try vault.folder.read("dump") == before)
    }

    @Test(arguments: [
        ("exit 3", "editor-failed"), ("kill -9 $$", "editor-failed"),
        (toNew + "exit 1", "editor-failed"), ("rm \"$1\"", "unreadable-file"),
        ("rm \"$1\"; ln -s \"$PWD/keys\" \"$1\"", "unreadable-file"),
        ("rm \"$1\"; mkdir \"$1\"", "unreadable-file"),
        ("rm \"$1\"; mkfifo \"$1\"", "unreadable-file"),
        (": > \"$1\"", "malformed-input"), ("echo ZZZZZZ > \"$1\"", "malformed-input"),
        ("echo '[]' > \"$1\"", "malformed-input"),
        (#"echo '{"orders.note":"a","orders.note":"b"}' > "$1""#, "malformed-input"),
        (#"echo '{"orders.note":1}' > "$1""#, "wrong-type"),
        (#"echo '{"orders.note":null}' > "$1""#, "wrong-type"),
        (#"echo '{"orders.attempts":6}' > "$1""#, "out-of-range"),
        (#"echo '{"nothing":"ZZZZZZ"}' > "$1""#, "unknown-config-key"),
        ("head -c 20000000 /dev/zero > \"$1\"", "unreadable-file"),
    ])
    func leavesOnlyTheDump(_ script: String, _ code: String) async throws {
        let before = try vault.folder.read("dump")
        try expect(try await edit(script, ["--json"]), exit: 2, code: code)
        #expect(try vault.folder.read("dump") == before)
    }

    @Test func anEditorThatIsNotThere() async throws {
        let output = try await run(
            ["--json"], ["VISUAL": "", "EDITOR": "/nonexistent/editor"])
        try expect(output, exit: 2, code: "editor-failed")
    }

    @Test func aDumpThatDoesNotOpenStartsNoEditor() async throws {
        let editor = try vault.editor("touch started")
        let output = try await TerminalRun.run(
            [
                "vault", "edit", "dump", "--schema", "schema.json", "--keys", "keys", "--app-id",
                "com.example.shop", "--app-version", "2", "--json",
            ], environment: ["VISUAL": editor], directory: vault.folder.url)
        try expect(output, exit: 1, code: "older-version")
        #expect(!(try vault.folder.contents()).contains("started"))
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func aSignalWipesAndEnds(_ signal: Int32) async throws {
        let before = try vault.folder.read("dump")
        let made = try await ChildProcess.run(
            "mkfifo", [vault.folder.path("ready")], directory: vault.folder.url)
        #expect(made.exit == 0)
        let editor = try vault.editor(
            Self.toNew
                + "printf %s \"$1\" > where; cp \"$1\" \"$1~\"; echo > ready; exec tail -f /dev/null"
        )
        let child = try TerminalRun.start(
            ["vault", "edit", "dump"] + EditableVault.schemaAndKeys,
            environment: ["VISUAL": editor],
            directory: vault.folder.url)
        // Opening the pipe waits for the editor.
        _ = try await ChildProcess.run("cat", ["ready"], directory: vault.folder.url)
        child.send(signal: signal)
        let output = try await child.outcome()
        #expect(output.exit == 128 + signal, "\(output.stderr)")
        try expectNothingLeft()
        #expect(try vault.folder.read("dump") == before)
    }

    @Test func theNextRunWipesAKilledRunsFiles() async throws {
        _ = try await ChildProcess.run("mkfifo", ["ready"], directory: vault.folder.url)
        let editor = try vault.editor(
            "printf %s \"$1\" > where; echo $$ > editor-id; echo > ready; exec tail -f /dev/null")
        let child = try TerminalRun.start(
            ["vault", "edit", "dump"] + EditableVault.schemaAndKeys,
            environment: ["VISUAL": editor],
            directory: vault.folder.url)
        _ = try await ChildProcess.run("cat", ["ready"], directory: vault.folder.url)
        child.send(signal: SIGKILL)
        let orphan = String(decoding: try vault.folder.read("editor-id"), as: UTF8.self)
        if let id = Int32(orphan.dropLast()) { kill(id, SIGKILL) }
        _ = try await child.outcome()
        let killed = try vault.folder.read("where")
        let next = try await run([], ["VISUAL": "true"])
        #expect(next.exit == 0, "\(next.stderr)")
        try vault.folder.write(killed, to: "where")
        try expectNothingLeft()
    }

    // MARK: - Another change meanwhile

    private func meanwhile(_ assignment: String) -> String {
        let arguments = ["vault", "set", "dump", assignment] + EditableVault.schemaAndKeys
        return "'\(SignetTool.url.path)' \(arguments.joined(separator: " ")) || exit 9\n"
    }

    @Test func anotherChangeIsMergedIn() async throws {
        let output = try await edit(meanwhile("orders.attempts=5") + Self.toNew)
        #expect(output.exit == 0, "\(output.stderr)")
        let inside = try await vault.inside()
        #expect(inside["values"]?["orders.attempts"] == 5)
        #expect(inside["values"]?["partner.token"] == "ZZZZZZnewZZZZZZ")
        #expect(inside["sequence"] == 3)
    }

    @Test func neitherOfTwoChangesOfOneKeyIsLost() async throws {
        let script = meanwhile("orders.attempts=5") + Self.toNew
        try expect(
            try await edit(
                script + "sed -i 's/\"orders.attempts\": 3/\"orders.attempts\": 4/' \"$1\"",
                ["--json"]), exit: 1, code: "dump-changed")
        #expect(try await vault.inside()["values"]?["orders.attempts"] == 5)
        #expect(try await vault.inside()["values"]?["partner.token"] == "ZZZZZZcanaryZZZZZZ")
        #expect(try await vault.inside("dump.edited")["values"]?["orders.attempts"] == 4)
        // As the message says.
        let merge = ["merge", "dump.edited-base", "dump", "dump.edited", "--keys", "keys"]
        try expect(try await vault.vault(merge + ["--json"]), exit: 1, code: "merge-conflict")
        let merged = try await vault.vault(merge + ["--take", "orders.attempts=theirs"])
        #expect(merged.exit == 0, "\(merged.stderr)")
        let inside = try await vault.inside()
        #expect(inside["values"]?["orders.attempts"] == 4)
        #expect(inside["values"]?["partner.token"] == "ZZZZZZnewZZZZZZ")
        // A second time the first edited dump is not overwritten.
        try expect(
            try await edit(
                meanwhile("orders.attempts=1")
                    + "sed -i 's/\"orders.attempts\": 4/\"orders.attempts\": 2/' \"$1\"",
                ["--json"]), exit: 1, code: "dump-changed")
        #expect(try await vault.inside("dump.edited")["values"]?["orders.attempts"] == 4)
        #expect(try await vault.inside("dump.edited-2")["values"]?["orders.attempts"] == 2)
    }

    // MARK: - On a terminal

    /// Edits with standard input and error on a pseudo-terminal, on which `answers` are typed.
    private func editOnATerminal(
        _ script: String, answers: String
    ) async throws -> ProcessOutput {
        let editor = try vault.editor(script)
        let arguments = ["vault", "edit", "dump"] + EditableVault.schemaAndKeys
        let line = ([SignetTool.url.path] + arguments).joined(separator: " ")
        return try await ChildProcess.run(
            "script", ["-qec", line, "/dev/null"], stdin: Array(answers.utf8),
            environment: ["VISUAL": editor], directory: vault.folder.url)
    }

    private static let firstBadThenGood =
        "if [ -e second ]; then grep -q ZZZZZZwrongZZZZZZ \"$1\" || exit 9; "
        + "echo '{\"orders.note\":\"good\"}' > \"$1\"; "
        + "else touch second; echo '{\"orders.note\":\"ZZZZZZwrongZZZZZZ\"' > \"$1\"; fi"

    @Test func aPersonMayEditAgain() async throws {
        let output = try await editOnATerminal(Self.firstBadThenGood, answers: "y\n")
        #expect(output.exit == 0, "\(output.text)\(output.stderr)")
        #expect(output.text.contains("edit again? [Y/n]") && !output.text.contains("ZZZZZZ"))
        #expect(try await vault.inside()["values"] == ["orders.note": "good"])
    }

    @Test func aPersonMayGiveUp() async throws {
        let before = try vault.folder.read("dump")
        let output = try await editOnATerminal(Self.firstBadThenGood, answers: "n\n")
        #expect(output.exit == 2, "\(output.text)\(output.stderr)")
        #expect(try vault.folder.read("dump") == before)
    }

    @Test func aPersonSeesBothChangesOfAKey() async throws {
        let output = try await editOnATerminal(
            "if [ -e second ]; then cp \"$1\" shown; else touch second; "
                + meanwhile("orders.note=theirs").dropLast() + "\n"
                + meanwhile("orders.attempts=5").dropLast() + "\n"
                + "echo '{\"orders.note\":\"mine\",\"orders.attempts\":3}' > \"$1\"; fi",
            answers: "y\n")
        #expect(output.exit == 0, "\(output.text)\(output.stderr)")
        let shown = try JSONValue(parsing: try vault.folder.read("shown"))
        #expect(shown == ["orders.note": "mine", "orders.attempts": 5])
        #expect(try await vault.inside()["values"] == shown)
    }
}
