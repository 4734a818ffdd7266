import Foundation
import SignetJSON
import TestSupport
import Testing

/// Every help text has an example, and every example of a help text works.
@Suite struct HelpExampleTests {
    /// A command as the parser describes it.
    private struct Command {
        let words: String
        let examples: [String]

        /// The command and all below it that help shows.
        static func all(in value: JSONValue) -> [Command] {
            guard value["shouldDisplay"]?.bool != false, let name = value["commandName"]?.string,
                name != "help"
            else { return [] }
            let parents = value["superCommands"]?.array?.compactMap(\.string) ?? []
            let command = Command(
                words: (parents + [name]).joined(separator: " "),
                examples: examples(in: value["discussion"]?.string ?? ""))
            return [command] + (value["subcommands"]?.array ?? []).flatMap(all)
        }

        /// The commands after `EXAMPLES:`, each with the lines that continue it.
        private static func examples(in discussion: String) -> [String] {
            var examples: [String] = []
            var isInside = false
            var continues = false
            for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
                let text = line.trimmingCharacters(in: .whitespaces)
                if text == "EXAMPLE:" || text == "EXAMPLES:" {
                    isInside = true
                    continue
                }
                guard isInside, !text.isEmpty else { continue }
                if continues {
                    examples[examples.count - 1] += "\n" + text
                } else {
                    examples.append(text)
                }
                continues = text.hasSuffix("\\")
            }
            return examples
        }
    }

    private func commands() async throws -> [Command] {
        let described = try await SignetTool.run(["--experimental-dump-help"])
        let command = try #require(try JSONValue(parsing: described.stdout)["command"])
        return Command.all(in: command)
    }

    @Test func everyHelpShowsItsExamples() async throws {
        /// The words of a text, however its lines are broken.
        func words(_ text: String) -> String {
            text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        }
        let commands = try await commands()
        #expect(commands.count > 30)
        for command in commands {
            #expect(!command.examples.isEmpty, "\(command.words) --help has no example")
            let help = try await SignetTool.run(
                command.words.split(separator: " ").dropFirst().map { String($0) } + ["--help"])
            #expect(help.exit == 0)
            for example in command.examples {
                #expect(words(help.text).contains(words(example)), "\(help.text)")
            }
        }
    }

    @Test func everyExampleWorks() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await RouteServer(
            [
                "/rpc": #"200 OK\#r\#n\#r\#n{"jsonrpc":"2.0","id":1,"result":{"id":7}}"#,
                "/v1/orders/7": "200 OK\r\n\r\n{\"id\":7}",
                "/v1/orders": "200 OK\r\n\r\n[]", "/orders": "200 OK\r\n\r\n{}",
            ], tls: authority.leaf)
        let files = try await Self.files(authority)
        // The commands that use the network find the server of this test under the example's name.
        let prelude = """
            set -e
            signet() {
                case "$1 $2" in
                call\\ *|send\\ *|"pins show"|"pins check"|"pins plan")
                    command signet "$@" --ca-file '\(authority.caFile)' \\
                        --connect-to 'api.example.com:443:127.0.0.1:\(server.port)' ;;
                *) command signet "$@" ;;
                esac
            }

            """
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let tool = SignetTool.url.deletingLastPathComponent().path
        for command in try await commands() {
            for example in command.examples {
                let folder = try TemporaryDirectory()
                let isNewProject = example.contains("vault init")
                for name in try files.contents() where !isNewProject || name == "config.yaml" {
                    try folder.write(
                        files.read(name), to: name, mode: try files.mode(name) ?? 0o600)
                }
                if example.contains("signet project") {
                    try folder.write(#"{"keys":"keys"}"#, to: "signet.json")
                }
                let script = prelude + example.replacing("/usr/bin/shop", with: "./shop") + "\n"
                let output = try await ChildProcess.run(
                    "sh", ["-c", script],
                    environment: [
                        "PATH": "\(tool):\(path)", "VISUAL": "true", "HOME": folder.url.path,
                        "SECRET": "c2VjcmV0IG9mIGEgcGFydG5lcg==",
                    ], directory: folder.url)
                // The plan's findings depend on the day, and there is no terminal to edit on.
                let isRight =
                    output.exit == 0 || (command.words == "signet pins plan" && output.exit == 1)
                    || command.words == "signet vault edit" && output.stderr.contains("a terminal")
                #expect(isRight, "\(example)\nexit \(output.exit): \(output.stderr)")
            }
        }
    }

    /// The files of the examples: keys, dumps, messages, policies and certificates.
    private static func files(_ authority: TestAuthority) async throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        for name in ["schema.json", "defaults.json"] {
            try folder.write(
                Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
        }
        try folder.write(
            "POST /orders HTTP/1.1\nHost: api.example.com\n\n{\"item\":\"tea\"}", to: "request")
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
