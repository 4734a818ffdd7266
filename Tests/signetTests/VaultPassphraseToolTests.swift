import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault … --passphrase`, from each source and from a terminal.
@Suite struct VaultPassphraseToolTests {
    static let phrase = "correct horse battery"
    static let option = ["--passphrase", "env:PHRASE"]
    static let environment = ["PHRASE": phrase]

    let fixture: VaultFixture
    var folder: TemporaryDirectory { fixture.folder }

    init() async throws { fixture = try await VaultFixture() }

    // MARK: - What works

    @Test func everyCommandTakesAPassphrase() async throws {
        let sealed = try await fixture.seal(
            Self.option, ["--json"], environment: Self.environment)
        fixture.expectDone(sealed)
        let told = try JSONValue(parsing: sealed.stdout)
        #expect(told["format"] == "signet1p" && told["keyID"] == "passphrase")
        #expect(told["sequence"] == 1)
        let opened = try await fixture.open(
            Self.option, ["--json"], environment: Self.environment)
        fixture.expectDone(opened)
        let rebound = try await fixture.vault(
            VaultFixture.rebind + Self.option + ["--json"], environment: Self.environment)
        fixture.expectDone(rebound)
        #expect(try JSONValue(parsing: rebound.stdout)["sequence"] == 2)
        let exported = try await fixture.vault(
            ["export-key", "dump"] + Self.option, environment: Self.environment)
        fixture.expectDone(exported)
        #expect(try JSONValue(parsing: exported.stdout)["k"]?.string?.utf8.count == 43)
        let inspected = try await fixture.vault(["inspect", "dump"])
        #expect(inspected.text.contains("a passphrase, as key passphrase"))
        for output in [sealed, opened, rebound, exported] {
            #expect(!(output.text + output.stderr).contains("horse"))
        }
    }

    @Test func theKeysIDOfAPassphraseIsFree() async throws {
        let sealed = try await fixture.seal(
            Self.option + ["--key-id", "office safe"], ["--json"], environment: Self.environment)
        fixture.expectDone(sealed)
        #expect(try JSONValue(parsing: sealed.stdout)["keyID"] == "office safe")
        fixture.expectDone(try await fixture.open(Self.option, environment: Self.environment))
    }

    /// One passphrase, from each of its sources; a final newline is dropped, but not from `env:`.
    @Test func everySourceGivesTheSamePassphrase() async throws {
        fixture.expectDone(try await fixture.seal(Self.option, environment: Self.environment))
        try folder.write(Self.phrase + "\n", to: "phrase")
        for source in [
            "phrase", "./phrase", "command:cat phrase", "command:printf %s '\(Self.phrase)'",
            "credential:phrase",
        ] {
            let opened = try await fixture.open(
                ["--passphrase", source], environment: ["CREDENTIALS_DIRECTORY": folder.path])
            #expect(opened.exit == 0, "\(source): \(opened.stderr)")
        }
        let descriptor = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c", "exec 7<phrase; exec \"$0\" vault open dump --passphrase fd:7 \"$@\"",
                SignetTool.url.path,
            ] + VaultFixture.identity, directory: folder.url)
        fixture.expectDone(descriptor)
        for (source, value) in [
            ("env:PHRASE", Self.phrase + "\n"), ("env:PHRASE", " " + Self.phrase),
            ("command:cat phrase; echo", ""), ("command:echo; cat phrase", ""),
        ] {
            let opened = try await fixture.open(
                ["--passphrase", source, "--json"], environment: ["PHRASE": value])
            try fixture.expect(opened, exit: 1, code: "wrong-key")
        }
    }

    // MARK: - What is refused

    @Test(arguments: [
        ("env:NONE", "unreadable-keys"), ("env:EMPTY", "malformed-keys"),
        ("none", "unreadable-keys"), (".", "unreadable-keys"), ("fd:2147483647", "unreadable-keys"),
        ("fd:x", "unreadable-keys"), ("command:exit 3", "unreadable-keys"),
        ("command:true", "malformed-keys"), ("command:echo", "malformed-keys"),
        ("credential:x", "unreadable-keys"), ("open", "key-file-permissions"), ("-", "usage"),
        ("", "unreadable-keys"),
    ])
    func sourcesThatGiveNoPassphrase(_ source: String, _ code: String) async throws {
        try folder.write("correct horse", to: "open", mode: 0o640)
        let output = try await fixture.seal(
            ["--passphrase", source], ["--json"], environment: ["EMPTY": ""])
        try fixture.expect(output, exit: 2, code: code)
        if source == "open" { #expect(output.text.contains("chmod 600 open")) }
        #expect(!(try folder.contents()).contains("dump"))
    }

    @Test func shortPassphrasesDoNotSeal() async throws {
        let output = try await fixture.seal(
            Self.option, ["--json"], environment: ["PHRASE": "7 bytes"])
        try fixture.expect(output, exit: 2, code: "weak-passphrase")
        #expect(output.text.contains("at least 8"))
        fixture.expectDone(
            try await fixture.seal(Self.option, environment: ["PHRASE": "8 bytes."]))
    }

    @Test func exactlyOneOfKeysAndPassphraseIsWanted() async throws {
        for arguments in [
            ["open", "dump"] + VaultFixture.identity, ["export-key", "dump"], VaultFixture.rebind,
            ["seal", "--out", "dump"] + VaultFixture.inputs + VaultFixture.identity,
        ] {
            for key in [[], ["--keys", "keys"] + Self.option] {
                let output = try await fixture.vault(
                    arguments + key + ["--json"], environment: Self.environment)
                try fixture.expect(output, exit: 2, code: "usage")
                #expect(output.text.contains("--keys SOURCE and --passphrase SOURCE"))
            }
        }
    }

    @Test func aKeySetAndAPassphraseOpenOnlyTheirOwn() async throws {
        fixture.expectDone(try await fixture.seal())
        try fixture.expect(
            try await fixture.open(Self.option, ["--json"], environment: Self.environment),
            exit: 1, code: "unknown-key")
        fixture.expectDone(
            try await fixture.seal(Self.option, ["--replace"], environment: Self.environment))
        try fixture.expect(
            try await fixture.open(["--keys", "keys", "--json"]), exit: 1, code: "unknown-key")
        let wrong = ["PHRASE": "correct horse batterie"]
        for arguments in [
            ["open", "dump"] + VaultFixture.identity, ["export-key", "dump"], VaultFixture.rebind,
        ] {
            try fixture.expect(
                try await fixture.vault(
                    arguments + Self.option + ["--json"], environment: wrong), exit: 1,
                code: "wrong-key")
        }
    }

    // MARK: - On a terminal

    /// Runs `signet` on a pseudo-terminal of its own.
    ///
    /// - Parameter answers: Each is typed when a question ends with `: ` and nothing follows;
    ///   `^C` and the like are bytes too, and `kill N` sends a signal.
    /// - Returns: The terminal's output, whether echo was off at each question and on at the end,
    ///   and the exit status (negative for a signal).
    func onATerminal(
        _ arguments: [String], _ answers: [String]
    ) async throws -> (shown: String, silent: [Bool], restored: Bool, exit: Int) {
        let output = try await PythonPeer.run(
            "type-answers",
            [
                JSONValue.array(answers.map(JSONValue.string)).text, folder.path,
                SignetTool.url.path, "vault",
            ] + arguments)
        #expect(output.exit == 0, "\(output.stderr)")
        let told = try JSONValue(parsing: output.stdout)
        return (
            try #require(told["shown"]?.string), told["silent"]?.array?.compactMap(\.bool) ?? [],
            told["restored"] == true, try #require(told["exit"]?.number?.int64.map(Int.init))
        )
    }

    static let prompted =
        ["seal", "--passphrase", "prompt", "--out", "dump"] + VaultFixture.inputs
        + VaultFixture.identity

    @Test func asksTwiceToSealAndOnceToOpen() async throws {
        let phrase = Self.phrase + "\n"
        let sealed = try await onATerminal(Self.prompted, [phrase, phrase])
        #expect(sealed.exit == 0 && sealed.silent == [true, true] && sealed.restored)
        #expect(sealed.shown.hasPrefix("Passphrase: \r\nPassphrase, once more: \r\nsealed "))
        #expect(!sealed.shown.contains("horse"))
        let opened = try await onATerminal(
            ["open", "dump", "--passphrase", "prompt"] + VaultFixture.identity, [phrase])
        #expect(opened.exit == 0 && opened.silent == [true] && opened.restored)
        fixture.expectDone(try await fixture.open(Self.option, environment: Self.environment))
    }

    @Test(arguments: [
        (["correct horse\n", "correct hoarse\n"], 2, "not the same"),
        (["correct horse\n", "\n"], 2, "nothing was typed"), (["\n"], 2, "nothing was typed"),
        (["\u{4}"], 2, "nothing was typed"), (["short\n", "short\n"], 2, "at least 8"),
        ([String(repeating: "x", count: 1025) + "\n"], 2, "more than 1024"),
        (["\u{3}"], -2, ""), (["correct horse\n", "\u{3}"], -2, ""),
        (["kill 15"], -15, ""), (["kill 1"], -1, ""), (["correct horse\n", "kill 15"], -15, ""),
    ])
    func theTerminalIsRestored(_ answers: [String], _ exit: Int, _ words: String) async throws {
        let outcome = try await onATerminal(Self.prompted, answers)
        #expect(outcome.exit == exit, "\(outcome.shown)")
        #expect(outcome.restored && outcome.silent.allSatisfy { $0 })
        #expect(outcome.silent.count == answers.count)
        #expect(words.isEmpty || outcome.shown.contains(words))
        #expect(!outcome.shown.contains("horse"))
        #expect(!(try folder.contents()).contains("dump"))
    }

    @Test func withoutATerminalItIsAnError() async throws {
        let output = try await ChildProcess.run(
            "setsid", ["--wait", SignetTool.url.path, "vault"] + Self.prompted + ["--json"],
            directory: folder.url)
        try fixture.expect(output, exit: 2, code: "no-terminal")
        #expect(output.text.contains("no terminal"))
    }
}
