import Foundation
import TestSupport
import Testing

/// Colours and tables stand on a terminal, and nowhere else.
@Suite struct PinsTerminalToolTests {
    private static let script = "/usr/bin/script"

    /// What `signet pins …` writes to a terminal, which util-linux's `script` makes.
    private func onATerminal(
        _ arguments: String, in folder: TemporaryDirectory, environment: [String: String]
    ) async throws -> String {
        // Where the tests run, it may be set.
        let unset = environment["NO_COLOR"] == nil ? "env -u NO_COLOR " : ""
        let output = try await ChildProcess.run(
            Self.script,
            ["-qec", "\(unset)'\(SignetTool.url.path)' pins \(arguments)", "/dev/null"],
            environment: environment, directory: folder.url)
        return output.text
    }

    @Test(
        .enabled("util-linux's script is there") {
            FileManager.default.isExecutableFile(atPath: script)
        },
        arguments: [
            (["TERM": "xterm"], true), (["TERM": "dumb"], false),
            (["TERM": "xterm", "NO_COLOR": "1"], false),
        ] as [([String: String], Bool)])
    func coloursStandOnATerminalAlone(_ environment: [String: String], _ isColored: Bool)
        async throws
    {
        let folder = try TemporaryDirectory()
        let leaf = try TestAuthority.trusted.get().leaf
        try folder.write(#"{"hosts":{"localhost":{"pins":["\#(leaf.pin)"]}}}"#, to: "p.json")
        for arguments in ["lint p.json", "plan --policy p.json", "show '\(leaf.pem)'"] {
            let text = try await onATerminal(arguments, in: folder, environment: environment)
            #expect(text.contains("\u{1B}[") == isColored, "\(arguments): \(text)")
        }
        let shown = try await onATerminal(
            "show '\(leaf.pem)'", in: folder, environment: environment)
        #expect(shown.contains("SUBJECT") && shown.contains(leaf.pin))
        let json = try await onATerminal(
            "show --json '\(leaf.pem)'", in: folder, environment: environment)
        #expect(!json.contains("\u{1B}[") && json.contains("{\"pins\""))
        // A server's chain has dates too, as has a file's certificate.
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity)
        let chain = try await onATerminal(
            "show 'https://localhost:\(server.port)' --ca-file '\(authority.caFile)'", in: folder,
            environment: environment)
        try await server.stop()
        #expect(chain.contains(leaf.pin) && chain.contains(/20[0-9]{2}-[01][0-9]-[0-3][0-9]/))
        // A pipe gets the pins alone.
        let piped = try await SignetTool.run(["pins", "show", leaf.pem])
        #expect(piped.text == leaf.pin + "\n")
    }
}
