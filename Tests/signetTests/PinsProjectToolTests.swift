import Foundation
import SignetJSON
import TestSupport
import Testing

/// The CAs of a project, in the commands of `signet pins` that connect to a server.
@Suite struct PinsProjectToolTests {
    private let folder: TemporaryDirectory
    private let authority: TestAuthority
    private let server: OpenSSLServer

    init() async throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority.trusted.get()
        server = try await OpenSSLServer(authority.identity)
        try folder.write(Data(contentsOf: URL(filePath: authority.caFile)), to: "ca.pem")
        try folder.write(#"{"caFile":"ca.pem","policy":"policy.json"}"#, to: "signet.json")
        try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.leaf.pin)"]}}}"#, to: "policy.json")
    }

    private var commands: [[String]] {
        let url = "https://localhost:\(server.port)"
        return [
            ["show", url], ["check", url, "--policy", "policy.json"],
            ["plan", url, "--policy", "policy.json"],
        ]
    }

    private func pins(_ arguments: [String]) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["pins"] + arguments,
            environment: ["HOME": folder.url.path, "XDG_CONFIG_HOME": ""], directory: folder.url)
    }

    @Test func takesTheCAsOfATrustedProject() async throws {
        for command in commands {
            let named = try await pins(command + ["--project", "signet.json"])
            #expect(named.exit != 3 && named.text.contains(authority.leaf.pin), "\(named.stderr)")
            // The option wins.
            let rogue = try await pins(
                command + ["--project", "signet.json", "--ca-file"]
                    + [TestAuthority.rogue.get().caFile])
            #expect(rogue.exit == 3, "\(rogue.text)")
        }
    }

    @Test func refusesAProjectWithoutTrust() async throws {
        for command in commands {
            let found = try await pins(command)
            #expect(found.exit == 2, "\(found.text)")
            #expect(found.stderr.contains("signet project trust"), "\(found.stderr)")
        }
        // A file needs no server.
        let file = try await pins(["show", "ca.pem"])
        #expect(file.exit == 0 && file.text == authority.root.pin + "\n", "\(file.stderr)")
    }

    @Test func aPolicyHasNoPorts() async throws {
        let shown = try await pins(
            ["show", "https://localhost:\(server.port)", "--format", "policy"] + [
                "--ca-file", authority.caFile, "--backup", authority.root.pin,
            ])
        #expect(try JSONValue(parsing: shown.stdout)["hosts"]?.object?.memberNames == ["localhost"])
        #expect(
            shown.stderr.contains("https://localhost:\(server.port): a policy has no ports"),
            "\(shown.stderr)")
    }
}
