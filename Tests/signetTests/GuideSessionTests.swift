import Foundation
import TestSupport
import Testing

/// The shell sessions of README.md and of the guides, with their output.
@Suite struct GuideSessionTests {
    private static let vault = "Sources/SignetVault/SignetVault.docc/"
    private static let signing = "Sources/SignetSigning/SignetSigning.docc/"
    private static let pinning = "Sources/SignetPinning/SignetPinning.docc/"
    private static let formats = "Sources/SignetPinFormats/SignetPinFormats.docc/"
    private static let sealing = vault + "Seal-your-configuration.md"

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// The only block of a kind that a text has.
    private func block(_ kind: String, of path: String) throws -> String {
        let blocks = try Article(path).blocks(in: kind)
        try #require(blocks.count == 1, "\(path) has \(blocks.count) blocks of \(kind)")
        return blocks[0].joined(separator: "\n") + "\n"
    }

    /// Runs all sessions of a text in one shell, and compares what they print.
    ///
    /// - Parameter masks: Whether pins are compared by their order and dates not at all, because
    ///   the keys of the session are new each time.
    private func run(
        _ path: String, masks: Bool = false, environment: [String: String] = [:],
        programs: URL? = nil
    ) async throws {
        let session = ConsoleSession(lines: try Article(path).blocks(in: "console").flatMap { $0 })
        #expect(session.commands.count >= 3)
        // An app's keys go to the home folder.
        let output = try await session.run(
            in: folder,
            environment: environment.merging(["HOME": folder.url.path, "XDG_CONFIG_HOME": ""]) {
                $1
            }, programs: programs)
        let printed = output.text.replacing(folder.url.path, with: "/home/shop")
        if masks {
            #expect(masked(output.text) == masked(session.text), "\(output.text)")
        } else {
            #expect(printed == session.text, "\(printed)")
        }
    }

    private func masked(_ text: String) -> String {
        var masked = text
        var pins: [Substring] = []
        for match in text.matches(of: /sha256\/[A-Za-z0-9+\/]{43}=/)
        where !pins.contains(match.output) {
            pins.append(match.output)
            masked = masked.replacing(match.output, with: "PIN \(pins.count)")
        }
        return masked.replacing(/\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?/, with: "DATE")
    }

    @Test func theReadme() async throws { try await run("README.md") }

    @Test(arguments: [
        "several-environments", "keys-lost-or-rotated", "ci", "coming-from-sops-or-age",
        "coming-from-curl-and-openssl", "share-keys",
    ])
    func aPage(_ name: String) async throws { try await run("Documentation/\(name).md") }

