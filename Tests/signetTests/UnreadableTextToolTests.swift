import Foundation
import SignetJSON
import TestSupport
import Testing

/// Arguments and variables that are not UTF-8.
@Suite struct UnreadableTextToolTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write("a = 1", to: "config.toml")
    }

    /// Runs a line of sh, in which `$signet` is the tool, and `$bytes` and `$others` are file names
    /// that differ in a byte that isn't UTF-8.
    private func sh(_ line: String) async throws -> ProcessOutput {
        try await ChildProcess.run(
            "sh",
            [
                "-c", #"signet=$0; bytes=$(printf 'a\351.x'); others=$(printf 'a\350.x'); "# + line,
                SignetTool.url.path,
            ], directory: folder.url)
    }

    private func make() async throws {
        let made = try await sh(
            "HOME=$PWD $signet vault init config.toml --out . --keys keys --app-id com.example.a")
        #expect(made.exit == 0, "\(made.stderr)")
    }

    @Test(arguments: [
        #"$signet keys new --type hmac --id k --out "$bytes""#,
        #"$signet keys new --type hmac --id "$bytes" --out k"#,
        #"$signet keys list "$bytes""#,
        #"$signet call http://127.0.0.1:1/ a --form "a=$bytes""#,
        #"$signet call "http://127.0.0.1:1/$bytes" a"#,
        #"$signet call http://127.0.0.1:1/ a --header "A: $bytes""#,
        #"$signet call http://127.0.0.1:1/ a --params "{\"a\":\"$bytes\"}""#,
        #"$signet vault init config.toml --out "$bytes""#,
        #"$signet vault set "a=$bytes""#,
        #"$signet exec --prefix "$bytes" -- true"#,
        #"$signet "$bytes""#,
    ])
    func refusesAnArgument(_ line: String) async throws {
        let before = try folder.contents()
        let output = try await sh(line)
        #expect(output.exit == 2, "\(output.text)\(output.stderr)")
        #expect((output.text + output.stderr).contains("is not UTF-8"), "\(output.stderr)")
        #expect(!(output.text + output.stderr).contains("\u{FFFD}"))
        #expect(try folder.contents() == before)
    }

    @Test(arguments: [
        ("SIGNET_APP_ID", "vault list"), ("SIGNET_APP_VERSION", "vault list"),
        ("SIGNET_KEYS", "vault list"), ("SIGNET_PROJECT", "vault list"), ("HOME", "vault list"),
        ("XDG_CONFIG_HOME", "vault init config.toml --out new"),
        ("https_proxy", "pins show https://127.0.0.1:1"),
        ("no_proxy", "pins show https://127.0.0.1:1"),
        ("CREDENTIALS_DIRECTORY", "keys list credential:x"), ("X", "keys list env:X"),
        ("X", "vault list --passphrase env:X"),
        ("X", "vault set --project signet.json --from a=env:X"),
    ])
    func refusesAVariableWhereItIsUsed(_ name: String, _ command: String) async throws {
        try await make()
        let before = try folder.contents()
        let output = try await sh("export \(name)=\"$bytes\"; $signet \(command) --json")
        #expect(output.exit == 2, "\(output.text)")
        #expect(output.text.contains("not UTF-8"), "\(output.text)")
        #expect(output.text.contains(name))
        #expect(!output.text.contains("\u{FFFD}"))
        #expect(try folder.contents() == before)
    }

    @Test func otherVariablesMayHoldAnyBytes() async throws {
        try await make()
        let output = try await sh(
            "export X=\"$bytes\" TERM=\"$bytes\" NO_COLOR=\"$bytes\"; HOME=$PWD $signet vault get a"
        )
        #expect(output.exit == 0 && output.text == "1\n", "\(output.stderr)")
    }

    @Test func execPassesBytesUnchanged() async throws {
        try await make()
        let output = try await sh(
            #"""
            export X="$bytes"
            HOME=$PWD $signet exec -- sh -c 'printf "%s:%s:%s:%s" "$X" "$1" "$2" "$A"' sh "$others" --
            """#)
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(
            output.stdout == Array("a".utf8) + [0xE9] + Array(".x:a".utf8) + [0xE8]
                + Array(".x:--:1".utf8))
    }

    /// Otherwise two folders would be one in the list of those that the user trusts.
    @Test func noFolderIsTrustedByAnUnreadableName() async throws {
        let made = try await sh(
            #"""
            export HOME=$PWD; mkdir "$bytes" "$others"; cd "$bytes"
            $signet vault init ../config.toml --keys ../keys --app-id com.example.a || exit 9
            cp * "../$others"; $signet project trust --json; cd "../$others"; $signet project trust --json
            cat ../.config/signet/trusted.json
            """#)
        #expect(
            !made.text.contains("\u{FFFD}") && !made.text.contains("\"folder\""), "\(made.text)")
        #expect(made.text.contains("found no signet.json"), "\(made.text)\(made.stderr)")
    }
}
