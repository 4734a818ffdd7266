import Foundation
import TestSupport
import Testing

/// `signet sign` and `signet verify` with `--body`.
@Suite struct BodyFileToolTests {
    private static let head = """
        PUT /backup HTTP/1.1
        Host: api.example.com
        Content-Type: application/octet-stream


        """

    private let folder: TemporaryDirectory
    private let keys: String
    private let head: String
    private let body: String

    init() throws {
        folder = try TemporaryDirectory()
        let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        keys = try folder.write(
            #"{"keys":[{"kty":"oct","kid":"k","use":"sig","alg":"HS256","k":"\#(secret)"}]}"#,
            to: "keys")
        head = try folder.write(Self.head, to: "head")
        body = try folder.write(String(repeating: "0123456789abcdef", count: 20_000), to: "body")
    }

    private func sign(_ more: [String], stdin: [UInt8] = []) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["sign", "--scheme", "rfc9421", "--keys", keys, "--time", "1795228551"] + more,
            stdin: stdin)
    }

    private func verify(_ more: [String], stdin: [UInt8] = []) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["verify", "--scheme", "rfc9421", "--keys", keys, "--now", "1795228551"] + more,
            stdin: stdin)
    }

    private func signedHead() async throws -> (head: String, whole: [UInt8]) {
        let signed = try await sign(["--body", body, head])
        #expect(signed.exit == 0, "\(signed.stderr)")
        let end = try #require(Data(signed.stdout).range(of: Data("\r\n\r\n".utf8)))
        let path = folder.url.appending(path: "signed").path
        try Data(signed.stdout[..<end.upperBound]).write(to: URL(filePath: path))
        return (path, Array(signed.stdout))
    }

    @Test func sendsASignedFileInPieces() async throws {
        let server = try await CaptureServer()
        let head = try folder.write(
            "PUT /backup HTTP/1.1\nHost: 127.0.0.1:\(server.port)\n\n", to: "send")
        let signing = ["--scheme", "rfc9421", "--keys", keys, "--plain-http", "--timeout", "300"]
        let sent = try await SignetTool.run(["send", "--body", body] + signing + [head])
        #expect(sent.exit == 0, "\(sent.stderr)")
        let request = try #require(try await server.requests(count: 1).first)
        #expect(request.count > 320_000)
        let verified = try await SignetTool.run(
            ["verify", "--scheme", "rfc9421", "--keys", keys, "--plain-http"], stdin: request)
        #expect(verified.exit == 0, "\(verified.stderr)")
        // A pipe cannot be read twice: refused before anything is sent.
        let piped = try await SignetTool.run(
            ["send", "--body", "-", "--json"] + signing + [head], stdin: [1])
        #expect(piped.exit == 3 && piped.text.contains("body-not-replayable"), "\(piped.text)")
        let unsigned = try await SignetTool.run(
            ["send", "--body", "-", "--plain-http", "--out", "x", head], stdin: [1])
        #expect(unsigned.exit == 2)
        for path in [folder.path, folder.path("missing")] {
            let refused = try await SignetTool.run(
                ["send", "--body", path, "--json"] + signing + [head])
            #expect(refused.exit == 2 && refused.text.contains("body-failed"), "\(refused.text)")
        }
        #expect(try await server.requests(count: 1).count == 1)
    }

    /// Prints head and file, and verifies them together and separately.
    @Test func signsAndVerifiesAHeadAndItsFile() async throws {
        let (head, whole) = try await signedHead()
        #expect(whole.count > 320_000)
        let apart = try await verify(["--body", body, head])
        #expect(apart.exit == 0, "\(apart.stderr)")
        let piped = try await verify(
            ["--body", "-", head], stdin: Array(Data(contentsOf: URL(filePath: body))))
        #expect(piped.exit == 0, "\(piped.stderr)")
        let together = try await verify([], stdin: whole)
        #expect(together.exit == 0, "\(together.stderr)")
    }

    /// Names the reason only if asked.
    @Test func refusesABodyThatWasCutOrChanged() async throws {
        let (head, _) = try await signedHead()
        let other = try folder.write("0123", to: "other")
        let plain = try await verify(["--body", other, "--json", head])
        #expect(plain.exit == 1)
        #expect(plain.text.contains(#""not-verified""#))
        let explained = try await verify(["--body", other, "--explain", "--json", head])
        #expect(explained.exit == 1)
        #expect(explained.text.contains(#""digest-mismatch""#))
        #expect(explained.text.contains(#""base""#))
        let none = try await verify([head])
        #expect(none.exit == 1)
    }

    @Test func refusesWrongUsageWithoutOutput() async throws {
        let input = Array("text".utf8)
        let cases: [([String], String)] = [
            (["--body", "-", "-"], "standard input"),
            (
                ["--body", body, try folder.write(Self.head + "x", to: "whole")],
                "a body in the message"
            ),
            (["--body", body + "-gone", head], "cannot open"),
            (["--body", folder.url.path, head], "folder"),
        ]
        for (arguments, words) in cases {
            let output = try await sign(arguments, stdin: input)
            #expect(output.exit == 2)
            #expect(output.stdout.isEmpty)
            #expect(output.stderr.contains(words), "\(output.stderr)")
        }
        let pipe = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c",
                #"echo text | "$0" sign --scheme rfc9421 --keys "$1" --body - "$2""#,
                SignetTool.url.path, keys, head,
            ])
        #expect(pipe.exit == 2)
        #expect(pipe.stdout.isEmpty)
        #expect(pipe.stderr.contains("cannot be read twice"))
        let headers = try await sign(["--body", "-", "--show", "headers", head], stdin: input)
        #expect(headers.exit == 0)
        #expect(headers.text.hasPrefix("Content-Digest: sha-256=:"))
        let json = try await sign(["--body", body, "--json", head])
        #expect(json.exit == 0)
        #expect(json.text.contains(#""head":"PUT /backup HTTP/1.1"#))
    }
}
