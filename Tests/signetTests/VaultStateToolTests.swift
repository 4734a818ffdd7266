import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault … --state`, which detects an older dump.
@Suite struct VaultStateToolTests {
    static let state = ["--state", "state"]

    let fixture: VaultFixture
    var folder: TemporaryDirectory { fixture.folder }

    init() async throws { fixture = try await VaultFixture() }

    /// A folder in which the first of two dumps was put back over the second.
    func putBack() async throws {
        fixture.expectDone(try await fixture.seal(Self.key + Self.state))
        let first = try folder.read("dump")
        fixture.expectDone(try await fixture.seal(Self.key + Self.state))
        try folder.write(first, to: "dump")
    }

    static let key = ["--keys", "keys"]

    @Test func theFirstUseIsReportedOnce() async throws {
        let sealed = try await fixture.seal(Self.key + Self.state, ["--json"])
        fixture.expectDone(sealed)
        #expect(sealed.stderr.contains("state had no sequence for this app"))
        let told = try JSONValue(parsing: sealed.stdout)
        #expect(told["rollback"]?["firstUse"] == true && told["rollback"]?["highestSeen"] == .null)
        let opened = try await fixture.open(Self.key + Self.state, ["--json"])
        fixture.expectDone(opened)
        #expect(opened.stderr.isEmpty)
        let inside = try JSONValue(parsing: opened.stdout)
        #expect(
            inside["rollback"] == [
                "sequence": 1, "highestSeen": 1, "firstUse": false, "rolledBack": false,
            ])
        // Without a state file, the plaintext object and nothing else.
        let plain = try JSONValue(parsing: try await fixture.open([], Self.key + ["--json"]).stdout)
        #expect(
            plain.object?.memberNames == [
                "app", "system", "sequence", "sealedAt", "values", "origins",
            ])
    }

    @Test func anOlderDumpIsRefusedByEveryCommand() async throws {
        try await putBack()
        let (dump, state) = (try folder.read("dump"), try folder.read("state"))
        try await fixture.newKey("v2", in: "keys", append: true)
        for arguments in [
            ["open", "dump"] + VaultFixture.identity, VaultFixture.rebind,
            ["rekey", "dump", "--to-key-id", "v2"] + VaultFixture.identity,
            VaultFixture.rebind + ["--ratchet"],
        ] {
            let output = try await fixture.vault(arguments + Self.key + Self.state + ["--json"])
            try fixture.expect(output, exit: 1, code: "rolled-back")
            #expect(output.text.contains("sequence 1") && output.text.contains("2 was seen"))
            #expect(try folder.read("dump") == dump)
            #expect(try folder.read("state") == state)
        }
        // Without the state file, the rollback isn't noticed.
        fixture.expectDone(try await fixture.open(Self.key))
    }

    @Test func anAcceptedOneIsReportedEachTime() async throws {
        try await putBack()
        let accept = Self.key + Self.state + ["--accept-rollback"]
        for _ in 0..<2 {
            let opened = try await fixture.open(accept, ["--json"])
            fixture.expectDone(opened)
            #expect(opened.stderr.contains("older than sequence"))
            let told = try JSONValue(parsing: opened.stdout)
            #expect(told["rollback"]?["rolledBack"] == true)
            #expect(told["rollback"]?["highestSeen"] == 2 && told["sequence"] == 1)
        }
        let rebound = try await fixture.vault(VaultFixture.rebind + accept + ["--json"])
        fixture.expectDone(rebound)
        #expect(try JSONValue(parsing: rebound.stdout)["sequence"] == 3)
        let opened = try await fixture.open(Self.key + Self.state, version: "1.10.0")
        #expect(opened.exit == 0 && opened.stderr.isEmpty)
    }

    @Test func aStateFileThatWasChangedIsNamed() async throws {
        fixture.expectDone(try await fixture.seal(Self.key + Self.state))
        let text = String(decoding: try folder.read("state"), as: UTF8.self)
        for changed in [
            "", "{}", String(text.dropLast()), text + "\n", " " + text,
            text.replacing(#""sequence":1"#, with: #""sequence":0"#),
            text.replacing(#""sequence":1"#, with: #""sequence":1.0"#),
            text.replacing("com.example.shop", with: "com.example.shoq"),
        ] {
            try folder.write(changed, to: "state")
            for arguments in [
                ["open", "dump"] + VaultFixture.identity, VaultFixture.rebind,
                ["seal", "--out", "dump"] + VaultFixture.inputs + VaultFixture.identity,
            ] {
                let output = try await fixture.vault(
                    arguments + Self.key + Self.state + ["--accept-rollback", "--json"])
                try fixture.expect(output, exit: 1, code: "state-tampered")
                #expect(output.text.contains("state: the file was changed"))
                #expect(output.text.contains("remove this file"))
            }
        }
        for (path, code) in [
            ("keys", "state-tampered"), (".", "unreadable-file"), ("none/state", "unwritable-file"),
        ] {
            let output = try await fixture.open(Self.key + ["--state", path, "--json"])
            try fixture.expect(output, exit: code == "state-tampered" ? 1 : 2, code: code)
        }
        try fixture.expect(
            try await fixture.open(Self.key + ["--accept-rollback", "--json"]), exit: 2,
            code: "usage")
    }

    @Test func aRekeyedDumpKeepsItsState() async throws {
        fixture.expectDone(try await fixture.seal(Self.key + Self.state))
        try await fixture.newKey("v2", in: "new")
        let before = try folder.read("dump")
        let rekeyed = try await fixture.vault(
            ["rekey", "dump", "--to-keys", "new", "--json"] + VaultFixture.identity + Self.key
                + Self.state)
        fixture.expectDone(rekeyed)
        #expect(try JSONValue(parsing: rekeyed.stdout)["rollback"]?["highestSeen"] == 1)
        fixture.expectDone(try await fixture.open(["--keys", "new"] + Self.state))
        try folder.write(before, to: "dump")
        try fixture.expect(
            try await fixture.open(Self.key + Self.state + ["--json"]), exit: 1,
            code: "state-tampered")
    }
}
