import Foundation
import TestSupport
import Testing

/// `signet verify --nonce-store` with a Redis.
@Suite struct RedisToolTests {
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

    @Test func takesAMessageOnceWithAPassword() async throws {
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

    @Test func trustsOnlyTheSystemsAuthorities() async throws {
        let authority = try TestAuthority.trusted.get()
        let port = freePort()
        let host = try await RedisHost.start([
            "--tls-port", "\(port)", "--tls-cert-file", authority.leaf.chain,
            "--tls-key-file", authority.leaf.key, "--tls-ca-cert-file", authority.caFile,
            "--tls-auth-clients", "no",
        ])
        let folder = try await prepared()
        let authorities = try TemporaryDirectory()
        try authorities.write(Data(contentsOf: URL(filePath: authority.caFile)), to: "root.pem")
        let hashed = try await ChildProcess.run("openssl", ["rehash", authorities.path])
        #expect(hashed.exit == 0)
        let arguments = [
            "verify", "--scheme", "rfc9421", "--keys", "keys", "--now", "1795228551",
            "--nonce-store", "rediss://localhost:\(port)", "signed",
        ]
        for environment in [
            ["SSL_CERT_FILE": authority.caFile], ["SSL_CERT_DIR": authorities.path],
        ] {
            let output = try await SignetTool.run(
                arguments, environment: environment, directory: folder.url)
            #expect(output.exit == 3, "\(environment): \(output.text)")
            #expect(output.stderr.contains("no TLS connection that can be trusted"))
            let traced = try await ChildProcess.run(
                "strace",
                ["-f", "-qq", "-s", "4096", "-o", "trace", "-e", "trace=%file"]
                    + [SignetTool.url.path] + arguments,
                environment: environment.merging(FaultInjection.environment) { $1 },
                directory: folder.url)
            #expect(traced.exit == 3)
            let trace = String(decoding: try folder.read("trace"), as: UTF8.self)
            let calls = trace.split(separator: "\n").filter { !$0.contains("execve(") }
            let system = try await ChildProcess.run("openssl", ["version", "-d"]).text
            let place = try #require(system.split(separator: "\"").dropFirst().first)
            #expect(calls.contains { $0.contains("\(place)/cert") })
            let named = environment.values.joined()
            #expect(!calls.contains { $0.contains(named) })
        }
        #expect(try await host.ask("DBSIZE") == "0")
        let trusted = try await SignetTool.run(
            arguments + ["--nonce-store-ca-file", authority.caFile],
            environment: ["SSL_CERT_FILE": folder.path("absent")], directory: folder.url)
        #expect(trusted.exit == 0, "\(trusted.stderr)")
    }

    @Test func tellsAnOutageFromWrongUsage() async throws {
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
