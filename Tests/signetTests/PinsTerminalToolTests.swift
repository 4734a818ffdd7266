import Foundation
import TestSupport
import Testing

/// util-linux's program that makes a terminal.
private let script = "/usr/bin/script"

/// Colours and tables appear only on a terminal.
@Suite(
    .enabled("util-linux's script is there") {
        FileManager.default.isExecutableFile(atPath: script)
    })
/// Colours and tables, which are printed on a terminal only.
struct PinsTerminalToolTests {
    /// The output of `signet pins …` on a terminal, which util-linux's `script` makes.
    private func onATerminal(
        _ arguments: String, in folder: TemporaryDirectory, environment: [String: String]
    ) async throws -> String {
        // Where the tests run, it may be set.
        let unset = environment["NO_COLOR"] == nil ? "env -u NO_COLOR " : ""
        let output = try await ChildProcess.run(
            script,
            ["-qec", "\(unset)'\(SignetTool.url.path)' pins \(arguments)", "/dev/null"],
            environment: environment, directory: folder.url)
        return output.text
    }

    @Test(
        arguments: [
            (["TERM": "xterm"], true), (["TERM": "dumb"], false),
            (["TERM": "xterm", "NO_COLOR": "1"], false),
        ] as [([String: String], Bool)])
    func coloursAppearOnlyOnATerminal(_ environment: [String: String], _ isColored: Bool)
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

    /// A person who checks a server sees a row for each certificate, with its last day, and one for
    /// each wanted pin that the server did not show; a pipe gets plain lines.
    @Test func checkingAServerIsATableOnATerminalAlone() async throws {
        let authority = try TestAuthority.trusted.get()
        let leaf = try authority.issue(to: "20491231235959Z")
        let server = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: authority.intermediate.pem))
        let folder = try TemporaryDirectory()
        let spare = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let other = "sha256/\(String(repeating: "A", count: 42))E="
        for (name, first) in [("right", leaf.pin), ("wrong", other)] {
            try folder.write(
                #"{"hosts":{"localhost":{"pins":["\#(first)","\#(spare)"],"expires":"2049-06-30"}}}"#,
                to: "\(name).json")
        }
        func check(_ policy: String) -> String {
            "check 'https://localhost:\(server.port)' --ca-file '\(authority.caFile)' --policy"
                + " \(policy).json"
        }
        func rows(_ text: String) -> [[Substring]] {
            text.split(whereSeparator: \.isNewline)
                .map { $0.split(separator: #/  +/#) }.filter { $0.count == 4 }
        }
        let plain = ["TERM": "dumb"]
        let right = try await onATerminal(check("right"), in: folder, environment: plain)
        #expect(right.contains("localhost:\(server.port): match"))
        #expect(right.contains("rule localhost (enforce, expires 2049-06-30)"))
        let shown = rows(right)
        #expect(
            shown.map(\.first) == [
                "PIN", leaf.pin[...], authority.intermediate.pin[...], authority.root.pin[...],
                spare[...],
            ])
        #expect(shown.map { $0[1] } == ["STATE", "match", "seen", "seen", "not seen"])
        #expect(shown.count > 1 && shown[1][2] == "2049-12-31")
        #expect(shown.dropFirst(2).prefix(2).allSatisfy { $0[2].contains(/^20\d\d-\d\d-\d\d$/) })
        // A refusal has each pin once, in lines that fit, and no table.
        let wrong = try await onATerminal(check("wrong"), in: folder, environment: plain)
        #expect(wrong.contains("signet: no pin matches for localhost"))
        #expect(rows(wrong).isEmpty)
        let pins = wrong.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("    sha256/") }
        #expect(pins.count == 5 && pins.first?.hasPrefix("    \(leaf.pin)  ") == true)
        #expect(wrong.split(whereSeparator: \.isNewline).allSatisfy { $0.count <= 100 })
        let colored = try await onATerminal(
            check("right"), in: folder, environment: ["TERM": "xterm"])
        #expect(colored.contains("\u{1B}[32m2049-12-31\u{1B}[0m"))
        let words = [
            "pins", "check", "https://localhost:\(server.port)", "--ca-file", authority.caFile,
            "--policy",
        ]
        let piped = try await SignetTool.run(words + ["right.json"], directory: folder.url)
        let lines = piped.text.split(separator: "\n")
        #expect(lines.count == 5 && lines[2].hasPrefix("= \(leaf.pin) "))
        #expect(lines.dropFirst(3).allSatisfy { $0.hasPrefix("  sha256/") })
        #expect(!piped.text.contains("2049-12-31") && !piped.text.contains("STATE"))
        let refused = try await SignetTool.run(words + ["wrong.json"], directory: folder.url)
        #expect(refused.exit == 1 && refused.stdout.isEmpty)
        try await server.stop()
    }
}
