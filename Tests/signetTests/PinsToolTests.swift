import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet pins` with valid and invalid input.
@Suite struct PinsToolTests {
    private let folder: TemporaryDirectory
    private let authority: TestAuthority

    init() throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority.trusted.get()
    }

    private func pins(_ arguments: String...) async throws -> ProcessOutput {
        try await SignetTool.run(["pins"] + arguments + ["--json"], directory: folder.url)
    }

    private func code(_ output: ProcessOutput) throws -> String? {
        try JSONValue(parsing: output.stdout)["error"]?["code"]?.string
    }

    private func policy(_ text: String) throws -> String {
        try folder.write(text.replacing("$leaf", with: authority.leaf.pin), to: "policy.json")
    }

    @Test(
        arguments: [
            ("", 2, "malformed-policy"), (#"{"hosts":{"localhost":{}}}"#, 2, "malformed-policy"),
            (#"{"hosts":{"localhost:443":{"pins":["$leaf"]}}}"#, 2, "malformed-policy"),
            (#"{"hosts":{"other":{"pins":["$leaf"]}}}"#, 1, "unlisted-host"),
            (
                #"{"hosts":{"localhost":{"pins":["$leaf"],"expires":"2020-01-01"}}}"#, 1,
                "policy-expired"
            ),
            (#"{"hosts":{"localhost":{"pins":["$leaf"]}}}"#, 0, nil),
            (#"{"hosts":{"localhost":{"exclude":true}}}"#, 0, nil),
            (#"{"hosts":{},"unlisted":"allow"}"#, 0, nil),
        ] as [(String, Int32, String?)])
    func checkJudgesByThePolicy(_ text: String, _ exit: Int32, _ code: String?) async throws {
        let server = try await OpenSSLServer(authority.identity)
        let output = try await pins(
            "check", "https://LocalHost.:\(server.port)/x?y", "--policy", try policy(text),
            "--ca-file", authority.caFile)
        #expect(output.exit == exit)
        #expect(try self.code(output) == code)
        if exit == 1 { #expect(output.text.contains(authority.leaf.pin)) }
        if exit == 0 { #expect(try JSONValue(parsing: output.stdout)["port"] != nil) }
    }

    /// The CA is next to the policy; no other CA vouches for the server.
    @Test(
        arguments: [
            (#""caFile":"ca.pem""#, 0, nil), (#""caFile":"ca.pem","caMode":"add""#, 0, nil),
            (#""caFile":"other.pem""#, 3, "tls"), (#""caFile":"absent.pem""#, 2, "unreadable-file"),
            (#""caFile":"policy.json""#, 2, "malformed-policy"),
            (#""caFile":"ca.pem","caMode":"all""#, 2, "malformed-policy"),
        ] as [(String, Int32, String?)])
    func checkTakesARulesOwnCA(_ members: String, _ exit: Int32, _ code: String?) async throws {
        let server = try await OpenSSLServer(authority.identity)
        for (file, name) in [
            (authority.caFile, "ca.pem"), (try TestAuthority.rogue.get().caFile, "other.pem"),
        ] {
            try folder.write(Data(contentsOf: URL(filePath: file)), to: name)
        }
        let policy = try policy(#"{"hosts":{"localhost":{"pins":["$leaf"],\#(members)}}}"#)
        let output = try await pins(
            "check", "https://localhost:\(server.port)", "--policy", policy)
        #expect(output.exit == exit, "\(output.text)")
        #expect(try self.code(output) == code)
    }

    @Test func failsOnWhatEndsSoonAndOnReports() async throws {
        let server = try await OpenSSLServer(authority.identity)
        let rogue = try TestAuthority.rogue.get().leaf.pin
        func check(_ rule: String, _ options: String...) async throws -> (Int32, JSONValue) {
            let output = try await SignetTool.run(
                [
                    "pins", "check", "https://localhost:\(server.port)", "--policy",
                    try policy(#"{"hosts":{"localhost":{\#(rule)}}}"#), "--ca-file",
                    authority.caFile, "--json",
                ] + options, directory: folder.url)
            return (output.exit, try JSONValue(parsing: output.stdout))
        }
        let end = Date(timeIntervalSinceNow: 10 * 86_400).formatted(.iso8601.year().month().day())
        let rule = #""pins":["$leaf"]"#
        let ending = rule + #","expires":"\#(end)","afterExpiry":"allow""#
        for (rule, days, ends) in [
            (rule, 0, []), (rule, 36_500, ["CN=localhost", "root"]), (ending, 5, []),
            (ending, 20, ["the rule localhost"]), (#""exclude":true"#, 36_500, ["CN=localhost"]),
        ] as [(String, Int, [String])] {
            let (exit, result) = try await check(rule, "--within", "\(days)")
            #expect(exit == (ends.isEmpty ? 0 : 1), "\(result)")
            let message = result["error"]?["message"]?.string ?? ""
            for end in ends { #expect(message.contains(end)) }
            #expect(ends.isEmpty || result["error"]?["code"] == "expires-soon")
            let leaf = try #require(result["chain"]?.array?.first)
            #expect(leaf["notBefore"]?.string?.hasSuffix("Z") == true)
            #expect(leaf["notAfter"]?.string?.hasSuffix("Z") == true)
        }
        #expect(try await check(rule, "--within", "-1").0 == 2)
        let report = #""pins":["\#(rogue)"],"mode":"report""#
        #expect(try await check(report).0 == 0)
        let (exit, result) = try await check(report, "--enforce")
        #expect(exit == 1 && result["error"]?["code"] == "pin-mismatch")
        #expect(result["match"] == false)
        #expect(try await check(rule + #","mode":"report""#, "--enforce").0 == 0)
    }

    /// The common name is the host's, and there is no subjectAltName.
    @Test func refusesACommonNameInPlaceOfAHostName() async throws {
        let leaf = try authority.issue(hosts: ["localhost"], alternatives: "")
        let server = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: authority.intermediate.pem))
        let url = "https://localhost:\(server.port)"
        let policy = try policy(#"{"hosts":{"localhost":{"pins":["\#(leaf.pin)"]}}}"#)
        for arguments in [
            ["check", "--policy", policy], ["show"], ["show", "--format", "policy"],
        ] {
            let output = try await SignetTool.run(
                ["pins"] + arguments + [url, "--ca-file", authority.caFile])
            let found = (output.stderr + output.text).split(whereSeparator: \.isWhitespace)
            #expect(
                found.joined(separator: " ").contains(
                    "not trusted: the certificate's subjectAltName has no host"),
                "\(output.stderr)")
            #expect(output.exit == 3)
        }
    }

    @Test func checkReportsWithoutRefusing() async throws {
        let server = try await OpenSSLServer(authority.identity)
        let rogue = try TestAuthority.rogue.get().leaf.pin
        let output = try await pins(
            "check", "https://localhost:\(server.port)", "--policy",
            try policy(#"{"hosts":{"localhost":{"pins":["\#(rogue)"],"mode":"report"}}}"#),
            "--ca-file", authority.caFile)
        let object = try JSONValue(parsing: output.stdout)
        #expect(output.exit == 0 && object["match"] == false && object["mode"] == "report")
    }

    @Test(
        arguments: [
            (
                ["check", "http://localhost", "--policy", "policy.json"], 1,
                "cleartext-to-pinned-host"
            ),
            (["check", "https://", "--policy", "policy.json"], 2, "usage"),
            (["check", "https://u:secret@localhost", "--policy", "policy.json"], 2, "usage"),
            (["check", "localhost", "--policy", "policy.json"], 2, "usage"),
            (["check", "https://localhost:1", "--policy", "policy.json"], 3, "connect"),
            (["check", "https://localhost", "--policy", "none.json"], 2, "unreadable-file"),
            (["check", "https://localhost"], 2, "usage"),
            (
                ["check", "https://localhost", "--policy", "policy.json", "--ca-file", "none"], 2,
                "trust-store"
            ),
            (
                ["check", "https://localhost", "--policy", "policy.json", "--connect-to", "a:b"], 2,
                "invalid-request"
            ),
            (
                ["check", "https://localhost", "--policy", "policy.json", "--timeout", "0"], 2,
                "usage"
            ),
            (["show", "http://localhost"], 2, "usage"),
            (["show", "none.pem"], 2, "unreadable-file"),
            (["show", "policy.json"], 2, "malformed-input"),
            (["lint", "none"], 2, "unreadable-file"),
        ] as [([String], Int32, String)])
    func badInputHasOneClearError(_ arguments: [String], _ exit: Int32, _ code: String)
        async throws
    {
        _ = try policy(#"{"hosts":{"localhost":{"pins":["$leaf"]}}}"#)
        let output = try await SignetTool.run(
            ["pins"] + arguments + ["--json"], directory: folder.url)
        #expect(output.exit == exit, "\(output.text)")
        #expect(try self.code(output) == code)
        #expect(!output.text.contains("secret"))
    }

    /// The first command of a newcomer.
    @Test(
        arguments: [
            (["show", "api.example.com"], "for a host, say https://api.example.com\n"),
            (["show", "LOCALHOST:8443"], "for a host, say https://localhost:8443\n"),
            (["show", "absent.d/key"], "cannot open absent.d/key: No such file or directory\n"),
            (["show", "absent"], "cannot open absent: No such file or directory\n"),
            (
                ["check", "api.example.com", "--policy", "policy.json"],
                "begins with https://, not \"api.example.com\"\n"
            ),
            (["check", "u:secret@localhost", "--policy", "policy.json"], "with https://\n"),
            (
                ["check", "https://other.invalid:8443", "--policy", "policy.json"],
                "(signet pins show https://other.invalid:8443)"
            ),
        ])
    func theErrorNamesTheNextCommand(_ arguments: [String], _ words: String) async throws {
        _ = try policy(#"{"hosts":{"localhost":{"pins":["$leaf"]}}}"#)
        let output = try await SignetTool.run(["pins"] + arguments, directory: folder.url)
        #expect([1, 2].contains(output.exit))
        #expect(output.stderr.contains(words), "\(output.stderr)")
        #expect(!output.stderr.contains("secret"))
    }

    @Test func anUntrustedServerIsNamedAsSuch() async throws {
        let server = try await OpenSSLServer(TestAuthority.rogue.get().identity)
        let output = try await pins(
            "show", "https://localhost:\(server.port)", "--ca-file", authority.caFile)
        #expect(output.exit == 3)
        #expect(output.text.contains("not trusted"))
    }

    @Test func lintNamesAllFindings() async throws {
        let clean = try await pins(
            "lint",
            try policy(
                #"{"hosts":{"localhost":{"pins":["$leaf","\#(authority.root.pin)"]}}}"#))
        #expect(clean.exit == 0 && clean.text == #"{"findings":[]}"# + "\n")
        let output = try await pins(
            "lint", try policy(#"{"hosts":{"*.com":{"pins":["$leaf"],"expires":"2020-01-01"}}}"#))
        let findings = try JSONValue(parsing: output.stdout)["findings"]?.array ?? []
        #expect(output.exit == 1)
        #expect(findings.map { $0["code"]?.string } == ["public-suffix", "expired", "no-backup"])
    }
}
