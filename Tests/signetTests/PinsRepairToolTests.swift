import Foundation
import SignetJSON
import TestSupport
import Testing

/// A policy corrected by the values in an error of `signet pins check`.
@Suite struct PinsRepairToolTests {
    private let folder: TemporaryDirectory
    private let authority: TestAuthority

    init() throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority.trusted.get()
    }

    private static let other = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private func check(_ port: Int, policy: String, _ more: String...) async throws
        -> ProcessOutput
    {
        try await SignetTool.run(
            [
                "pins", "check", "https://localhost:\(port)", "--policy",
                folder.write(policy, to: "policy.json"), "--ca-file", authority.caFile,
            ] + more)
    }

    @Test(arguments: [
        #"{"hosts":{"localhost":{"pins":["$other"]}}}"#,
        #"{"hosts":{"localhost":{"pins":["$other"],"includeSubdomains":true}}}"#,
        #"{"hosts":{"elsewhere.example":{"pins":["$other"]}}}"#,
        #"{"hosts":{"localhost":{"pins":["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}}}"#,
        #"{"hosts":{"localhost":{"pins":["$other"]},"example.com":{"pins":["$leaf"]}}}"#,
    ])
    func thePrintedEntryCanBePasted(_ policy: String) async throws {
        let server = try await OpenSSLServer(authority.identity)
        let wrong = policy.replacing("$other", with: Self.other)
            .replacing("$leaf", with: authority.leaf.pin)
        let refused = try await check(server.port, policy: wrong)
        #expect(refused.exit == 1)
        let words = refused.text + refused.stderr
        for pin in [authority.leaf.pin, authority.intermediate.pin, authority.root.pin] {
            #expect(words.contains(pin))
        }
        // The entry of the message, copied into the braces of "hosts".
        let entry = try #require(words.firstMatch(of: /(?s)"localhost": \{.*?\}/)).output
        let pasted = try await check(server.port, policy: "{\"hosts\":{\(entry)}}")
        #expect(pasted.exit == 0, "\(entry): \(pasted.stderr)")
        // For scripts, the error has the same values as members.
        let json = try JSONValue(
            parsing: try await check(server.port, policy: wrong, "--json").stdout)
        #expect(
            json["error"]?["code"]
                == (wrong.contains("elsewhere") ? "unlisted-host" : "pin-mismatch"))
        let same = try #require(json["error"]?["pin"]?["remedy"]?["entry"]?.string)
        #expect(
            try JSONValue(parsing: Array("{\(same)}".utf8))
                == JSONValue(parsing: Array("{\(entry)}".utf8)))
        #expect(json["error"]?["message"]?.string?.contains(same) == true)
        // Pin by pin, too: each pin that was seen may be added to the policy.
        for certificate in json["chain"]?.array ?? [] {
            let pin = try #require(certificate["pin"]?.string)
            let again = try await check(
                server.port, policy: #"{"hosts":{"localhost":{"pins":["\#(pin)"]}}}"#)
            #expect(again.exit == 0)
        }
    }
}
