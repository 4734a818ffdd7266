import Foundation
import SignetJSON
import TestSupport
import Testing

/// A refusal by a pin policy, as people read it: lines that fit a terminal.
@Suite struct PinMismatchToolTests {
    private static let wanted = [
        "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
    ]

    private let folder: TemporaryDirectory
    private let authority: TestAuthority
    /// A server whose certificate has a common name of 60 letters.
    private let server: RouteServer
    private let leaf: TestAuthority.Certificate
    private let longName = String(repeating: "a", count: 52) + ".example"

    init() async throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority.trusted.get()
        leaf = try authority.issue(hosts: [longName, "localhost"])
        server = try await RouteServer(
            [
                "/": "200 OK\r\n\r\n1",
                "/other": "302 Found\r\nLocation: https://b.example/\r\n\r\n",
                "/missing": "404 Not Found\r\n\r\n",
            ], tls: leaf)
        for mode in ["enforce", "report"] {
            let policy: JSONValue = [
                "hosts": [
                    "localhost": [
                        "pins": .array(Self.wanted.map(JSONValue.string)), "mode": .string(mode),
                    ]
                ]
            ]
            try folder.write(policy.text, to: "\(mode).json")
        }
        let own: JSONValue = ["hosts": ["localhost": ["pins": [.string(leaf.pin)]]]]
        try folder.write(own.text, to: "own.json")
    }

    private func signet(
        _ words: String, policy: String? = nil, stdin: String = ""
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            words.replacing("$url", with: server.url).split(separator: " ").map(String.init)
                + (policy.map { ["--policy", "\($0).json", "--ca-file", authority.caFile] } ?? []),
            stdin: Array(stdin.utf8), directory: folder.url)
    }

    /// The lines of standard error, none of which is wider than a terminal.
    private func lines(_ output: ProcessOutput) -> [String] {
        let lines = output.stderr.split(separator: "\n").map(String.init)
        for line in lines { #expect(line.count <= 100, "\(line)") }
        #expect(lines.first?.hasPrefix("signet: ") == true)
        return lines
    }

    /// The chain and the expected pins, one a line.
    private func expectPins(_ lines: [String]) throws {
        let found = try #require(lines.firstIndex(of: "  found, leaf first:"))
        let expected = try #require(lines.firstIndex(of: "  expected one of:"))
        #expect(
            lines[found..<expected].dropFirst().map { $0.prefix(57) } == [
                "    \(leaf.pin)  ", "    \(authority.intermediate.pin)  ",
                "    \(authority.root.pin)  ",
            ])
        // A long subject is cut.
        #expect(lines[found + 1].hasPrefix("    \(leaf.pin)  CN=aaaa"))
        #expect(lines[found + 1].count == 100 && lines[found + 1].hasSuffix("a…"))
        #expect(
            Array(lines[expected...].dropFirst().prefix(2)) == Self.wanted.map { "    \($0)" })
    }

    @Test(arguments: [
        "pins check $url", "call $url/ GET --protocol rest", "send",
        "pins check $url --enforce", "call $url/ m",
    ])
    func aRefusalHasAPinOnEachLine(_ words: String) async throws {
        let policy = words.contains("--enforce") ? "report" : "enforce"
        let output = try await signet(
            words, policy: policy, stdin: "GET \(server.url)/ HTTP/1.1\n\n")
        #expect(output.exit == 1 && output.stdout.isEmpty, "\(output.text)")
        let lines = lines(output)
        #expect(lines.first == "signet: no pin matches for localhost (rule localhost)")
        try expectPins(lines)
        let remedy =
            "  remedy: add the new key's pin only if localhost changed its key on purpose:"
        let entry = try #require(lines.firstIndex(of: remedy))
        #expect(lines.dropFirst(entry + 1).first == #"    "localhost": {"#)
        #expect(server.requests.isEmpty)
    }

    @Test func aRedirectToAnUnlistedHostSaysWhere() async throws {
        let output = try await signet("call $url/other GET --protocol rest", policy: "own")
        #expect(output.exit == 1)
        let text = lines(output).joined(separator: "\n")
        #expect(text.contains("redirect 302 from \(server.url)/other to"))
        #expect(text.contains("the pin policy doesn't list b.example"))
        #expect(text.contains("\n  remedy: add its pins"))
    }

    @Test(arguments: ["pins show $url", "pins check $url --policy enforce.json"])
    func anUntrustedChainHasAPinOnEachLine(_ words: String) async throws {
        let output = try await signet(words)
        #expect(output.exit == 3 && output.stdout.isEmpty)
        let lines = lines(output)
        let sent = try #require(lines.firstIndex(of: "  it sent, leaf first:"))
        #expect(lines[sent + 1].hasPrefix("    \(leaf.pin)  CN=a"))
        #expect(lines[sent + 2].hasPrefix("    \(authority.intermediate.pin)  "))
    }

    /// With `--json`, each fact is a member, and nothing is cut.
    @Test func aRefusalKeepsItsMembers() async throws {
        for words in ["pins check $url --json", "call $url/ GET --protocol rest --json"] {
            let output = try await signet(words, policy: "enforce")
            #expect(output.exit == 1 && output.stderr.isEmpty)
            let error = try #require(try JSONValue(parsing: output.stdout)["error"])
            let pin = error["pin"]
            #expect(pin?["chain"]?.array?.first?["subject"]?.string == "CN=\(longName)")
            #expect(pin?["chain"]?.array?.count == 3 && pin?["wanted"]?.array?.count == 2)
            let entry = try #require(pin?["remedy"]?["entry"]?.string)
            // One line of a log is enough to correct the policy.
            let message = try #require(error["message"]?.string)
            #expect(message.hasSuffix(entry) && !message.contains("\n"))
        }
    }

    // MARK: Report mode

    @Test(arguments: [
        ("call $url/ GET --protocol rest --json", 0), ("send --json", 0),
        ("call $url/missing GET --protocol rest --json", 1), ("call $url/ m --json", 3),
        ("send --json --out file", 0),
    ])
    func aReportedMismatchIsAWarning(_ words: String, _ exit: Int32) async throws {
        let output = try await signet(
            words, policy: "report", stdin: "GET \(server.url)/ HTTP/1.1\n\n")
        #expect(output.exit == exit, "\(output.text)")
        let lines = lines(output)
        #expect(lines[0].hasPrefix("signet: warning: pin-mismatch at localhost:\(server.port) "))
        try expectPins(lines)
        let object = try JSONValue(parsing: output.stdout)
        let warnings = object["warnings"]?.array ?? []
        #expect(warnings.count == 1)
        #expect(warnings.first?["code"] == "pin-mismatch")
        let message = warnings.first?["message"]?.string ?? ""
        for pin in [leaf.pin, authority.root.pin] + Self.wanted { #expect(message.contains(pin)) }
        #expect(!message.contains("\n"))
        let pin = warnings.first?["pin"]
        #expect(pin?["mode"] == "report" && pin?["chain"]?.array?.count == 3)
        #expect((object["error"] != nil) == (exit != 0))
    }

    @Test func quietLeavesOutWhatJSONKeeps() async throws {
        let words = "call $url/ GET --protocol rest --quiet"
        let plain = try await signet(words, policy: "report")
        #expect(plain.exit == 0 && plain.stderr.isEmpty, "\(plain.stderr)")
        let output = try await signet(words + " --json", policy: "report")
        #expect(output.stderr.isEmpty, "\(output.stderr)")
        #expect(try JSONValue(parsing: output.stdout)["warnings"]?.array?.count == 1)
        // Without a warning there is no member.
        let own = try await signet(words + " --json", policy: "own")
        #expect(own.exit == 0)
        #expect(try JSONValue(parsing: own.stdout)["warnings"] == nil)
    }
}
