import Foundation
import TestSupport
import Testing

@Suite("signet verify --nonce-store")
struct RedisToolTests {
    private func run(_ folder: TemporaryDirectory, _ arguments: String...) async throws
        -> ProcessOutput
    {
        try await SignetTool.run(arguments, directory: folder.url)
    }

    /// A folder with a key and a signed message.
    private func prepared() async throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try folder.write("POST /a HTTP/1.1\nHost: h\n\nbody", to: "request")
        _ = try await run(folder, "keys", "new", "--type", "hmac", "--id", "k", "--out", "keys")
        let signed = try await run(
            folder, "sign", "--scheme", "rfc9421", "--keys", "keys", "--nonce", "n1", "--time",
            "1795228551", "request")
        #expect(signed.exit == 0)
        try folder.write(signed.stdout, to: "signed")
        return folder
    }

    private func verify(_ folder: TemporaryDirectory, _ more: String...) async throws
        -> ProcessOutput
    {
        let arguments = ["verify", "--scheme", "rfc9421", "--keys", "keys", "--now", "1795228551"]
        return try await SignetTool.run(
            arguments + more + ["--json", "signed"], directory: folder.url)
    }

    @Test("takes a message once, with a password that is no argument")
    func once() async throws {
        let host = try await RedisHost.start(["--requirepass", "right-ZZZZZZ"])
        let folder = try await prepared()
        try folder.write("right-ZZZZZZ\n", to: "password")
        try folder.write("wrong-ZZZZZZ\n", to: "wrong")
        let url = "redis://127.0.0.1:\(host.port)"
        let wrong = try await verify(
            folder, "--nonce-store", url, "--nonce-store-password", "wrong")
        #expect(wrong.exit == 3)
        #expect(wrong.text.contains("nonce-store-unavailable") && wrong.text.contains("WRONGPASS"))
        #expect(!wrong.text.contains("ZZZZZZ") && !wrong.stderr.contains("ZZZZZZ"))
        let first = try await verify(
            folder, "--nonce-store", url, "--nonce-store-password", "password")
        #expect(first.exit == 0)
        let again = try await verify(
            folder, "--nonce-store", url, "--nonce-store-password", "password")
        #expect(again.exit == 1)
        #expect(again.text.contains("not-verified"))
        let explained = try await verify(
            folder, "--explain", "--nonce-store", "unix:\(host.folder.path("redis"))",
            "--nonce-store-password", "password")
        #expect(explained.exit == 1 && explained.text.contains("replayed-nonce"))
    }

    @Test("a Redis that is away is no usable answer; wrong options are wrong usage")
    func refusals() async throws {
        let folder = try await prepared()
        let away = try await verify(folder, "--nonce-store", "redis://127.0.0.1:\(freePort())")
        #expect(away.exit == 3 && away.text.contains("nonce-store-unavailable"))
        for options in [
            ["--nonce-store", "redis://:secret@127.0.0.1"], ["--nonce-store", "http://h"],
            ["--nonce-store", "redis://h", "--nonces", "file"], ["--nonce-store-user", "u"],
            ["--nonce-store", "redis://h", "--nonce-store-ca-file", "file"],
            ["--nonce-store", "redis://h", "--nonce-store-user", "u"],
            ["--nonce-store", "redis://h", "--nonce-store-password", "absent"],
        ] {
            let output = try await SignetTool.run(
                ["verify", "--scheme", "rfc9421", "--keys", "keys", "--json"] + options + [
                    "signed"
                ],
                directory: folder.url)
            #expect(output.exit == 2, "\(options): \(output.text)")
            #expect(!output.text.contains("secret") && !output.stderr.contains("secret"))
        }
    }
}
