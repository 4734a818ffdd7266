import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault merge`, called directly and as the merge driver of git.
@Suite struct VaultMergeToolTests {
    let vault: EditableVault

    init() async throws {
        vault = try await EditableVault()
        for name in ["base", "ours", "theirs"] { try vault.copy(to: name) }
    }

    private func merge(
        _ more: [String] = [], files: [String] = ["base", "ours", "theirs"]
    ) async throws -> ProcessOutput {
        try await vault.vault(["merge"] + files + ["--keys", "keys"] + more)
    }

    private func change(
        _ file: String, _ arguments: [String], stdin: String = ""
    ) async throws {
        let output = try await vault.set(arguments, on: file, stdin: stdin)
        #expect(output.exit == 0, "\(output.stderr)")
    }

    /// Refused, with our dump unchanged and no other file.
    private func expectRefused(
        _ more: [String] = [], files: [String] = ["base", "ours", "theirs"], exit: Int32,
        code: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = (try vault.folder.read("ours"), try vault.folder.contents())
        try expect(
            try await merge(more + ["--json"], files: files), exit: exit, code: code, at: location)
        let words = try await merge(more, files: files)
        #expect(words.exit == exit && words.stdout.isEmpty, sourceLocation: location)
        #expect(try vault.folder.read("ours") == before.0, sourceLocation: location)
        #expect(try vault.folder.contents() == before.1, sourceLocation: location)
    }

    // MARK: - By hand

    @Test func takesEachKeyFromTheSideThatChangedIt() async throws {
        try await change("ours", ["orders.attempts=4"])
        #expect(try await vault.unset(["orders.timeout"], on: "ours").exit == 0)
        try await change(
            "theirs", ["partner.token=-", "orders.note=new"], stdin: "ZZZZZZtheirsZZZZZZ")
        try await change("theirs", ["orders.note=newer"])
        let theirs = try vault.folder.read("theirs")
        let output = try await merge()
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(
            output.text
                == "changed partner.token\nadded orders.note\nmerged ours (sequence 4)\n")
        let inside = try await vault.inside("ours")
        #expect(
            inside["values"] == [
                "orders.host": "orders.example.com", "orders.attempts": 4,
                "partner.token": "ZZZZZZtheirsZZZZZZ", "orders.note": "newer",
            ])
        #expect(inside["sequence"] == 4)
        #expect(try vault.folder.read("theirs") == theirs)
        // Another salt: only the binding is the same as in either dump's header.
        #expect(try vault.folder.read("ours") != theirs)
    }

    @Test func namesConflictsAndWritesNothing() async throws {
        try await change(
            "ours", ["partner.token=-", "orders.attempts=4"], stdin: "ZZZZZZoursZZZZZZ")
        try await change("theirs", ["partner.token=-"], stdin: "ZZZZZZt")
        #expect(try await vault.unset(["orders.attempts"], on: "theirs").exit == 0)
        try await expectRefused(exit: 1, code: "merge-conflict")
        let json = try JSONValue(parsing: try await merge(["--json"]).stdout)
        #expect(
            json["error"]?["conflicts"] == [
                ["key": "orders.attempts", "ours": "changed", "theirs": "removed"],
                ["key": "partner.token", "ours": "changed", "theirs": "changed"],
            ])
        let words = try await merge(["--name", "config/shop.signet"])
        #expect(
            words.stderr.contains(
                #"conflict: "orders.attempts": changed by ours, removed by theirs"#))
        #expect(words.stderr.contains("config/shop.signet: 2 keys are in conflict"))
    }

    @Test func settlesConflictsAsAsked() async throws {
        try await change("ours", ["orders.note=ours", "orders.attempts=4"])
        try await change(
            "theirs", ["orders.note=theirs", "orders.attempts=5", "orders.timeout=9s"])
        try await expectRefused(
            ["--take", "orders.note=theirs"], exit: 1, code: "merge-conflict")
        for (options, note, attempts) in [
            (["--prefer", "ours"], "ours", 4), (["--prefer", "theirs"], "theirs", 5),
            (["--prefer", "ours", "--take", "orders.note=theirs"], "theirs", 4),
            (["--take", "orders.attempts=theirs", "--take", "orders.note=ours"], "ours", 5),
        ] as [([String], JSONValue, JSONValue)] {
            try vault.copy("ours", to: "copy")
            let output = try await merge(options, files: ["base", "copy", "theirs"])
            #expect(output.exit == 0, "\(output.stderr)")
            let values = try await vault.inside("copy")["values"]
            #expect(values?["orders.note"] == note && values?["orders.attempts"] == attempts)
            #expect(values?["orders.timeout"] == "9s")
        }
        try await expectRefused(["--take", "nothing=ours"], exit: 2, code: "usage")
    }

    @Test func withoutAnAncestor() async throws {
        try vault.folder.write("", to: "base")
        try await change("theirs", ["orders.note=new"])
        #expect(try await merge().exit == 0)
        #expect(try await vault.inside("ours")["values"]?["orders.note"] == "new")
        try await change("ours", ["orders.attempts=1"])
        try await expectRefused(exit: 1, code: "merge-conflict")
        try await expectRefused(
            files: ["/dev/null", "ours", "theirs"], exit: 1, code: "merge-conflict")
    }

    @Test func sidesThatAreTheSameStayUntouched() async throws {
        let before = try vault.folder.read("ours")
        #expect(try await merge().exit == 0)
        #expect(try vault.folder.read("ours") == before)
    }

    @Test func theAncestorMayBeOfAnOlderVersion() async throws {
        for file in ["ours", "theirs"] {
            let rebound = try await vault.vault([
                "rebind", file, "--keys", "keys", "--app-id", "com.example.shop",
                "--from-app-version", "1.9.0", "--to-app-version", "2",
            ])
            #expect(rebound.exit == 0)
        }
        #expect(try await merge(["--app-version", "2"]).exit == 0)
        try await expectRefused(["--app-version", "1.9.0"], exit: 1, code: "newer-version")
    }

    @Test func refusesSidesThatDoNotBelongTogether() async throws {
        func other(_ keys: [String]) async throws {
            try FileManager.default.removeItem(atPath: vault.folder.path("theirs"))
            try await vault.seal("theirs", keys: keys)
        }
        func identity(_ app: String, _ version: String) -> [String] {
            ["--keys", "keys", "--app-id", app, "--app-version", version]
        }
        try await other(identity("com.example.shop", "1.10.0"))
        try await expectRefused(exit: 1, code: "newer-version")
        try await other(identity("com.example.shop", "1.8.0"))
        try await expectRefused(exit: 1, code: "older-version")
        try await other(identity("com.example.shop", "1.9.0-rc"))
        try await expectRefused(exit: 1, code: "other-version")
        try await other(identity("com.example.other", "1.9.0"))
        try await expectRefused(exit: 1, code: "wrong-app")
        try await expectRefused(["--app-id", "x"], exit: 1, code: "wrong-app")
        try await other(EditableVault.keys + ["--system-version", "99"])
        try await expectRefused(exit: 1, code: "newer-version")

        _ = try await vault.run(
            ["keys", "new", "--type", "vault", "--id", "v2", "--out", "keys", "--append"])
        try FileManager.default.removeItem(atPath: vault.folder.path("theirs"))
        let sealed = try await vault.vault(
            ["seal", "--schema", "schema.json", "--defaults", "defaults.json", "--key-id", "v2"]
                + EditableVault.keys + ["--out", "theirs"])
        #expect(sealed.exit == 0, "\(sealed.stderr)")
        try await expectRefused(exit: 1, code: "other-key")

        _ = try await vault.run(["keys", "new", "--type", "vault", "--id", "v1", "--out", "k2"])
        try await other(["--keys", "k2"] + EditableVault.identity)
        try await expectRefused(exit: 1, code: "wrong-key")
    }

    @Test func refusesInvalidAndChangedDumps() async throws {
        try vault.folder.write("plain text", to: "text")
        try await expectRefused(files: ["text", "ours", "theirs"], exit: 2, code: "malformed-dump")
        try await expectRefused(files: ["base", "ours", "text"], exit: 2, code: "malformed-dump")
        try await expectRefused(files: ["base", "text", "theirs"], exit: 2, code: "malformed-dump")
        try await expectRefused(
            files: ["none", "ours", "theirs"], exit: 2, code: "unreadable-file")
        var bytes = try vault.folder.read("theirs")
        bytes[bytes.count - 40] ^= 1
        for name in ["base", "theirs"] {
            try vault.copy(to: "base")
            try vault.copy(to: "theirs")
            try vault.folder.write(bytes, to: name)
            let output = try await merge(["--json"])
            #expect(output.exit == 1 || output.exit == 2)
            #expect(output.text.contains("tampered") || output.text.contains("malformed-dump"))
        }
    }

    @Test func checksTheResult() async throws {
        try await change("theirs", ["orders.attempts=5"])
        try vault.folder.write(
            EditableVault.schema.replacing(#""maximum":5"#, with: #""maximum":4"#),
            to: "narrow.json")
        try await expectRefused(["--schema", "narrow.json"], exit: 2, code: "out-of-range")
        #expect(try await merge(["--schema", "schema.json"]).exit == 0)
    }

    // MARK: - In git

    private func git(
        _ arguments: [String], under tracer: [String] = []
    ) async throws -> ProcessOutput {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let command =
            tracer + ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"] + arguments
        return try await ChildProcess.run(
            command[0], Array(command.dropFirst()),
            environment: [
                "PATH": SignetTool.url.deletingLastPathComponent().path + ":" + path,
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
                "TMPDIR": vault.folder.path("tmp"), "LC_ALL": "C",
            ].merging(FaultInjection.environment) { own, _ in own },
            directory: vault.folder.url)
    }

    /// A repository with the dump on two branches, `main` and `other`, and the driver set up.
    private func makeRepository() async throws {
        try FileManager.default.createDirectory(
            atPath: vault.folder.path("tmp"), withIntermediateDirectories: false)
        try vault.folder.write(
            "dump merge=signet diff=signet\n", to: ".gitattributes")
        try vault.folder.write("*\n!dump\n!.gitattributes\n", to: ".gitignore")
        for arguments in [
            ["init", "-q", "-b", "main"],
            [
                "config", "merge.signet.driver",
                "signet vault merge %O %A %B --name %P --keys keys",
            ],
            [
                "config", "diff.signet.textconv",
                "signet vault diff --textconv --keys keys --schema schema.json",
            ],
            ["add", "dump", ".gitattributes"], ["commit", "-qm", "one"], ["branch", "other"],
        ] {
            let output = try await git(arguments)
            #expect(output.exit == 0, "\(output.stderr)")
        }
    }

    private func commit(_ branch: String, _ set: [String], stdin: String = "") async throws {
        #expect(try await git(["checkout", "-q", branch]).exit == 0)
        try await change("dump", set, stdin: stdin)
        #expect(try await git(["commit", "-qam", branch]).exit == 0)
    }

    /// Every file below the folder whose bytes hold a canary, but the inputs.
    private func filesWithCanary() throws -> [String] {
        let canary = Array("ZZZZZZ".utf8)
        var found: [String] = []
        let files = FileManager.default.enumerator(atPath: vault.folder.path)
        while let name = files?.nextObject() as? String {
            guard name != "defaults.json", let bytes = try? vault.folder.read(name) else {
                continue
            }
            // Base64url may hold two capitals by chance; all canaries are longer.
            if bytes.firstRange(of: canary + Array("canary".utf8)) != nil { found.append(name) }
        }
        return found
    }

    @Test func mergesTwoBranchesWithoutPlaintext() async throws {
        try await makeRepository()
        try await commit("main", ["partner.token=-"], stdin: "ZZZZZZcanaryMainZZZZZZ")
        try await commit("other", ["orders.attempts=4", "orders.note=other"])
        #expect(try await git(["checkout", "-q", "main"]).exit == 0)
        let hasTracer = (try? await ChildProcess.run("strace", ["-V"]))?.exit == 0
        let tracer =
            hasTracer
            ? ["strace", "-f", "-q", "-s", "1048576", "-o", "trace", "-e", "trace=%file,%desc"] : []
        let merged = try await git(["merge", "-q", "--no-edit", "other"], under: tracer)
        #expect(merged.exit == 0, "\(merged.stderr)\(merged.text)")
        if hasTracer {
            // The files that git and Signet wrote; the sealed dumps and keys are only read.
            let trace = String(decoding: try vault.folder.read("trace"), as: UTF8.self)
            #expect(trace.contains("signet") && trace.contains("rename"))
            #expect(!trace.contains("canary"))
        }
        let values = try await vault.inside()["values"]
        #expect(
            values?["partner.token"] == "ZZZZZZcanaryMainZZZZZZ" && values?["orders.attempts"] == 4)
        #expect(try await vault.inside()["sequence"] == 3)
        #expect(try filesWithCanary() == [])
        #expect(try await git(["status", "--porcelain"]).text == "")
    }

    @Test func aConflictInGitNamesKeysAndKeepsOurs() async throws {
        try await makeRepository()
        try await commit(
            "other", ["partner.token=-", "orders.note=x"], stdin: "ZZZZZZcanaryOtherZZZZZZ")
        try await commit("main", ["partner.token=-"], stdin: "ZZZZZZcanaryMainZZZZZZ")
        let ours = try vault.folder.read("dump")
        let merged = try await git(["merge", "--no-edit", "other"])
        #expect(merged.exit == 1)
        #expect(merged.stderr.contains(#"conflict: "partner.token": changed on both sides"#))
        #expect(!(merged.stderr + merged.text).contains("ZZZZZZ"))
        #expect(try vault.folder.read("dump") == ours)
        #expect(try await git(["status", "--porcelain"]).text == "UU dump\n")
        #expect(try filesWithCanary() == [])
        // Settled as the guide says.
        for (stage, name) in [("1", "base"), ("3", "theirs")] {
            try vault.folder.write(try await git(["show", ":\(stage):dump"]).stdout, to: name)
        }
        let settled = try await merge(
            ["--take", "partner.token=theirs"], files: ["base", "dump", "theirs"])
        #expect(settled.exit == 0, "\(settled.stderr)")
        #expect(try await git(["commit", "-qam", "merged"]).exit == 0)
        #expect(try await vault.inside()["values"]?["partner.token"] == "ZZZZZZcanaryOtherZZZZZZ")
    }

    @Test func aFileAddedOnBothBranchesHasNoAncestor() async throws {
        try await makeRepository()
        _ = try await git(["rm", "-q", "--cached", "dump"])
        _ = try await git(["commit", "-qm", "none"])
        _ = try await git(["branch", "-f", "other"])
        for (branch, set) in [("main", "orders.attempts=3"), ("other", "orders.note=new")] {
            #expect(try await git(["checkout", "-q", branch]).exit == 0)
            try vault.copy("base", to: "dump")
            _ = try await vault.set([set])
            _ = try await git(["add", "-f", "dump"])
            #expect(try await git(["commit", "-qm", branch]).exit == 0)
        }
        #expect(try await git(["checkout", "-q", "main"]).exit == 0)
        let merged = try await git(["merge", "-q", "--no-edit", "other"])
        #expect(merged.exit == 0, "\(merged.stderr)\(merged.text)")
        #expect(try await vault.inside()["values"]?["orders.note"] == "new")
    }

    @Test func gitDiffShowsThatASecretChangedAndNotWhat() async throws {
        try await makeRepository()
        try await change(
            "dump", ["partner.token=-", "orders.attempts=4"], stdin: "ZZZZZZcanaryNewZZZZZZ")
        let diff = try await git(["diff", "dump"])
        #expect(diff.exit == 0 && !diff.text.contains("ZZZZZZ"), "\(diff.stderr)")
        #expect(diff.text.contains("\n-orders.attempts (defaults) 3\n"))
        #expect(diff.text.contains("\n+orders.attempts (defaults) 4\n"))
        #expect(diff.text.contains("-partner.token (defaults) secret "))
        #expect(diff.text.contains("+partner.token (defaults) secret "))
    }
}
