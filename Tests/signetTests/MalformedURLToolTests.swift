import Foundation
import SignetJSON
import TestSupport
import Testing

/// The tool refuses a URL that other clients read differently, before it connects.
@Suite struct MalformedURLToolTests {
    private static let urls = [
        "https://127.0.0.1:1\\@localhost", "https://localhost:1\\", "https://localhost:1/a\\b",
        "https://localhost:1/?a\\b", "https://local\thost:1/", "https://localhost:1/\t",
        "https://localhost:1/\r", "https://localhost:1/\n", "https://localhost:1/\u{1B}[31m",
        "https://localhost:1/\u{7F}", "\thttps://localhost:1/", "https:\\\\localhost:1",
    ]

    private func expectUsage(
        _ arguments: [String], stdin: String = "", environment: [String: String] = [:]
    ) async throws {
        let output = try await SignetTool.run(
            arguments + ["--json"], stdin: Array(stdin.utf8), environment: environment)
        #expect(output.exit == 2, "\(output.text)")
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"]?.string != nil && error?["message"]?.string?.isEmpty == false)
    }

    @Test(arguments: urls)
    func pinsCheck(_ url: String) async throws {
        let folder = try TemporaryDirectory()
        let policy = try folder.write(#"{"hosts":{},"unlisted":"allow"}"#, to: "policy.json")
        try await expectUsage(["pins", "check", url, "--policy", policy])
    }

    @Test(arguments: urls)
    func pinsShow(_ url: String) async throws { try await expectUsage(["pins", "show", url]) }

    @Test(arguments: urls)
    func call(_ url: String) async throws { try await expectUsage(["call", url, "m"]) }

    @Test(arguments: [
        "GET https://127.0.0.1:1\\@localhost/ HTTP/1.1", "GET https://localhost:1/a\\b HTTP/1.1",
        "GET /a\\b HTTP/1.1\nHost: localhost:1", "GET / HTTP/1.1\nHost: 127.0.0.1:1\\@localhost",
        "GET / HTTP/1.1\nHost: localhost:1\\", "GET /\u{7F} HTTP/1.1\nHost: localhost:1",
        "GET http://localhost:1\t/x HTTP/1.1", "GET http://localhost:1\t HTTP/1.1",
        "GET http://localhost:1 /x HTTP/1.1", "GET http://\tlocalhost:1/ HTTP/1.1",
        "GET / HTTP/1.1\nHost: local\thost:1", "GET /a\tb HTTP/1.1\nHost: localhost:1",
        "GET /a\t HTTP/1.1\nHost: localhost:1", "GET /a  HTTP/1.1\nHost: localhost:1",
    ])
    func send(_ head: String) async throws {
        try await expectUsage(["send"], stdin: head + "\n\n")
    }

    @Test(arguments: [
        "http://127.0.0.1:1\\@localhost:2", "http://localhost:1\\", "http://localhost:1/\t",
        "http://localhost:1\r\n", "http://localhost:1\u{7F}",
    ])
    func proxies(_ url: String) async throws {
        try await expectUsage(["call", "https://localhost:1/", "m", "--proxy", url])
        try await expectUsage(
            ["call", "https://localhost:1/", "m"], environment: ["https_proxy": url])
        try await expectUsage(
            ["call", "http://localhost:1/", "m"], environment: ["http_proxy": url])
    }
}
