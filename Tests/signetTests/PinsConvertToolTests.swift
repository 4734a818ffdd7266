import Foundation
import SignetJSON
import TestSupport
import Testing

private let a = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="
private let b = "E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="

/// `signet pins convert`.
@Suite struct PinsConvertToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static let policy = #"""
        {"hosts":{"api.example.com":{"pins":["sha256/\#(a)","sha256/\#(b)"],"includeSubdomains":true,
        "expires":"2027-06-30","afterExpiry":"allow"},"status.example.com":{"exclude":true}}}
        """#

    private func convert(_ arguments: [String], _ text: String) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["pins", "convert"] + arguments, stdin: Array(text.utf8), directory: folder.url)
    }

    @Test(arguments: ["trustkit", "trustkit-json", "android", "okhttp"])
    func namesLossesAndConvertsBack(_ format: String) async throws {
        let there = try await convert(["--from", "signet", "--to", format], Self.policy)
        #expect(there.exit == 0, "\(there.stderr)")
        #expect(there.text.contains(a) && there.stderr.contains("signet: "))
        let back = try await convert(
            ["--from", format, "--to", "signet", "--json"], there.text)
        let policy = try JSONValue(parsing: back.stdout)["document"]
        #expect(back.exit == 0 && !back.stderr.isEmpty)
        let host = format == "okhttp" ? "**.api.example.com" : "api.example.com"
        let rule = policy?["hosts"]?[host]
        #expect(rule?["pins"] == [.string("sha256/\(a)"), .string("sha256/\(b)")])
        #expect(rule?["afterExpiry"] == (format == "okhttp" ? nil : "allow"))
    }

    @Test func writesBinaryListsThatPythonReads() async throws {
        let written = try await convert(
            ["--from", "signet", "--to", "trustkit", "--binary", "-"], Self.policy)
        let script =
            "import plistlib,sys;d=plistlib.loads(sys.stdin.buffer.read());"
            + "print(d['TSKConfiguration']['TSKPinnedDomains']['api.example.com']"
            + "['TSKPublicKeyHashes'][0])"
        let read = try await ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", script], stdin: Array(written.stdout))
        #expect(read.text == "\(a)\n", "\(read.stderr)")
    }

    @Test(
        arguments: [
            (["--from", "curl", "--to", "signet"], "sha256//\(a)", "usage"),
            (["--from", "signet", "--to", "android", "--host", "a.b"], "{}", "usage"),
            (["--from", "signet", "--to", "android", "--binary"], "{}", "usage"),
            (["--from", "signet", "--to", "yaml"], "{}", "usage"),
            (["--from", "signet"], "", "usage"),
            (["--from", "signet", "--to", "curl"], "{}", "malformed-policy"),
            (["--from", "android", "--to", "curl"], "<a/>", "malformed-input"),
            (["--from", "curl", "--to", "signet", "--host", "a.b:1"], "sha256//\(a)", "bad-host"),
            (["--from", "curl", "--to", "signet", "--host", "a.b"], "sha256//x", "bad-pin"),
            (["--from", "okhttp", "--to", "signet"], "add(x)", "malformed-input"),
            (
                ["--from", "signet", "--to", "curl"],
                #"{"hosts":{"a.b":{"pins":["sha256/\#(a)"]},"c.b":{"pins":["sha256/\#(a)"]}}}"#,
                "not-expressible"
            ),
            (
                ["--from", "signet", "--to", "android"],
                #"{"hosts":{"*.b":{"pins":["sha256/\#(a)"]}}}"#, "not-expressible"
            ),
            (["--from", "signet", "--to", "android", "none.json"], "", "unreadable-file"),
            (
                ["--from", "trustkit", "--to", "signet"],
                #"<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><plist>&x;</plist>"#,
                "malformed-input"
            ),
        ] as [([String], String, String)])
    func badInputHasOneClearError(_ arguments: [String], _ text: String, _ code: String)
        async throws
    {
        let output = try await convert(arguments + ["--json"], text)
        #expect(output.exit == 2, "\(output.text)")
        #expect(
            try JSONValue(parsing: output.stdout)["error"]?["code"]?.string == code,
            "\(output.text)")
    }
}
