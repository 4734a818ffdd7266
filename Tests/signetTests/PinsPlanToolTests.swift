import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet pins plan`, `sign` and `verify`.
@Suite struct PinsPlanToolTests {
    private let folder: TemporaryDirectory
    private let authority: TestAuthority
    private static let now = "1795228551"

    init() throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority.trusted.get()
    }

    private func signet(_ arguments: [String], stdin: [UInt8] = []) async throws -> ProcessOutput {
        try await SignetTool.run(arguments, stdin: stdin, directory: folder.url)
    }

    private func error(_ output: ProcessOutput) throws -> String? {
        try JSONValue(parsing: output.stdout)["error"]?["code"]?.string
    }

    /// A policy with the leaf's pin and that of a new key, whose request is `next.csr`.
    private func policy() async throws -> String {
        let made = try await ChildProcess.run(
            "/usr/bin/env",
            [
                "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-keyout", "next.key", "-out", "next.csr",
                "-subj", "/CN=localhost",
            ], directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        let shown = try await signet(["pins", "show", "next.csr"])
        let next = shown.text.trimmingCharacters(in: .whitespacesAndNewlines)
        return try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.leaf.pin)","\#(next)"]}}}"#,
            to: "policy.json")
    }

    @Test func planReadsCertificatesAndRequests() async throws {
        _ = try await policy()
        let arguments = ["pins", "plan", "--policy", "policy.json", "--now", Self.now]
        let alone = try await signet(arguments + [authority.leaf.pem, "--json"])
        let findings = try JSONValue(parsing: alone.stdout)["findings"]?.array ?? []
        #expect(alone.exit == 1)
        let codes = findings.map { $0["code"]?.string ?? "" }
        #expect(codes.contains("no-key"))
        let nothing = try await signet(arguments + ["--json"])
        #expect(nothing.exit == 1 && nothing.text.contains("cut-off"))
        let both = try await signet(arguments + [authority.leaf.pem, "next.csr"])
        #expect(both.text.contains("reserve") && both.text.contains(authority.leaf.pin))
        #expect(both.text.hasPrefix("HOST"))
        #expect(!both.stdout.contains(0x1B))
        // The server's leaf is the same certificate; its issuers aren't pinned.
        let server = try await OpenSSLServer(authority.identity)
        let url = "https://localhost:\(server.port)"
        let live = try await signet(
            arguments + [url, "next.csr", "--ca-file", authority.caFile])
        #expect(live.exit == both.exit)
        #expect(live.text == both.text.replacing(authority.leaf.pem, with: url))
        let untrusted = try await signet(arguments + [url, "next.csr", "--json"])
        #expect(untrusted.exit == 3)
        #expect(try error(untrusted) == "tls")
        // Far in the future the leaf has ended.
        let late = try await signet(
            ["pins", "plan", "--policy", "policy.json", "--now", "9000000000", "--json"]
                + [authority.leaf.pem, "next.csr"])
        #expect(late.exit == 1 && late.text.contains("\"ended\""))
    }

    /// The leaf's own end counts, not that of the certificates that vouch for it.
    @Test func planReportsClientCertificates() async throws {
        _ = try await policy()
        let client = try authority.client("ann", to: "20270101000000Z")
        let der = folder.path("ann.der")
        try await folder.openssl("x509", "-in", client.pem, "-outform", "DER", "-out", der)
        let end: Int64 = 1_798_761_600
        func plan(_ now: Int64, _ files: String...) async throws -> (Int32, [JSONValue]) {
            let output = try await signet(
                [
                    "pins", "plan", "--policy", "policy.json", "--now", "\(now)", "--json",
                    authority.leaf.pem, "next.csr",
                ] + files.flatMap { ["--client-cert", $0] })
            let findings = try JSONValue(parsing: output.stdout)["findings"]?.array
            return (output.exit, findings ?? [])
        }
        let day: Int64 = 86_400
        for file in [client.chain, der] {
            let (good, none) = try await plan(end - 31 * day, file)
            #expect(good == 0 && none.isEmpty, "\(none)")
            let (soon, ending) = try await plan(end - 30 * day, file)
            #expect(soon == 1 && ending.count == 1)
            #expect(ending.first?["code"] == "client-certificate-ends-soon")
            #expect(ending.first?["at"] == "2027-01-01T00:00:00Z")
            #expect(ending.first?["message"]?.string?.contains("CN=ann") == true)
        }
        let other = try authority.client("bob")
        let (ended, findings) = try await plan(end + 1, client.chain, other.chain)
        #expect(ended == 1)
        #expect(findings.map { $0["code"] } == ["client-certificate-ended"])
        #expect(findings.first?["severity"] == "error")
        // What isn't a certificate is refused, with its name.
        try await folder.openssl(
            "pkcs12", "-export", "-in", client.chain, "-inkey", client.key, "-out", "ann.p12",
            "-passout", "pass:open sesame")
        try await folder.openssl(
            "pkcs12", "-export", "-in", client.chain, "-inkey", client.key, "-out", "plain.p12",
            "-nomac", "-keypbe", "NONE", "-certpbe", "NONE", "-passout", "pass:")
        for (file, words) in [
            ("ann.p12", "found PKCS #12"), ("plain.p12", "found PKCS #12"),
            (client.key, "found no certificate"), ("next.csr", "found no certificate"),
            ("policy.json", "found neither PEM nor DER"), ("absent", "absent"),
        ] {
            let output = try await signet([
                "pins", "plan", "--policy", "policy.json", "--client-cert", file, "--json",
            ])
            #expect(output.exit == 2 && output.text.contains(words), "\(file): \(output.text)")
            #expect(output.text.contains(file) && !output.text.contains("PRIVATE"))
        }
    }

    @Test(
        arguments: [
            (["plan"], 2, "usage"), (["plan", "--policy", "none"], 2, "unreadable-file"),
            (["plan", "--policy", "policy.json", "policy.json"], 2, "malformed-input"),
            (["plan", "--policy", "policy.json", "none.pem"], 2, "unreadable-file"),
            (["plan", "--policy", "policy.json", "http://localhost"], 2, "usage"),
            (["plan", "--policy", "policy.json", "ftp://localhost"], 2, "usage"),
            (["plan", "--policy", "policy.json", "--within", "-1"], 2, "usage"),
            (["plan", "--policy", "policy.json", "--now", "-1"], 2, "usage"),
            (["sign", "policy.json"], 2, "usage"),
            (
                [
                    "sign", "--keys", "none", "--key-id", "x", "--serial", "1", "--days", "1",
                    "policy.json",
                ], 2, "unreadable-keys"
            ),
            (["verify", "--keys", "none", "policy.json"], 2, "unreadable-keys"),
        ] as [([String], Int32, String)])
    func badInputHasOneClearError(_ arguments: [String], _ exit: Int32, _ code: String)
        async throws
    {
        _ = try await policy()
        let output = try await signet(["pins"] + arguments + ["--json"])
        #expect(output.exit == exit, "\(output.text)")
        #expect(try error(output) == code)
    }

    @Test func signsForPublicKeysAndRefusesTheRest() async throws {
        _ = try await policy()
        let key = try await signet(
            ["keys", "new", "--type", "ed25519", "--id", "pins", "--out", "keys"])
        #expect(key.exit == 0)
        let halves = try await signet(["keys", "public", "keys"])
        try folder.write(halves.stdout, to: "public.json")
        func sign(_ serial: String, _ more: String...) async throws -> ProcessOutput {
            try await signet(
                [
                    "pins", "sign", "--keys", "keys", "--serial", serial,
                    "--days", "90", "--now", Self.now, "--json",
                ] + more + ["policy.json"])
        }
        func verify(_ document: [UInt8], now: String = Self.now, keys: String = "public.json")
            async throws -> ProcessOutput
        {
            try await signet(
                [
                    "pins", "verify", "--keys", keys, "--state", "newest.json", "--now", now,
                    "--json",
                ], stdin: document)
        }
        let seven = try await sign("7")
        #expect(seven.exit == 0, "\(seven.stderr)")
        let taken = try await verify(seven.stdout)
        let object = try JSONValue(parsing: taken.stdout)
        #expect(taken.exit == 0 && object["serial"] == 7)
        #expect(object["policy"]?["hosts"]?["localhost"]?["pins"]?.array?.count == 2)

        let six = try await verify(sign("6").stdout)
        #expect(six.exit == 1)
        #expect(try error(six) == "rolled-back")
        #expect(six.text.contains("sign one with a higher number"))
        #expect(!six.text.contains("vault"))
        let late = try await verify(seven.stdout, now: "1895228551")
        #expect(late.exit == 1)
        #expect(try error(late) == "update-expired")
        let early = try await verify(seven.stdout, now: "1795228550")
        #expect(early.exit == 1)
        #expect(try error(early) == "update-not-yet-valid")
        // A letter of the signature, which is the last member.
        var altered = seven.stdout
        altered[altered.count - 20] ^= 1
        #expect(try await [1, 2].contains(verify(altered).exit))
        #expect(try await error(verify([])) == "malformed-update")
        // For one app, which the program must name.
        let named = try await sign("8", "--app-id", "com.example.shop")
        for (options, exit) in [
            (["--app-id", "com.example.shop"], 0), ([], 1), (["--app-id", "com.example"], 1),
        ] as [([String], Int32)] {
            let output = try await signet(
                ["pins", "verify", "--keys", "keys", "--now", Self.now, "--json"] + options,
                stdin: named.stdout)
            #expect(output.exit == exit, "\(output.text)")
            if exit != 0 { #expect(try error(output) == "wrong-app") }
        }
        // It counts as a policy only after its signature was checked.
        try folder.write(named.stdout, to: "signed.json")
        for command in [["check", "https://localhost:1", "--policy"], ["plan", "--policy"]] {
            let output = try await signet(["pins"] + command + ["signed.json", "--json"])
            #expect(output.exit == 2)
            #expect(output.text.contains("signet pins verify"), "\(output.text)")
        }
        let zero = try await sign("0")
        #expect(zero.exit == 2)
        #expect(try error(zero) == "malformed-update")

        // Nor is a document that no program would accept any more.
        let past = try await sign("8", "--not-before", "1")
        #expect(past.exit == 2)
        #expect(try error(past) == "usage")

        // No program accepts a document after its key has expired, so signing warns if the key
        // expires first.
        let end = try #require(Int64(Self.now)) + 90 * 86_400
        for (exp, isTold) in [(end - 1, true), (end, false)] {
            let set = try JSONValue(parsing: folder.read("keys"))
            var key = try #require(set["keys"]?.array?.first?.object)
            key["exp"] = .number(JSONNumber(exp))
            try folder.write(
                JSONValue.object(["keys": [.object(key)]]).serialized(), to: "ending", mode: 0o600)
            let signed = try await sign("9", "--keys", "ending")
            #expect(signed.exit == 0)
            #expect(signed.stderr.contains("expires before the document") == isTold)
            #expect(try JSONValue(parsing: signed.stdout)["payload"] != nil)
        }

        // Signing knows the public suffixes that lint knows: the machine's list, if there is one.
        let pair = #"["\#(authority.leaf.pin)","\#(authority.root.pin)"]"#
        for suffix in ["k12.tr", "example.com"] {
            try folder.write(
                #"{"hosts":{"*.\#(suffix)":{"pins":\#(pair)}}}"#, to: "policy.json")
            let lint = try await signet(["pins", "lint", "policy.json"])
            #expect(try await sign("8").exit == lint.exit, "\(suffix): \(lint.text)")
        }

        // A policy with one pin is not signed unless somebody says so.
        try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.leaf.pin)"]}}}"#, to: "policy.json")
        let weak = try await sign("8")
        #expect(weak.exit == 1 && weak.stderr.contains("no-backup"))
        #expect(try error(weak) == "lint-findings")
        #expect(try await sign("8", "--lint-ok").exit == 0)
    }
}
