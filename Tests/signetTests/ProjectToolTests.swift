import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet.json`: found, named or refused, and the options that it fills in.
@Suite struct ProjectToolTests {
    private static let project: JSONObject = [
        "app": ["id": "com.example.shop", "version": "1.9.0"], "keys": "keys", "keyID": "v1",
        "schema": "schema.json", "defaults": "defaults.json", "dump": "dump",
    ]

    private let vault: EditableVault
    private var folder: TemporaryDirectory { vault.folder }

    init() async throws {
        vault = try await EditableVault()
        try write(Self.project)
    }

    private func write(
        _ project: JSONObject, to name: String = "signet.json", mode: Int = 0o644
    ) throws {
        try folder.write(JSONValue.object(project).text, to: name, mode: mode)
    }

    private func signet(
        _ arguments: String..., environment: [String: String] = [:], in subfolder: String = "."
    ) async throws -> ProcessOutput {
        let unset = [
            "SIGNET_PROJECT": "", "SIGNET_APP_ID": "", "SIGNET_APP_VERSION": "", "SIGNET_KEYS": "",
        ]
        return try await SignetTool.run(
            arguments, environment: unset.merging(environment) { $1 },
            directory: folder.url.appending(path: subfolder))
    }

    @Test func aDashIsAFileOfTheFolder() async throws {
        var project = Self.project
        project["dump"] = "-"
        try write(project)
        #expect(try await signet("vault", "get", "orders.host").exit == 2)
        try folder.write(folder.read("dump"), to: "-")
        let output = try await signet("vault", "get", "orders.host")
        #expect(output.text == "orders.example.com\n", "\(output.stderr)")
    }

    @Test func aKeyAloneIsEnough() async throws {
        let output = try await signet("vault", "get", "orders.host")
        #expect(output.text == "orders.example.com\n", "\(output.stderr)")
    }

    @Test func itIsFoundInAParent() async throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "a/b"), withIntermediateDirectories: true)
        let output = try await signet("vault", "get", "orders.host", in: "a/b")
        #expect(output.text == "orders.example.com\n", "\(output.stderr)")
    }

    @Test func everyVaultCommandTakesItsDump() async throws {
        for arguments in [
            ["open"], ["inspect"], ["export-key"], ["list"], ["export", "--public"], ["seal"],
            ["public"], ["set", "orders.attempts=4"], ["rekey", "--to-key-id", "v1"],
            ["rebind", "--from-app-version", "1.9.0", "--to-app-version", "1.9.0"],
        ] {
            let output = try await SignetTool.run(
                ["vault"] + arguments, directory: folder.url)
            #expect(output.exit == 0, "\(arguments): \(output.stderr)")
        }
    }

    @Test func anotherDumpIsAnOptionOrStandardInput() async throws {
        try await vault.seal("other")
        let set = try await signet("vault", "set", "orders.host=b", "--dump", "other")
        #expect(set.exit == 0, "\(set.stderr)")
        #expect(
            try await signet("vault", "get", "orders.host", "--dump", "other").text == "b\n")
        let piped = try await SignetTool.run(
            ["vault", "get", "orders.host", "--dump", "-"], stdin: try folder.read("other"),
            directory: folder.url)
        #expect(piped.text == "b\n", "\(piped.stderr)")
    }

    @Test func noneIgnoresIt() async throws {
        for environment in [["SIGNET_PROJECT": "none"], [:]] {
            let more = environment.isEmpty ? ["--project", "none"] : []
            let output = try await SignetTool.run(
                ["vault", "open", "dump", "--json"] + more, environment: environment,
                directory: folder.url)
            try expect(output, exit: 2, code: "usage")
        }
    }

    @Test func anOptionWinsThenTheEnvironmentThenTheFile() async throws {
        try write(Self.project.merged(["app": ["id": "file", "version": "3"], "keys": "nowhere"]))
        let right = [
            "SIGNET_APP_ID": "com.example.shop", "SIGNET_APP_VERSION": "1.9.0",
            "SIGNET_KEYS": "keys",
        ]
        #expect(try await signet("vault", "open", environment: right).exit == 0)
        let wrong = ["SIGNET_APP_ID": "environment", "SIGNET_KEYS": "keys"]
        let refused = try await signet("vault", "open", "--json", environment: wrong)
        try expect(refused, exit: 1, code: "wrong-app")
        #expect(refused.text.contains("environment"))
        let given = try await signet(
            "vault", "open", "--app-id", "com.example.shop", "--app-version", "1.9.0",
            environment: wrong)
        #expect(given.exit == 0, "\(given.stderr)")
        let unset = try await signet("vault", "open", "--keys", "keys", "--json")
        try expect(unset, exit: 1, code: "wrong-app")
        #expect(unset.text.contains("file"))
    }

    @Test func aNamedFileWinsOverTheOneThatIsFound() async throws {
        try write(Self.project.merged(["dump": "nowhere"]))
        try write(Self.project, to: "other.json")
        #expect(try await signet("vault", "open", "--project", "other.json").exit == 0)
        #expect(
            try await signet("vault", "open", environment: ["SIGNET_PROJECT": "other.json"]).exit
                == 0)
        try expect(
            try await signet("vault", "open", "--project", "nothing.json", "--json"), exit: 2,
            code: "unreadable-file")
    }

    @Test(arguments: [0o646, 0o664, 0o666])
    func aFileThatOthersMayWriteIsRefused(_ mode: Int) async throws {
        try write(Self.project, mode: mode)
        let output = try await signet("vault", "open", "--json")
        try expect(output, exit: 2, code: "project-file-permissions")
        #expect(output.text.contains("chmod go-w signet.json"))
    }

    @Test(.enabled(if: getuid() == 0)) func anotherUsersFileIsRefused() async throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: 65534], ofItemAtPath: folder.path("signet.json"))
        let output = try await signet("vault", "open", "--json")
        try expect(output, exit: 2, code: "project-file-permissions")
    }

    @Test(arguments: ["command:cat keys", "fd:3"])
    func sourcesThatRunOrReadSomethingElseAreRefused(_ source: String) async throws {
        for member in ["keys", "passphrase"] {
            var project = Self.project
            project["keys"] = nil
            project[member] = .string(source)
            try write(project)
            let output = try await signet("vault", "open", "--json")
            try expect(output, exit: 2, code: "malformed-input")
            #expect(output.text.contains(member))
            #expect(!output.text.contains("cat keys"))
        }
    }

    /// Swift takes the colon and the mark for one character, `sh` and the parser don't.
    @Test(
        arguments: ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}"],
        ["command:%; touch ran", "fd:%3", "command%:x", "command:%"])
    func noMarkHidesTheKindOfASource(_ mark: String, _ form: String) async throws {
        let source = form.replacing("%", with: mark)
        for member in ["keys", "passphrase"] {
            var project = Self.project
            project["keys"] = nil
            project[member] = .string(source)
            try write(project)
            for command in [
                ["vault", "list"], ["exec", "--", "true"], ["self-check", "--offline"],
            ] {
                let output = try await SignetTool.run(command, directory: folder.url)
                #expect(output.exit != 0, "\(output.text)")
                #expect(!output.stderr.contains("sh: "), "\(output.stderr)")
            }
        }
        #expect(!(try folder.contents()).contains("ran"))
    }

    /// The folder's name and the file's make no other source.
    @Test(arguments: ["env:x", "command:touch ran;", "fd:3"])
    func noFolderMakesAnotherSource(_ name: String) async throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: name), withIntermediateDirectories: true)
        for file in ["signet.json", "keys", "schema.json", "dump"] {
            try folder.write(folder.read(file), to: "\(name)/\(file)", mode: 0o600)
        }
        let output = try await signet(
            "vault", "get", "orders.host", "--project", "\(name)/signet.json")
        #expect(output.text == "orders.example.com\n", "\(output.stderr)")
        #expect(!(try folder.contents()).contains("ran"))
    }

    @Test(arguments: [
        #"{"unknown":1}"#, #"{"token":"ZZZZZZ"}"#, #"{"keys":1}"#, #"{"system":"1"}"#,
        #"{"system":{"id":"a"}}"#, #"{"system":{"version":"1"},"systemVersion":"1"}"#,
        #"{"app":{"id":"a"}}"#, "[]", "", #"{"keys":"a","keys":"b"}"#,
    ])
    func refusesInvalidProjects(_ text: String) async throws {
        try folder.write(text, to: "signet.json")
        let output = try await signet("vault", "open", "--json")
        try expect(output, exit: 2, code: "malformed-input")
        #expect(output.text.contains("signet.json"))
    }

    @Test func aFoundProjectGivesNoPolicySchemeOrKeys() async throws {
        try write(
            Self.project.merged([
                "policy": "policy.json", "scheme": "rfc9421", "keys": "signing",
            ]))
        try folder.write("{}", to: "policy.json")
        let made = try await vault.run(
            ["keys", "new", "--type", "hmac", "--id", "k", "--out", "signing"])
        #expect(made.exit == 0)
        let message = Array("GET / HTTP/1.1\nHost: a.example\n\n".utf8)
        let unnamed = try await SignetTool.run(
            ["verify", "--json"], stdin: message, directory: folder.url)
        try expect(unnamed, exit: 2, code: "usage")
        let named = try await SignetTool.run(
            ["verify", "--project", "signet.json", "--json"], stdin: message, directory: folder.url)
        // There is no signature: the scheme and the keys were read.
        #expect(named.exit != 0 && !named.text.contains("missing --"), "\(named.text)")
        for command in [
            ["pins", "check", "https://localhost:1"], ["call", "https://localhost:1", "a"],
        ] {
            let found = try await SignetTool.run(
                command + ["--json"], directory: folder.url)
            #expect(!found.text.contains("malformed-policy"), "\(found.text)")
            let explicit = try await SignetTool.run(
                command + ["--project", "signet.json", "--json"], directory: folder.url)
            try expect(explicit, exit: 2, code: "malformed-policy")
        }
    }

    @Test func mergeUsesOnlyTheKeys() async throws {
        try vault.copy(to: "base")
        try vault.copy(to: "theirs")
        let set = try await signet("vault", "set", "orders.attempts=4", "--dump", "theirs")
        #expect(set.exit == 0, "\(set.stderr)")
        try write(Self.project.merged(["app": ["id": "com.example.shop", "version": "9.0.0"]]))
        let merged = try await signet("vault", "merge", "base", "dump", "theirs")
        #expect(merged.exit == 0, "\(merged.stderr)")
    }
}

extension JSONObject {
    /// These members, with others in the place of those of the same name.
    fileprivate func merged(_ others: JSONObject) -> JSONObject {
        var object = self
        for (name, value) in others { object[name] = value }
        return object
    }
}
