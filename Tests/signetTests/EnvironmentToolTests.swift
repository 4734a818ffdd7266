import Foundation
import SignetJSON
import TestSupport
import Testing

/// The parts of its environment, such as proxy variables, that the tool uses or ignores.
@Suite struct EnvironmentToolTests {
    private static let message = "GET /plain HTTP/1.1\nAuthorization: topsecret\n"

    private func send(
        _ host: RouteServer, _ options: [String] = [], environment: [String: String] = [:],
        trusts: Bool = true
    ) async throws -> ProcessOutput {
        let caFile = try TestAuthority.trusted.get().caFile
        return try await SignetTool.run(
            ["send", "--json"] + (trusts ? ["--ca-file", caFile] : []) + options,
            stdin: Array((Self.message + "Host: localhost:\(host.port)\n\n").utf8),
            environment: environment)
    }

    private func code(_ output: ProcessOutput) throws -> String? {
        try JSONValue(parsing: output.stdout)["error"]?["code"]?.string
    }

    private func host() async throws -> RouteServer {
        try await RouteServer(
            ["/plain": "200 OK\r\n\r\nx"], tls: TestAuthority.trusted.get().leaf)
    }

    @Test func proxiesComeFromOptionOrEnvironment() async throws {
        let host = try await host()
        let proxy = try await ProxyServer(login: "u:s3cr3t")
        let url = "http://127.0.0.1:\(proxy.port)"
        let login = "http://u:s3cr3t@127.0.0.1:\(proxy.port)"
        var asked = 0
        for (options, environment, isUsed) in [
            ([], ["https_proxy": login], true), ([], ["HTTPS_PROXY": login], true),
            ([], ["https_proxy": login, "no_proxy": "localhost"], false),
            ([], ["HTTP_PROXY": login, "http_proxy": login], false),
            ([], ["ALL_PROXY": login, "all_proxy": login], false),
            (["--proxy", ""], ["https_proxy": login], false),
            (["--no-proxy", "*"], ["https_proxy": login], false),
            (["--proxy", url, "--proxy-credentials", "env:LOGIN"], ["LOGIN": "u:s3cr3t"], true),
        ] as [([String], [String: String], Bool)] {
            let output = try await send(host, options, environment: environment)
            #expect(output.exit == 0, "\(options) \(environment): \(output.text)")
            asked += isUsed ? 1 : 0
            #expect(proxy.asked.count == asked, "\(options) \(environment)")
        }
        #expect(!proxy.heard.contains("topsecret"))
        for (options, environment, exit, wanted) in [
            (["--proxy", login], [:], 2, "invalid-request"),
            (["--proxy", "ftp://x"], [:], 2, "invalid-request"),
            (["--proxy-credentials", "env:LOGIN"], ["LOGIN": "u:s3cr3t"], 2, "usage"),
            (["--proxy", url], [:], 3, "proxy-authentication"),
            (["--proxy", "http://127.0.0.1:\(freePort())"], [:], 3, "proxy"),
            ([], ["https_proxy": "ftp://u:s3cr3t@x"], 2, "invalid-request"),
        ] as [([String], [String: String], Int32, String)] {
            let output = try await send(host, options, environment: environment)
            #expect(output.exit == exit, "\(output.text)")
            #expect(try code(output) == wanted)
            #expect(!output.text.contains("s3cr3t") && !output.stderr.contains("s3cr3t"))
        }
    }

    @Test func aPinIsCheckedThroughAProxy() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await host()
        let proxy = try await ProxyServer()
        let folder = try TemporaryDirectory()
        for (pin, exit) in [
            (authority.root.pin, 0),
            ("sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", 1),
        ] as [(String, Int32)] {
            let policy = try folder.write(
                #"{"hosts":{"localhost":{"pins":["\#(pin)"]}}}"#, to: "policy.json")
            let output = try await SignetTool.run([
                "pins", "check", host.url, "--policy", policy, "--ca-file", authority.caFile,
                "--proxy", "http://127.0.0.1:\(proxy.port)", "--json",
            ])
            #expect(output.exit == exit, "\(output.text)")
        }
        #expect(proxy.asked.count == 2 && host.requests.isEmpty)
    }

    @Test func nothingElseOfTheEnvironmentDecides() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await host()
        let folder = try TemporaryDirectory()
        let keys = folder.path("session-keys")
        try folder.write("machine localhost login u password s3cr3t\n", to: ".netrc")
        try folder.write(
            "insecure\nproxy = http://127.0.0.1:1\nheader = X-Rc: s3cr3t\n", to: ".curlrc")
        let surroundings = [
            "SSLKEYLOGFILE": keys, "HOME": folder.path, "CURL_HOME": folder.path,
            "XDG_CONFIG_HOME": folder.path, "NETRC": folder.path(".netrc"),
            "CURL_CA_BUNDLE": authority.caFile, "SSL_CERT_FILE": authority.caFile,
            "SSL_CERT_DIR": folder.path, "ALL_PROXY": "http://127.0.0.1:1",
            "CURL_SSL_BACKEND": "gnutls", "DOH_URL": "https://127.0.0.1:1/dns-query",
            "ALTSVC": folder.path("altsvc"), "HSTS": folder.path("hsts"),
        ]
        let good = try await send(host, environment: surroundings)
        #expect(good.exit == 0, "\(good.text)")
        // The file may be made by libcurl, but no key of a session is ever in it.
        #expect(((try? folder.read("session-keys")) ?? []).isEmpty)
        #expect(host.requests.count == 1)
        #expect(!host.requests[0].contains("s3cr3t"))
        // Authorities come from --ca-file or the system, never from a variable.
        let untrusted = try await send(host, environment: surroundings, trusts: false)
        #expect(untrusted.exit == 3)
        #expect(try code(untrusted) == "tls")
        #expect(host.requests.count == 1)
    }

    @Test func openSSLsOwnConfigurationIsTheSystems() async throws {
        // It can restrict the TLS versions, as for every program; it adds no trusted CA.
        let host = try await host()
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            """
            openssl_conf = start
            [start]
            ssl_conf = ssl
            [ssl]
            system_default = all
            [all]
            MinProtocol = None
            VerifyMode = None
            """, to: "openssl.cnf")
        let rogue = try TestAuthority.rogue.get()
        let output = try await SignetTool.run(
            ["send", "--json", "--ca-file", rogue.caFile],
            stdin: Array((Self.message + "Host: localhost:\(host.port)\n\n").utf8),
            environment: ["OPENSSL_CONF": file])
        #expect(output.exit == 3, "\(output.text)")
        #expect(try code(output) == "tls")
        #expect(host.requests.isEmpty)
    }

    /// Swift's runtime would print the bytes that the registers point to.
    @Test func aCrashShowsNoMemory() async throws {
        let folder = try TemporaryDirectory()
        // The program waits for the pipe, which is open on this side when it is open on the other.
        let output = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c",
                """
                mkfifo pipe
                "$@" pipe & program=$!
                exec 3>pipe
                kill -SEGV $program
                wait $program
                """, "sh", SignetTool.url.path, "pins", "show",
            ], environment: ["SWIFT_BACKTRACE": "enable=yes"], directory: folder.url, timeout: 300)
        // AddressSanitizer has a report of its own, of registers alone.
        #expect(output.exit == 139 || output.stderr.contains("AddressSanitizer"))
        #expect(!output.stderr.contains("Backtracing"), "\(output.stderr)")
    }
}
