import Foundation
import SignetJSON
import TestSupport
import Testing

/// The keys that the shells offer, tested with the shells themselves.
@Suite struct KeyCompletionToolTests {
    private let vault: EditableVault

    init() async throws {
        vault = try await EditableVault()
        try vault.folder.write(#"{"schema":"schema.json","dump":"dump"}"#, to: "signet.json")
        for shell in ["bash", "zsh", "fish"] {
            let script = try await vault.run(["completions", shell])
            let name = shell == "zsh" ? "_signet" : "signet.\(shell)"
            try vault.folder.write(script.stdout, to: name)
        }
    }

    private var path: [String: String] {
        ["PATH": "\(SignetTool.url.deletingLastPathComponent().path):/usr/bin:/bin"]
    }

    /// The words that bash offers for the last of some words.
    private func bash(_ words: [String]) async throws -> [String] {
        let line = words.joined(separator: " ")
        let script = """
            source signet.bash
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="\(line)"; COMP_POINT=${#COMP_LINE}
            _signet signet "${@: -1}" "${@: -2:1}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let output = try await ChildProcess.run(
            "bash", ["--norc", "-c", script, "bash"] + words, environment: path,
            directory: vault.folder.url)
        return output.text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        ["signet", "vault", "get", "orders.h"], ["signet", "vault", "set", "orders.h"],
        ["signet", "vault", "unset", "orders.h"], ["signet", "exec", "--only", "orders.h"],
        ["signet", "exec", "--file", "orders.h"],
        ["signet", "vault", "export", "--only", "orders.h"],
    ])
    func bashOffersTheKeys(_ words: [String]) async throws {
        #expect(try await bash(words) == ["orders.host"])
    }

    @Test func readsTheSchemaThatIsNamed() async throws {
        try vault.folder.write(#"{"keys":{"other.key":{"type":"string"}}}"#, to: "other.json")
        let named = ["signet", "vault", "get", "--schema", "other.json", "o"]
        #expect(try await bash(named) == ["other.key"])
        try vault.folder.write("{", to: "other.json")
        #expect(try await bash(["signet", "exec", "--schema", "other.json", "--only", "o"]) == [])
    }

    @Test func offersFilesWithoutASchema() async throws {
        try FileManager.default.removeItem(at: vault.folder.url.appending(path: "signet.json"))
        #expect(try await bash(["signet", "vault", "get", "du"]) == ["dump"])
        #expect(try await bash(["signet", "exec", "--only", "du"]) == [])
    }

    /// The script of bash hands the words to `compgen -W`, which runs commands inside them.
    @Test func noShellRunsAKey() async throws {
        let keys: JSONObject = [
            "a$(touch ran)": ["type": "string"], "a`touch ran`": ["type": "string"],
            "a;touch ran": ["type": "string"], "-a": ["type": "string"], "a.b": ["type": "string"],
        ]
        try vault.folder.write(
            JSONValue.object(["keys": .object(keys)]).serialized(), to: "schema.json")
        #expect(try await bash(["signet", "vault", "get", "a"]) == ["a.b"])
        #expect(try !vault.folder.contents().contains("ran"))
    }

    // MARK: - Shells that need a terminal

    private func type(into shell: [String]) async throws -> ProcessOutput {
        try await ChildProcess.run(
            "python3", ["-I", PythonPeer.script("completion")] + shell,
            environment: path.merging([
                "TERM": "xterm", "HOME": vault.folder.url.path, "ZDOTDIR": vault.folder.url.path,
                "SIGNET_KEYS": "keys", "SIGNET_APP_ID": "com.example.shop",
                "SIGNET_APP_VERSION": "1.9.0",
            ]) { $1 }, directory: vault.folder.url)
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh"), "zsh is there"))
    func zshCompletesAKey() async throws {
        try vault.folder.write(
            "fpath=(\"$PWD\" $fpath); autoload -Uz compinit; compinit -u -D; PS1='READY> '\n",
            to: ".zshrc")
        let output = try await type(into: ["zsh", "-i"])
        #expect(output.text.contains("\"partner.token\" is secret"), "\(output.text)")
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish"), "fish is there")
    )
    func fishCompletesAKey() async throws {
        let output = try await type(into: [
            "fish", "--no-config", "-i", "-C",
            "function fish_prompt; echo 'READY> '; end; source signet.fish",
        ])
        #expect(output.text.contains("\"partner.token\" is secret"), "\(output.text)")
    }
}
