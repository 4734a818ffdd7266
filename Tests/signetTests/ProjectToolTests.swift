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
        try await trust()
    }

    private func trust() async throws {
        let output = try await signet("project", "trust")
        #expect(output.exit == 0, "\(output.stderr)")
    }

    /// Runs the tool with the folder as the home folder, which has the list of trusted folders.
    private func run(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:],
        directory: URL? = nil
    ) async throws -> ProcessOutput {
        let usual = [
            "SIGNET_PROJECT": "", "SIGNET_APP_ID": "", "SIGNET_APP_VERSION": "", "SIGNET_KEYS": "",
            "HOME": folder.url.path, "XDG_CONFIG_HOME": folder.path("config"),
        ]
        return try await SignetTool.run(
            arguments, stdin: stdin, environment: usual.merging(environment) { $1 },
            directory: directory ?? folder.url)
    }

    private func write(
        _ project: JSONObject, to name: String = "signet.json", mode: Int = 0o644
    ) throws {
        try folder.write(JSONValue.object(project).text, to: name, mode: mode)
    }

    private func signet(
        _ arguments: String..., environment: [String: String] = [:], in subfolder: String = "."
    ) async throws -> ProcessOutput {
        try await run(
            arguments, environment: environment, directory: folder.url.appending(path: subfolder))
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

    @Test func itIsFoundInAParentOfTheSameTree() async throws {
        let sub = folder.url.appending(path: "a/b/.git")
        try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
        let other = try await signet("vault", "get", "orders.host", in: "a/b")
        #expect(other.exit == 2, "the search ends at the top of a git work tree")
        let outside = try await run(
            ["vault", "get", "orders.host"], environment: ["HOME": "/nowhere"],
            directory: folder.url.appending(path: "a"))
        #expect(outside.exit == 2, "the search needs a git work tree or the home folder")
        try FileManager.default.removeItem(at: sub)
        let found = try await signet("vault", "get", "orders.host", in: "a/b")
        #expect(found.exit == 0, "\(found.stderr)")
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
            let output = try await run(
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
        let piped = try await run(
            ["vault", "get", "orders.host", "--dump", "-"], stdin: try folder.read("other"),
            directory: folder.url)
        #expect(piped.text == "b\n", "\(piped.stderr)")
    }

    @Test func noneIgnoresIt() async throws {
        for environment in [["SIGNET_PROJECT": "none"], [:]] {
            let more = environment.isEmpty ? ["--project", "none"] : []
            let output = try await run(
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

    /// It isn't used: another user could have put it there, or changed it.
    private func expectLeftOut(_ reason: String) async throws {
        let missing = try await signet("vault", "open", "--json")
        try expect(missing, exit: 2, code: "usage")
        #expect(missing.text.contains(reason) && missing.text.contains("--project"))
        let named = try await signet("vault", "open", "--project", "signet.json", "--json")
        try expect(named, exit: 2, code: "project-file-permissions")
        // The options that are given are enough.
        let given = try await run(["vault", "open", "dump"] + EditableVault.keys)
        #expect(given.exit == 0, "\(given.stderr)")
    }

    @Test(arguments: [0o646, 0o666])
    func aFileThatOthersMayWriteIsLeftOut(_ mode: Int) async throws {
        try write(Self.project, mode: mode)
        try await expectLeftOut("chmod go-w signet.json")
    }

    @Test(.enabled(if: getuid() == 0)) func anotherUsersFileIsLeftOut() async throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: 65534], ofItemAtPath: folder.path("signet.json"))
        try await expectLeftOut("user 65534's file")
        try FileManager.default.setAttributes(
            [.ownerAccountID: 0, .groupOwnerAccountID: 65534],
            ofItemAtPath: folder.path("signet.json"))
        try write(Self.project, mode: 0o664)
        try FileManager.default.setAttributes(
            [.groupOwnerAccountID: 65534], ofItemAtPath: folder.path("signet.json"))
        try await expectLeftOut("others than its owner")
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
                let output = try await run(command, directory: folder.url)
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

    /// A policy can only refuse more, so it needs no trust; CAs of its own do.
    @Test func thePolicyOfAFoundProjectIsUsed() async throws {
        try write(Self.project.merged(["policy": "policy.json"]))
        for command in [
            ["pins", "check", "https://localhost:1"], ["call", "https://localhost:1", "a"],
        ] {
            try folder.write(#"{"hosts":{}}"#, to: "policy.json")
            let refused = try await run(command + ["--json"])
            #expect(refused.exit == 1 && refused.text.contains("unlisted"), "\(refused.text)")
            let authority = try TestAuthority.trusted.get()
            try folder.write(Data(contentsOf: URL(filePath: authority.caFile)), to: "ca.pem")
            try folder.write(
                #"{"hosts":{"localhost":{"pins":["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="],"caFile":"ca.pem"}}}"#,
                to: "policy.json")
            let untrusted = try await run(command + ["--json"])
            #expect(untrusted.exit == 2, "\(untrusted.text)")
            #expect(untrusted.text.contains("signet project trust"), "\(untrusted.text)")
            let given = try await run(command + ["--policy", "policy.json", "--json"])
            #expect(given.exit == 3, "an option is trusted, and nothing listens: \(given.text)")
        }
    }

    @Test func aFoundProjectVerifiesOnlyIfItIsTrusted() async throws {
        let made = try await vault.run(
            ["keys", "new", "--type", "hmac", "--id", "k", "--out", "signing"])
        #expect(made.exit == 0)
        try write(Self.project.merged(["scheme": "rfc9421", "keys": "signing"]))
        let message = Array("GET / HTTP/1.1\nHost: a.example\n\n".utf8)
        for command in [["verify"], ["sign"]] {
            let untrusted = try await run(command + ["--json"], stdin: message)
            try expect(untrusted, exit: 2, code: "usage")
            #expect(untrusted.text.contains("signet project trust"))
            let named = try await run(
                command + ["--project", "signet.json", "--json"], stdin: message)
            #expect(!named.text.contains("missing --"), "\(named.text)")
        }
        try await trust()
        #expect(try await run(["sign"], stdin: message).exit == 0)
    }

    // MARK: - Trust

    private static let actions = [
        ["exec", "--", "true"], ["vault", "set", "orders.attempts=4"], ["vault", "seal"],
        ["vault", "rekey", "--to-key-id", "v1"],
        ["vault", "rebind", "--to-app-version", "2"], ["vault", "merge", "dump", "dump", "dump"],
    ]

    @Test(arguments: actions) func actsOnlyByATrustedProject(_ command: [String]) async throws {
        let untrust = try await signet("project", "untrust")
        #expect(untrust.exit == 0)
        let before = try folder.read("dump")
        let output = try await run(command + (command[0] == "exec" ? [] : ["--json"]))
        #expect(output.exit == 2, "\(output.text)")
        #expect((output.stderr + output.text).contains("signet project trust"), "\(output.stderr)")
        #expect(try folder.read("dump") == before)
        // Reading needs none.
        #expect(try await signet("vault", "get", "orders.host").exit == 0)
    }

    @Test func aChangeEndsTheTrust() async throws {
        #expect(try await run(["exec", "--", "true"]).exit == 0)
        try write(Self.project.merged(["state": "state"]))
        let changed = try await run(["exec", "--", "true"])
        #expect(changed.exit == 2)
        let shown = try await signet("project", "show")
        #expect(shown.text.contains("no longer trusted") && shown.text.contains("\"state\""))
        let got = try await signet("vault", "get", "orders.host")
        #expect(got.exit == 0, "\(got.stderr)")
        #expect(!(try folder.contents()).contains("state"))
        try write(Self.project)
        #expect(try await run(["exec", "--", "true"]).exit == 0)
        // Another root, in the place of the one that was trusted.
        try folder.write(folder.read("keys"), to: "old")
        try FileManager.default.removeItem(atPath: folder.path("keys"))
        let made = try await vault.run(
            ["keys", "new", "--type", "vault", "--id", "v1", "--out", "keys"])
        #expect(made.exit == 0)
        let root = try await run(["exec", "--", "true"])
        #expect(root.exit == 2 && root.stderr.contains("project trust"), "\(root.stderr)")
    }

    @Test func theTrustOfAFolderIsNotThatOfTheFoldersBelow() async throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "sub"), withIntermediateDirectories: true)
        for name in ["signet.json", "keys", "schema.json", "dump"] {
            try folder.write(folder.read(name), to: "sub/\(name)", mode: 0o600)
        }
        let output = try await run(
            ["exec", "--", "true"], directory: folder.url.appending(path: "sub"))
        #expect(output.exit == 2 && output.stderr.contains("project trust"), "\(output.stderr)")
    }

    /// `rebind` and `rekey` change the file, and the trust stays.
    @Test func itsOwnCommandsKeepTheFileTrue() async throws {
        let rebound = try await run(["vault", "rebind", "--to-app-version", "2.0.0"])
        #expect(rebound.exit == 0, "\(rebound.stderr)")
        #expect(try await run(["exec", "--", "true"]).exit == 0)
        let again = try await run(["vault", "rebind", "--to-app-version", "2.0.0"])
        #expect(again.exit == 0 && again.text.contains("already"), "\(again.stderr)")
        let wrong = try await run(
            ["vault", "rebind", "--from-app-version", "1.9.0", "--to-app-version", "3.0.0"])
        #expect(wrong.exit == 1, "\(wrong.stderr)")
        let made = try await vault.run(
            ["keys", "new", "--type", "vault", "--id", "v2", "--out", "next"])
        #expect(made.exit == 0)
        let rekeyed = try await run(["vault", "rekey", "--to-keys", "next"])
        #expect(rekeyed.exit == 0, "\(rekeyed.stderr)")
        let project = try JSONValue(parsing: Array(folder.read("signet.json")))
        #expect(project["keyID"] == "v2" && project["keys"] == "next")
        #expect(project["app"]?["version"] == "2.0.0")
        #expect(try await run(["exec", "--", "true"]).exit == 0)
        // A source that a file which is found may not name is left out, and that is said.
        let text = String(decoding: try folder.read("keys"), as: UTF8.self)
        let moved = try await run(
            ["vault", "rekey", "--to-keys", "env:ROOTS"], environment: ["ROOTS": text])
        #expect(moved.exit == 0 && moved.stderr.contains("--keys"), "\(moved.stderr)")
        #expect(try JSONValue(parsing: Array(folder.read("signet.json")))["keys"] == nil)
    }

    /// Paths that would lead a command out of the repository.
    @Test(arguments: ["/etc/passwd", "../out", "a/../../out", "link", "linked/dump", "~/dump", "."])
    func pathsOfAFoundFileStayInItsFolder(_ path: String) async throws {
        let outside = try TemporaryDirectory()
        try outside.write(folder.read("dump"), to: "dump")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: outside.path("dump"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("linked"), withDestinationPath: outside.url.path)
        for member in ["dump", "schema", "defaults", "state", "policy", "caFile", "lastGood"] {
            try write(Self.project.merged([member: .string(path)]))
            let output = try await signet("vault", "list", "--json")
            try expect(output, exit: 2, code: "malformed-input")
            #expect(output.text.contains(member), "\(output.text)")
        }
    }

    @Test(arguments: ["env:KEYS", "env:"])
    func aFoundFileNamesNoVariable(_ source: String) async throws {
        for member in ["keys", "passphrase"] {
            try write(Self.project.merged(["keys": "keys", member: .string(source)]))
            let output = try await signet("vault", "open", "--json")
            try expect(output, exit: 2, code: "malformed-input")
        }
        try write(Self.project.merged(["keys": "env:KEYS"]))
        let keys = String(decoding: try folder.read("keys"), as: UTF8.self)
        let named = try await signet(
            "vault", "open", "--project", "signet.json", environment: ["KEYS": keys])
        #expect(named.exit == 0, "\(named.stderr)")
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