    @Test func changingValues() async throws {
        for name in ["schema.json", "defaults.json"] {
            try folder.write(
                Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
        }
        // A program `signet` that gives `vault edit` a terminal.
        let programs = try TemporaryDirectory()
        try programs.write(
            """
            #!/bin/sh
            [ "$2" = edit ] && exec python3 '\(PythonPeer.script("terminal"))' '\(SignetTool.url.path)' "$@"
            exec '\(SignetTool.url.path)' "$@"
            """, to: "signet", mode: 0o755)
        try await run(
            Self.vault + "Change-sealed-values.md",
            environment: ["VISUAL": #"sed -i '/"timeouts.connect"/s/3s/2s/'"#],
            programs: programs.url)
    }

    /// The session runs the guide's program, `shop-database`, so it must be the guide's code.
    @Test func sealing() async throws {
        let program = try String(
            contentsOf: PackageLayout.url("Examples/shop-database/main.swift"), encoding: .utf8)
        #expect(try block("swift", of: Self.sealing) == program)
        #expect(program.split(separator: "\n").count <= 25)
        try folder.write(block("yaml", of: Self.sealing), to: "config.yaml")
        try await run(Self.sealing)
    }

    /// At the limit of locked memory a secret is lent all the same.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/setpriv")))
    func readsASecretWithoutLockedMemory() async throws {
        try folder.write(block("yaml", of: Self.sealing), to: "config.yaml")
        let made = try await SignetTool.run(
            [
                "vault", "init", "config.yaml", "--out", ".", "--app-id", "com.example.shop",
                "--keys", "keys",
            ], directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        // The system lets root lock any memory, unless it has lost that capability.
        let script = """
            ulimit -l 0
            [ "$(id -u)" != 0 ] || exec setpriv --bounding-set=-ipc_lock "$0" "$@"
            exec "$0" "$@"
            """
        let program = SignetTool.url.deletingLastPathComponent().appending(path: "shop-database")
        let output = try await ChildProcess.run(
            "sh", ["-c", script, program.path, "keys"], directory: folder.url)
        #expect(output.text == "connects to db.internal with a password of 14 bytes\n")
        #expect(output.exit == 0, "\(output.stderr)")
    }

    /// The unit of the guide, started as systemd starts it: with a folder of credentials.
    @Test func theUnitOfTheSealingGuide() async throws {
        try folder.write(block("yaml", of: Self.sealing), to: "config.yaml")
        let made = try await SignetTool.run(
            [
                "vault", "init", "config.yaml", "--out", ".", "--app-id", "com.example.shop",
                "--app-version", "1.0.0", "--keys", "keys",
            ], directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        try FileManager.default.moveItem(
            atPath: folder.path("signet.dump"), toPath: folder.path("dump"))
        let unit = try block("ini", of: Self.sealing)
        let start = try #require(
            unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let words = start.dropFirst("ExecStart=".count).split(separator: " ").map {
            $0 == "/usr/local/bin/shop"
                ? "/usr/bin/env" : String($0).replacing("%d", with: folder.url.path)
        }
        #expect(words.first == "/usr/local/bin/signet")
        let output = try await SignetTool.run(
            Array(words.dropFirst()), environment: ["CREDENTIALS_DIRECTORY": folder.url.path],
            directory: folder.url)
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(output.text.contains("SHOP_ORDERS_TIMEOUT=5s\n"))
        #expect(output.text.contains("SHOP_DATABASE_PASSWORD=tiger-9Kd2mQx7\n"))
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/systemd-analyze")))
    func systemdAcceptsTheUnit() async throws {
        let unit = try block("ini", of: Self.sealing)
            .replacing("/usr/local/bin/signet", with: SignetTool.url.path)
        func verify(_ unit: String) async throws -> ProcessOutput {
            try folder.write(unit, to: "shop.service")
            return try await ChildProcess.run(
                "/usr/bin/systemd-analyze", ["verify", folder.path("shop.service")])
        }
        let good = try await verify(unit)
        #expect(good.exit == 0 && !good.stderr.contains("shop.service"), "\(good.stderr)")
        // An unknown setting is only a warning, but is seen here.
        let bad = try await verify(unit.replacing("LoadCredential", with: "LoadCredentials"))
        #expect(bad.stderr.contains("LoadCredentials"))
    }

    @Test func signingForAPartner() async throws {
        try await run(Self.signing + "Sign-requests-for-a-partner.md")
    }

    @Test func verifyingWebhooks() async throws {
        try await run(Self.signing + "Verify-webhooks-behind-nginx.md")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/sbin/nginx")))
    func nginxAcceptsTheServer() async throws {
        let leaf = try TestAuthority.trusted.get().leaf
        let server = try block("nginx", of: Self.signing + "Verify-webhooks-behind-nginx.md")
            .replacing("listen 443", with: "listen 127.0.0.1:8443")
            .replacing("/etc/shop/tls.pem", with: leaf.pem)
            .replacing("/etc/shop/tls.key", with: leaf.key)
        func test(_ server: String) async throws -> ProcessOutput {
            try folder.write(
                """
                pid nginx.pid;
                error_log stderr;
                events {}
                http {
                access_log off;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                \(server)
                }

                """, to: "nginx.conf")
            return try await ChildProcess.run(
                "/usr/sbin/nginx",
                ["-t", "-e", "stderr", "-p", folder.path + "/", "-c", "nginx.conf"])
        }
        let good = try await test(server)
        #expect(good.exit == 0, "\(good.stderr)")
        let bad = try await test(server.replacing("client_max_body_size", with: "no_such_name"))
        #expect(bad.exit != 0)
    }

    @Test func rotatingAPinnedKey() async throws {
        try await run(
            Self.pinning + "Pin-a-server-and-rotate-its-key.md", masks: true)
    }

    @Test func comingFromOtherFormats() async throws {
        let path = Self.formats + "Coming-from-TrustKit-OkHttp-or-Android.md"
        try folder.write(block("kotlin", of: path), to: "Pins.kt")
        try folder.write(block("xml", of: path), to: "network_security_config.xml")
        try await run(path)
    }
}
