import Foundation
import SignetJSON
import TestSupport
import Testing

/// `--client-cert` of `signet call` and `send`: who the server sees, and what a refusal says.
@Suite struct ClientCertificateToolTests {
    private let authority: TestAuthority
    private let folder: TemporaryDirectory

    init() throws {
        authority = try TestAuthority.trusted.get()
        folder = try TemporaryDirectory()
    }

    /// nginx that demands a client certificate and tells whose it is.
    private func host() async throws -> OrdersHost {
        try await OrdersHost.start(
            directives: """
                ssl_client_certificate \(authority.root.pem);
                ssl_verify_client on;
                ssl_verify_depth 3;
                location /who { return 200 '"$ssl_client_s_dn"'; }
                """)
    }

    private func call(
        _ host: OrdersHost, _ options: [String], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            [
                "call", "\(host.url)/who", "GET", "--protocol", "rest", "--ca-file",
                authority.caFile, "--json",
            ] + options, environment: environment)
    }

    private func error(_ output: ProcessOutput) throws -> JSONValue? {
        try JSONValue(parsing: output.stdout)["error"]
    }

    @Test func showsTheServerWhoCalls() async throws {
        let host = try await host()
        let ann = try authority.client("ann")
        let both = try folder.write(
            Data(contentsOf: URL(filePath: ann.chain)) + Data(contentsOf: URL(filePath: ann.key)),
            to: "both.pem")
        let key = try String(contentsOf: URL(filePath: ann.key), encoding: .utf8)
        let archive = folder.path("ann.p12")
        try await folder.openssl(
            "pkcs12", "-export", "-in", ann.chain, "-inkey", ann.key, "-out", archive,
            "-passout", "pass:open sesame")
        try await folder.openssl(
            "pkey", "-in", ann.key, "-aes256", "-passout", "pass:open sesame", "-out", "locked.key")
        let passphrase = ["PASSPHRASE": "open sesame"]
        for (options, environment) in [
            (["--client-cert", ann.chain, "--client-key", ann.key], [:]),
            (["--client-cert", both], [:]),
            (["--client-cert", ann.chain, "--client-key", "env:KEY"], ["KEY": key]),
            (["--client-cert", archive, "--client-passphrase", "env:PASSPHRASE"], passphrase),
            (
                [
                    "--client-cert", ann.chain, "--client-key", folder.path("locked.key"),
                    "--client-passphrase", "env:PASSPHRASE",
                ], passphrase
            ),
        ] {
            let output = try await call(host, options, environment: environment)
            #expect(output.exit == 0, "\(options): \(output.text)\(output.stderr)")
            #expect(try JSONValue(parsing: output.stdout)["result"] == "CN=ann", "\(output.text)")
        }
        let request = "GET /who HTTP/1.1\nHost: localhost:\(host.port)\n\n"
        let sent = try await SignetTool.run(
            [
                "send", "--ca-file", authority.caFile, "--client-cert", ann.chain, "--client-key",
                ann.key,
            ], stdin: Array(request.utf8))
        #expect(sent.text.contains("CN=ann"), "\(sent.text)\(sent.stderr)")
        try await host.stop()
    }

    @Test func saysWhatTheServerMisses() async throws {
        let host = try await host()
        let missing = try await call(host, ["--http1.1"])
        #expect(missing.exit == 1, "\(missing.text)")
        #expect(
            (missing.text + missing.stderr).contains("asked for a client certificate"),
            "\(missing.text)\(missing.stderr)")
        let stranger = try authority.selfSigned("mallory")
        let other = try await call(
            host, ["--client-cert", stranger.pem, "--client-key", stranger.key])
        #expect(other.exit == 1 || other.exit == 3, "\(other.text)")
        #expect(try error(other) != nil, "\(other.text)")
        try await host.stop()
    }

    /// Nothing is sent, and no byte of a key or a passphrase is printed.
    @Test func refusesWhatItCantUse() async throws {
        let ann = try authority.client("ann")
        let bob = try authority.client("bob")
        let old = try authority.client("old", to: "20210101000000Z")
        let archive = folder.path("ann.p12")
        try await folder.openssl(
            "pkcs12", "-export", "-in", ann.chain, "-inkey", ann.key, "-out", archive,
            "-passout", "pass:open sesame")
        let empty = try folder.write("", to: "empty")
        // Nothing listens on port 1.
        let call = ["call", "https://localhost:1/", "GET", "--protocol", "rest", "--json"]
        for (options, code) in [
            (["--client-cert", ann.chain], "client-certificate"),
            (["--client-cert", ann.chain, "--client-key", bob.key], "client-certificate"),
            (["--client-cert", old.chain, "--client-key", old.key], "client-certificate"),
            (["--client-cert", ann.key, "--client-key", ann.key], "client-certificate"),
            (["--client-cert", empty, "--client-key", ann.key], "client-certificate"),
            (["--client-cert", folder.path("absent")], "client-certificate"),
            (["--client-cert", ann.chain, "--client-key", folder.path("absent")], nil),
            (
                ["--client-cert", archive, "--client-passphrase", "env:PASSPHRASE"],
                "client-certificate"
            ),
            (["--client-key", ann.key], "usage"),
            (["--client-passphrase", "env:PASSPHRASE"], "usage"),
        ] {
            let output = try await SignetTool.run(
                call + options, environment: ["PASSPHRASE": "s3cr3t words"])
            #expect(output.exit == 2, "\(options): \(output.text)")
            if let code {
                #expect(try error(output)?["code"]?.string == code, "\(options): \(output.text)")
            }
            #expect(!(output.text + output.stderr).contains("s3cr3t"), "\(options)")
            #expect(!(output.text + output.stderr).contains("PRIVATE KEY"), "\(options)")
        }
    }
}
