import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet pins show --format policy`.
@Suite struct PinsPolicyToolTests {
    private let folder: TemporaryDirectory
    private let authority: TestAuthority
    private let backup: String

    init() throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority.trusted.get()
        backup = try TestAuthority.rogue.get().leaf.pin
    }

    private func show(_ arguments: [String]) async throws -> ProcessOutput {
        try await SignetTool.run(["pins", "show"] + arguments, directory: folder.url)
    }

    private func pins(_ output: ProcessOutput, of host: String) throws -> [String]? {
        try JSONValue(parsing: output.stdout)["hosts"]?[host]?["pins"]?.array?.compactMap(\.string)
    }

    @Test func aServersPolicyIsReadyForUse() async throws {
        let server = try await OpenSSLServer(authority.identity)
        let url = "https://LocalHost.:\(server.port)"
        let trust = ["--ca-file", authority.caFile]
        let plain = try await show(
            [url, "--format", "policy", "--backup", backup] + trust)
        #expect(
            plain.exit == 0 && plain.stderr.contains("a policy has no ports"), "\(plain.stderr)")
        #expect(try pins(plain, of: "localhost") == [authority.leaf.pin, backup])
        let policy = try folder.write(plain.stdout, to: "policy.json")
        let checked = try await SignetTool.run(
            ["pins", "check", url, "--policy", policy] + trust)
        #expect(checked.exit == 0, "\(checked.stderr)")
        let linted = try await SignetTool.run(["pins", "lint", policy])
        #expect(linted.exit == 0, "\(linted.text)")
        // A backup is also a file.
        let other = try TestAuthority.rogue.get().leaf
        let filed = try await show(
            [url, "--format", "policy", "--backup", other.pem] + trust)
        #expect(try pins(filed, of: "localhost") == [authority.leaf.pin, other.pin])
        // With the issuer, and one pin alone is named as weak.
        let issuer = try await show([url, "--format", "policy", "--include-issuer"] + trust)
        #expect(
            try pins(issuer, of: "localhost") == [authority.leaf.pin, authority.intermediate.pin])
        let alone = try await show([url, "--format", "policy", "--json"] + trust)
        #expect(alone.exit == 0 && alone.stderr.contains("--backup"))
        #expect(try pins(alone, of: "localhost") == [authority.leaf.pin])
        #expect(alone.text.split(separator: "\n").count == 1)
        // A server that is not trusted gives no policy.
        let rogue = try await show([
            url, "--format", "policy", "--ca-file", try TestAuthority.rogue.get().caFile,
        ])
        #expect(rogue.exit == 3 && rogue.stdout.isEmpty && rogue.stderr.contains("not trusted"))
        try await server.stop()
    }

    @Test func filesShareTheirHostsRule() async throws {
        let other = try TestAuthority.rogue.get().leaf
        let policy = try await show([
            authority.leaf.chain, other.pem, "--format", "policy", "--host", "API.example.com",
            "--backup", authority.intermediate.pin, "--backup", authority.leaf.pin,
        ])
        #expect(policy.exit == 0 && policy.stderr.isEmpty, "\(policy.stderr)")
        #expect(
            try pins(policy, of: "api.example.com")
                == [authority.leaf.pin, other.pin, authority.intermediate.pin])
        let issuer = try await show([
            authority.leaf.chain, "--format", "policy", "--host", "a.test", "--include-issuer",
        ])
        #expect(try pins(issuer, of: "a.test") == [authority.leaf.pin, authority.intermediate.pin])
        // Without --format, each target's pins, one a line.
        let lines = try await show([other.pem, authority.leaf.pem])
        #expect(lines.text == "\(other.pin)\n\(authority.leaf.pin)\n")
    }

    @Test(
        arguments: [
            (["$leaf", "--format", "policy"], "--host HOST"),
            (["$leaf", "--format", "policy", "--host", "a.test:443"], "port"),
            (["$leaf", "--format", "policy", "--host", ""], "the host is empty"),
            (
                ["$leaf", "--format", "policy", "--host", "a.test", "--backup", "abc"],
                "--backup: a pin starts with \"sha256/\", in lower case, and no file has that name"
            ),
            (
                ["$leaf", "--format", "policy", "--host", "a.test", "--backup", "/dev/null"],
                "/dev/null"
            ),
            (
                ["$leaf", "--format", "policy", "--host", "a.test", "--include-issuer"],
                "the leaf's issuer"
            ),
            (["$key", "--format", "policy", "--host", "a.test", "--include-issuer"], "issuer"),
            (["$leaf", "--host", "a.test"], "--format policy"),
            (["$leaf", "--include-issuer"], "--format policy"),
            (["$leaf", "--format", "polciy", "--host", "a.test"], "did you mean \"policy\"?"),
            (["$leaf", "absent.pem", "--format", "policy", "--host", "a.test"], "absent.pem"),
        ])
    func refusesWithoutAPolicy(_ arguments: [String], _ words: String) async throws {
        let output = try await show(
            arguments.map {
                $0 == "$leaf" ? authority.leaf.pem : $0 == "$key" ? authority.leaf.key : $0
            })
        #expect(output.exit == 2 && output.stdout.isEmpty)
        #expect(!output.stderr.isEmpty && output.stderr.contains(words), "\(output.stderr)")
    }
}
