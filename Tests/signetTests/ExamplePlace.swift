import Foundation
import TestSupport
import Testing

/// The place where the examples of help texts and pages run: their files, and a server on loopback
/// that stands for api.example.com.
struct ExamplePlace {
    private let files: TemporaryDirectory
    private let prelude: String
    private let server: RouteServer

    /// Starts a server that responds to `routes`, and makes the files.
    init(
        routes: [String: String] = [
            "/rpc": #"200 OK\#r\#n\#r\#n{"jsonrpc":"2.0","id":1,"result":{"id":7}}"#,
            "/v1/orders/7": "200 OK\r\n\r\n{\"id\":7}",
            "/v1/orders": "200 OK\r\n\r\n[]", "/orders": "200 OK\r\n\r\n{}",
        ]
    ) async throws {
        let authority = try TestAuthority.trusted.get()
        server = try await RouteServer(routes, tls: authority.leaf)
        files = try await Self.files(authority)
        // The commands that use the network find the server under the example's name.
        prelude = """
            set -e
            signet() {
                case "$1 $2" in
                call\\ *|send\\ *|replay\\ *|"pins show"|"pins check"|"pins plan")
                    command signet "$@" --ca-file '\(authority.caFile)' \\
                        --connect-to 'api.example.com:443:127.0.0.1:\(server.port)' ;;
                *) command signet "$@" ;;
                esac
            }

            """
    }

    /// The requests that the server got.
    var requests: [String] { server.requests }

    /// A folder with the files; with `config.yaml` alone if it must be empty for `vault init`.
    func folder(isEmpty: Bool = false) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        for name in try files.contents() where !isEmpty || name == "config.yaml" {
            try folder.write(files.read(name), to: name, mode: try files.mode(name) ?? 0o600)
        }
        return folder
    }

    /// Runs commands in a folder, which is the home folder too, and stops at the first that fails.
    func run(_ commands: String, in folder: TemporaryDirectory) async throws -> ProcessOutput {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let tool = SignetTool.url.deletingLastPathComponent().path
        return try await ChildProcess.run(
            "sh", ["-c", prelude + commands + "\n"],
            environment: [
                "PATH": "\(tool):\(path)", "VISUAL": "true", "HOME": folder.url.path,
                "SECRET": "c2VjcmV0IG9mIGEgcGFydG5lcg==",
            ], directory: folder.url)
    }

    /// A recorded request to the server.
    static let recording = #"""
        {"log":{"version":"1.2","creator":{"name":"browser","version":"1"},"entries":[{
        "startedDateTime":"2026-11-27T08:00:00.000Z","time":1,"request":{"method":"GET",
        "url":"https://api.example.com/orders","httpVersion":"HTTP/1.1","cookies":[],"headers":[],
        "queryString":[],"headersSize":-1,"bodySize":0},"response":{"status":200,"statusText":"OK",
        "httpVersion":"HTTP/1.1","cookies":[],"headers":[],"content":{"size":2,"mimeType":"",
        "text":"{}"},"redirectURL":"","headersSize":-1,"bodySize":2},"cache":{},
        "timings":{"send":0,"wait":1,"receive":0}}]}}
        """#

    /// Makes keys, dumps, messages, policies and certificates.
    private static func files(_ authority: TestAuthority) async throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        for name in ["schema.json", "defaults.json"] {
            try folder.write(
                Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
        }
        try folder.write(
            "POST /orders HTTP/1.1\nHost: api.example.com\n\n{\"item\":\"tea\"}", to: "request")
        for name in ["shop.har", "browser.har"] { try folder.write(recording, to: name) }
        try folder.write("orders:\n  host: api.example.com\n", to: "config.yaml")
        try folder.write("#!/bin/sh\nexit 0\n", to: "shop", mode: 0o700)
        try folder.write(Data(contentsOf: URL(filePath: authority.leaf.pem)), to: "host.pem")
        let made = try await ChildProcess.run(
            "sh",
            [
                "-c",
                """
                set -e
                openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \\
                    -keyout next.key -out next.csr -subj /CN=api.example.com
                openssl pkey -in next.key -pubout -out partner.pem
                signet keys new --type vault --id vault-2026 --out keys
                signet keys new --type ed25519 --id orders-2026 --out keys --append
                signet keys public keys > partner-keys
                signet keys new --type vault --id vault-2027 --out new-keys
                signet keys new --type ed25519 --id pins-2026 --out pin-keys
                signet keys new --type x25519 --id ci --out identity
                signet keys public identity > ci.jwk
                signet keys share keys --to ci.jwk --out shared-keys
                cp partner.pem alice.pem
                cp partner.pem bob.pem
                signet pins show host.pem next.csr --format policy --host api.example.com \\
                    > policy.json
                signet pins sign --keys pin-keys --app-id com.example.shop --serial 7 --days 30 \\
                    policy.json > pins.json
                signet sign --scheme rfc9421 --keys keys --nonce n1 request > signed
                signet vault seal --schema schema.json --defaults defaults.json --keys keys \\
                    --app-id com.example.shop --app-version 1.4.2 --out shop.dump
                for copy in old base theirs; do cp -p shop.dump $copy.dump; done
                """,
            ],
            environment: [
                "PATH": SignetTool.url.deletingLastPathComponent().path + ":"
                    + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
            ], directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        return folder
    }
}
