import Foundation
import SignetJSON
import TestSupport
import Testing

/// The hints and warnings that the tool prints in addition to a result or an error.
@Suite struct WarningToolTests {
    private func reporting(
        _ arguments: [String], stdin: String = "", mode: String
    ) async throws -> (output: ProcessOutput, wanted: String, seen: String) {
        let authority = try TestAuthority.trusted.get()
        let wanted = try TestAuthority.rogue.get().leaf.pin
        let host = try await RouteServer(["/": "200 OK\r\n\r\n1"], tls: authority.leaf)
        let folder = try TemporaryDirectory()
        let policy = try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(wanted)"],"mode":"\#(mode)"}}}"#, to: "p.json")
        let output = try await SignetTool.run(
            arguments.map { $0.replacing("$url", with: host.url) }
                + ["--policy", policy, "--ca-file", authority.caFile],
            stdin: Array(stdin.replacing("$url", with: host.url).utf8))
        return (output, wanted, authority.leaf.pin)
    }

    @Test(
        arguments: [
            (["call", "$url/", "GET", "--protocol", "rest"], "", "1\n"),
            (["call", "$url/", "GET", "--protocol", "rest", "--json"], "", nil),
            (["send", "--json"], "GET $url/ HTTP/1.1\n\n", nil),
        ] as [([String], String, String?)])
    func warnsOfAMismatchThatIsOnlyReported(
        _ arguments: [String], _ stdin: String, _ text: String?
    ) async throws {
        let (output, wanted, seen) = try await reporting(arguments, stdin: stdin, mode: "report")
        #expect(output.exit == 0, "\(output.text)")
        let words = output.stderr
        #expect(words.contains("warning: pin-mismatch at localhost:"))
        #expect(words.contains(wanted) && words.contains(seen))
        let stdout = String(decoding: output.stdout, as: UTF8.self)
        if let text { #expect(stdout == text) }
        // One object and nothing else.
        #expect(try text != nil || JSONValue(parsing: output.stdout).object != nil)
        #expect(stdout.contains("pin-mismatch") == (text == nil))
    }

    @Test func doesNotWarnOfAMismatchThatIsRefused() async throws {
        let (output, wanted, seen) = try await reporting(
            ["call", "$url/", "GET", "--protocol", "rest"], mode: "enforce")
        #expect(output.exit == 1)
        let words = output.stderr
        #expect(!words.contains("warning") && words.contains(wanted) && words.contains(seen))
    }

    @Test func namesTheOptionThatHelps() async throws {
        let host = try await RouteServer([
            "/a": "302 Found\r\nLocation: /b\r\n\r\n", "/b": "302 Found\r\nLocation: /c\r\n\r\n",
        ])
        for (arguments, option) in [
            (["call", host.url, "rpc.secret"], "--allow-reserved"),
            (["call", host.url, "rpc.secret", "--discover"], "--allow-reserved"),
            (
                ["call", "\(host.url)/a", "GET", "--protocol", "rest", "--max-redirects", "1"],
                "--max-redirects"
            ),
        ] {
            let output = try await SignetTool.run(arguments + ["--json"])
            let message = try JSONValue(parsing: output.stdout)["error"]?["message"]?.string
            #expect(message?.contains(option) == true, "\(output.text)")
        }
    }

    @Test func callsASecondMemberOfANameADuplicate() async throws {
        let output = try await SignetTool.run(
            ["call", "http://localhost:1/", "m", "--params", #"{"a":1,"a":2}"#, "--json"])
        let message = try JSONValue(parsing: output.stdout)["error"]?["message"]?.string
        #expect(output.exit == 2 && message?.contains("duplicate member name") == true)
    }
}
