import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault rekey` and `rebind --ratchet`, which seal a dump under another root.
@Suite struct VaultRekeyToolTests {
    static let old = ["--keys", "keys"]

    let fixture: VaultFixture
    var folder: TemporaryDirectory { fixture.folder }

    init() async throws {
        fixture = try await VaultFixture()
        try await fixture.newKey("v2", in: "new")
        fixture.expectDone(try await fixture.seal())
    }

    func rekey(
        _ target: [String], from key: [String] = old, environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await fixture.vault(
            ["rekey", "dump", "--json"] + VaultFixture.identity + key + target,
            environment: environment)
    }

    /// Gives the root of a key file further members.
    func amend(_ file: String, _ members: String) throws {
        let text = String(decoding: try folder.read(file), as: UTF8.self)
        try folder.write(
            text.replacing(#""use": "enc","#, with: #""use": "enc", \#(members),"#), to: file)
        #expect(try folder.read(file) != Array(text.utf8))
    }

    // MARK: - Another root

    @Test func anotherSetAnotherIDAndAPassphrase() async throws {
        try await fixture.newKey("v3", in: "new", append: true)
        let phrase = ["PHRASE": "correct horse"]
        var sequence: Int64 = 1
        for (key, target, opener, id) in [
            (Self.old, ["--to-keys", "new", "--to-key-id", "v2"], ["--keys", "new"], "v2"),
            (["--keys", "new"], ["--to-key-id", "v3"], ["--keys", "new"], "v3"),
            (
                ["--keys", "new"], ["--to-passphrase", "env:PHRASE"],
                ["--passphrase", "env:PHRASE"], "passphrase"
            ),
            (
                ["--passphrase", "env:PHRASE"], ["--to-keys", "keys"], ["--keys", "keys"], "v1"
            ),
        ] {
            let done = try await rekey(target, from: key, environment: phrase)
            fixture.expectDone(done)
            let told = try JSONValue(parsing: done.stdout)
            sequence += 1
            #expect(told["sequence"]?.number?.int64 == sequence && told["keyID"] == .string(id))
            #expect(told["changed"] == true && told["app"]?["version"] == "1.9.0")
            fixture.expectDone(try await fixture.open(opener, environment: phrase))
        }
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("dump"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
        #expect(
            try folder.contents() == ["defaults.json", "dump", "keys", "new", "schema.json"])
    }

    @Test func theSameAgainChangesNothing() async throws {
        fixture.expectDone(try await rekey(["--to-keys", "new"]))
        let dump = try folder.read("dump")
        let again = try await rekey(["--to-keys", "new"])
        fixture.expectDone(again)
        #expect(try JSONValue(parsing: again.stdout)["changed"] == false)
        #expect(try folder.read("dump") == dump)
    }

    @Test func anEndedKeyIsLeftAndNeverEntered() async throws {
        for (members, code, words) in [
            (#""revoked": true"#, "key-revoked", "\\\"v1\\\" is revoked"),
            (#""exp": 1000000000"#, "key-expired", "\\\"v1\\\" expired at 2001-09-09T01:46:40Z"),
        ] {
            try folder.write(try folder.read("keys"), to: "ended")
            try amend("ended", members)
            let ended = ["--keys", "ended"]
            for output in [
                try await fixture.open(ended, ["--json"]),
                try await fixture.vault(["export-key", "dump", "--json"] + ended),
                try await fixture.vault(VaultFixture.rebind + ended + ["--json"]),
                try await fixture.vault(VaultFixture.rebind + ended + ["--ratchet", "--json"]),
                try await fixture.seal(ended, out: "other", ["--json"]),
                try await rekey(["--to-keys", "new"], from: ended),
                try await rekey(["--to-keys", "ended", "--accept-ended-key"]),
            ] {
                try fixture.expect(output, exit: 1, code: code)
                #expect(output.text.contains(words), "\(output.text)")
            }
            fixture.expectDone(try await fixture.open(Self.old))
            fixture.expectDone(
                try await rekey(["--to-keys", "new", "--accept-ended-key"], from: ended))
            fixture.expectDone(try await rekey(["--to-keys", "keys"], from: ["--keys", "new"]))
        }
        try folder.write(try folder.read("keys"), to: "early")
        try amend("early", #""nbf": 4102444800"#)
        for output in [
            try await fixture.open(["--keys", "early"], ["--json"]),
            try await rekey(
                ["--to-keys", "new", "--accept-ended-key"], from: ["--keys", "early"]),
        ] {
            try fixture.expect(output, exit: 1, code: "key-not-yet-valid")
            #expect(output.text.contains("\\\"v1\\\" is valid from 2100-01-01T00:00:00Z"))
        }
    }

    @Test(arguments: [
        [], ["--to-keys", "new", "--to-passphrase", "env:X"], ["--to-key-id"],
        ["--to-passphrase", "-"], ["--to-passphrase", "env:NONE"],
    ])
    func wrongTargetsAreExit2(_ target: [String]) async throws {
        let before = try folder.read("dump")
        let output = try await rekey(target)
        #expect(output.exit == 2)
        #expect(try JSONValue(parsing: output.stdout)["error"]?["code"] != nil)
        #expect(try folder.read("dump") == before)
    }

    @Test func anUnopenedDumpStays() async throws {
        let before = try folder.read("dump")
        try await fixture.newKey("v1", in: "same-id")
        for (key, target, exit, code) in [
            (["--keys", "same-id"], ["--to-keys", "new"], 1, "wrong-key"),
            (["--keys", "new"], ["--to-keys", "keys"], 0, nil),
            (Self.old, ["--to-key-id", "v9"], 1, "unknown-key"),
            (Self.old, ["--to-keys", "none"], 2, "unreadable-keys"),
            (Self.old, ["--to-passphrase", "command:echo short"], 2, "weak-passphrase"),
        ] as [([String], [String], Int32, String?)] {
            let output = try await rekey(target, from: key)
            if let code {
                try fixture.expect(output, exit: exit, code: code)
            } else {
                // It is already under that root, with any old keys.
                #expect(try JSONValue(parsing: output.stdout)["changed"] == false)
            }
            #expect(try folder.read("dump") == before)
        }
    }

    // MARK: - The ratchet

    @Test func theRatchetForgetsTheOldRoot() async throws {
        let old = try folder.read("dump")
        let words = try await fixture.vault(VaultFixture.rebind + Self.old + ["--ratchet"])
        fixture.expectDone(words)
        #expect(words.text.contains("key v1+1 has taken the place of v1, which is gone from keys"))
        fixture.expectDone(try await fixture.open(Self.old, version: "1.10.0"))
        let new = try folder.read("dump")
        try folder.write(old, to: "dump")
        for accept in [[], ["--accept-app-version", "1.9.0"]] {
            try fixture.expect(
                try await fixture.open(Self.old + accept, version: "1.10.0", ["--json"]), exit: 1,
                code: accept.isEmpty ? "older-version" : "unknown-key")
        }
        try fixture.expect(
            try await fixture.open(Self.old + ["--json"]), exit: 1, code: "unknown-key")
        try folder.write(new, to: "dump")
        let next = try await fixture.vault(
            [
                "rebind", "dump", "--app-id", "com.example.shop", "--from-app-version", "1.10.0",
                "--to-app-version", "1.11.0", "--ratchet", "--to-key-id", "shop-2027", "--json",
            ] + Self.old)
        fixture.expectDone(next)
        let told = try JSONValue(parsing: next.stdout)
        #expect(told["keyID"] == "shop-2027" && told["forgottenKeyID"] == "v1+1")
        #expect(told["sequence"] == 3)
        #expect(
            try folder.contents() == ["defaults.json", "dump", "keys", "new", "schema.json"])
    }

    @Test func otherDumpsAreNamedFirst() async throws {
        try folder.write(try folder.read("dump"), to: "backup")
        let keys = try folder.read("keys")
        let ratchet = VaultFixture.rebind + Self.old + ["--ratchet", "--json"]
        let output = try await fixture.vault(ratchet)
        try fixture.expect(output, exit: 2, code: "locks-out-others")
        #expect(output.text.contains("backup"))
        #expect(try folder.read("keys") == keys)
        fixture.expectDone(try await fixture.open(Self.old))
        fixture.expectDone(try await fixture.vault(ratchet + ["--lock-out-others"]))
    }

    @Test func theRatchetNeedsAKeyFile() async throws {
        let set = String(decoding: try folder.read("keys"), as: UTF8.self)
        let environment = ["ROOTS": set, "PHRASE": "correct horse"]
        for arguments in [
            ["--ratchet", "--keys", "env:ROOTS"], ["--ratchet", "--keys", "command:cat keys"],
            ["--ratchet", "--keys", "fd:0"], ["--ratchet", "--passphrase", "env:PHRASE"],
            Self.old + ["--to-key-id", "x"], Self.old + ["--lock-out-others"], ["--ratchet"],
        ] {
            let output = try await fixture.vault(
                VaultFixture.rebind + arguments + ["--json"], environment: environment)
            try fixture.expect(output, exit: 2, code: "usage")
        }
        try folder.write(set, to: "keys", mode: 0o644)
        let output = try await fixture.vault(
            VaultFixture.rebind + Self.old + ["--ratchet", "--json"])
        try fixture.expect(output, exit: 2, code: "key-file-permissions")
        #expect(output.text.contains("chmod 600 keys"))
    }

    // MARK: - Keys

    /// One root, from each of its sources.
    @Test func everySourceGivesTheSameRoot() async throws {
        let set = String(decoding: try folder.read("keys"), as: UTF8.self)
        for source in ["keys", "./keys", "env:ROOTS", "command:cat keys", "credential:keys"] {
            let opened = try await fixture.open(
                ["--keys", source],
                environment: ["ROOTS": set, "CREDENTIALS_DIRECTORY": folder.path])
            #expect(opened.exit == 0, "\(source): \(opened.stderr)")
        }
        // A descriptor is read once: the second command finds nothing.
        let descriptor = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c",
                "exec 7<keys; \"$0\" vault open dump --keys fd:7 \"$@\" >opened || exit 9; "
                    + "exec \"$0\" vault open dump --keys fd:7 --json \"$@\"", SignetTool.url.path,
            ] + VaultFixture.identity, directory: folder.url)
        try fixture.expect(descriptor, exit: 2, code: "unreadable-keys")
        #expect(descriptor.text.contains("it can be read only once"))
        #expect(try folder.read("opened") == (try await fixture.open(Self.old)).stdout)
    }

    @Test(arguments: [
        ("31", "malformed-keys", 2), ("33", "malformed-keys", 2), ("0", "malformed-keys", 2),
        ("64", "malformed-keys", 2), ("sig", "wrong-key-use", 1),
    ])
    func refusesInvalidRoots(_ kind: String, _ code: String, _ exit: Int32) async throws {
        // The letters of so many bytes of zero.
        let count = kind == "sig" ? 32 : try #require(Int(kind))
        let k = String(repeating: "A", count: (count * 4 + 2) / 3)
        let use = kind == "sig" ? #""sig","alg":"HS256""# : #""enc""#
        try folder.write(
            #"{"keys":[{"kty":"oct","kid":"v1","use":\#(use),"k":"\#(k)"}]}"#, to: "bad")
        let before = try folder.read("dump")
        for output in [
            try await fixture.open(["--keys", "bad", "--json"]),
            try await fixture.seal(["--keys", "bad", "--key-id", "v1"], ["--json"]),
            try await rekey(["--to-keys", "bad", "--to-key-id", "v1"]),
            try await fixture.vault(VaultFixture.rebind + ["--keys", "bad", "--json"]),
        ] {
            try fixture.expect(output, exit: exit, code: code)
            if code == "malformed-keys", count > 0 {
                #expect(output.text.contains("\(count) bytes, expected 32"))
            }
        }
        #expect(try folder.read("dump") == before)
    }
}
