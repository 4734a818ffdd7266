import Foundation
import SignetJSON
import TestSupport
import Testing

/// Every command that a page shows is run by a test, and every command that it names exists.
@Suite struct PageCommandTests {
    /// How a block of commands without output is run.
    private enum Way {
        /// Among the files of examples.
        case amongFiles
        /// In a folder that has only `config.yaml`.
        case inNewFolder
        /// Each line in a folder of its own that has only `config.yaml`.
        case linesApart
        /// By another test of this suite.
        case elsewhere
        /// Not here, for a reason.
        case notRun(String)
    }

    /// The blocks `sh` of all pages, in their order.
    private static let ways: [String: [Way]] = [
        "README.md": [
            .notRun("installs a package, as Scripts/try-fresh-root does"), .amongFiles,
            .notRun("builds for minutes, as .ci/run does"),
        ],
        "Documentation/ci.md": [.amongFiles],
        "Documentation/coming-from-sops-or-age.md": [.linesApart],
        "Documentation/tool.md": [.inNewFolder, .inNewFolder, .inNewFolder, .inNewFolder],
        "Examples/orders/README.md": [
            .notRun("OrdersHostTests starts the host with a port and folders of its own")
        ],
        "Examples/webhooks/README.md": [
            .notRun("builds a server, which Scripts/test-webhooks starts with keys of its own")
        ],
        "Sources/SignetSigning/SignetSigning.docc/Sign-requests-for-a-partner.md": [.amongFiles],
        "Sources/SignetVault/SignetVault.docc/A-configuration-in-Swift.md": [.inNewFolder],
        "Sources/SignetVault/SignetVault.docc/Change-sealed-values.md": [.elsewhere, .elsewhere],
    ]

    /// The tests that run sessions; each names its pages.
    private static let sessionTests = [
        "signetTests/GuideSessionTests.swift", "signetTests/SchemeGuideSessionTests.swift",
        "OrdersHostTests/ShopProgramTests.swift",
    ]

    /// The paths of all pages, from the package's root.
    private static func pages() throws -> [String] {
        let tops = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        return try tops
            + ["Documentation", "Examples", "Sources"].flatMap { folder in
                try FileManager.default
                    .subpathsOfDirectory(atPath: PackageLayout.url(folder).path)
                    .filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
            }
    }

    private static func blocks(_ kind: String, of page: String) throws -> [String] {
        try Article(page).blocks(in: kind).map { $0.joined(separator: "\n") }
    }

    @Test func everyBlockHasATest() throws {
        let tests = try Self.sessionTests.map {
            try String(contentsOf: PackageLayout.url("Tests/\($0)"), encoding: .utf8)
        }.joined()
        let pages = try Self.pages()
        #expect(pages.count > 50)
        for page in pages {
            let sessions = try Self.blocks("console", of: page)
            if !sessions.isEmpty {
                let name = URL(filePath: page).deletingPathExtension().lastPathComponent
                let isRun = ["\"\(page)\"", "\"\(name)\"", "/\(name).md\"", "\"\(name).md\""]
                    .contains {
                        (name != "README" || $0 == "\"\(page)\"") && tests.contains($0)
                    }
                #expect(isRun, "\(page): no test runs its session")
            }
            let commands = try Self.blocks("sh", of: page)
            #expect(commands.count == Self.ways[page]?.count ?? 0, "\(page): blocks of sh")
            #expect(try Self.blocks("bash", of: page).isEmpty)
        }
    }

    @Test func theBlocksWork() async throws {
        let openRPC =
            #"{"openrpc":"1.2.6","info":{"title":"t","version":"1"},"methods":["#
            + #"{"name":"orders.create","params":[]}]}"#
        let place = try await ExamplePlace(routes: [
            "/rpc": "200 OK\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\(openRPC)}",
            "/v1/orders/7": "200 OK\r\n\r\n{\"total\":7}", "/v1/orders": "201 Created\r\n\r\n{}",
            "/v1/photos": "201 Created\r\n\r\n{}", "/v1/news": "200 OK\r\n\r\n[]",
            "/login": "200 OK\r\n\r\n{}",
        ])
        for (page, ways) in Self.ways {
            for (block, way) in zip(try Self.blocks("sh", of: page), ways) {
                switch way {
                case .amongFiles: try await Self.run(block, in: place.folder(), of: place)
                case .inNewFolder:
                    try await Self.run(block, in: place.folder(isEmpty: true), of: place)
                case .linesApart:
                    for line in block.split(separator: "\n") {
                        try await Self.run(
                            String(line), in: place.folder(isEmpty: true), of: place)
                    }
                case .elsewhere, .notRun: continue
                }
            }
        }
        let lines = Set(place.requests.compactMap { $0.split(separator: "\r\n").first })
        for line in [
            "POST /rpc", "GET /v1/orders/7", "POST /v1/orders", "POST /v1/photos", "POST /login",
        ] {
            #expect(lines.contains("\(line) HTTP/1.1"), "no request \(line): \(lines)")
        }
    }

    /// Runs a block with the variables and the other programs that it expects.
    private static func run(
        _ block: String, in folder: TemporaryDirectory, of place: ExamplePlace
    ) async throws {
        try folder.write(
            """
            {"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/orders":{"post":{
            "operationId":"createOrder","requestBody":{"content":{"application/json":{"schema":{
            "type":"object","properties":{"quantity":{"type":"integer"}}}}}},"responses":{}}}}}
            """, to: "openapi.json")
        try folder.write("tea", to: "tea.png")
        try folder.write(ExamplePlace.recording, to: "browser.har")
        if block.contains("--project signet.json") {
            try folder.write(#"{"schema":"schema.json"}"#, to: "signet.json")
        }
        // The plan's findings depend on the day.
        let setUp = """
            id=7 backup=sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=
            export PASSWORD=tiger
            sops() { cat config.yaml; }
            age() { cat config.yaml; }
            """
        let commands = block.replacing(/(?m)^signet pins plan.*$/) { $0.output + " || [ $? = 1 ]" }
            .replacing("staging.example.com", with: "api.example.com")
        let output = try await place.run("\(setUp)\n\(commands)", in: folder)
        #expect(output.exit == 0, "\(block)\nexit \(output.exit): \(output.stderr)")
    }

    /// The settings for git, and the commands after a conflict.
    @Test func theGitCommandsWork() async throws {
        let blocks = try Self.blocks(
            "sh", of: "Sources/SignetVault/SignetVault.docc/Change-sealed-values.md")
        try #require(blocks.count == 2)
        let place = try await ExamplePlace()
        let options =
            "--schema schema.json --keys keys --app-id com.example.shop --app-version 1.4.2"
        let output = try await place.run(
            """
            git init -q -b main
            git config user.name t
            git config user.email t@example.com
            token() {
                printf %s "$1" | signet vault set shop.dump partner.token=- \(options) >set
                git commit -qam "$1"
            }
            \(blocks[0])
            git add shop.dump .gitattributes
            git commit -qm one
            git checkout -qb other
            token dGhlaXJzdGhlaXJzdGhlaXJzdGhlaXJz
            git diff main -- shop.dump
            git checkout -q main
            token b3Vyc291cnNvdXJzb3Vyc291cnNvdXJz
            ! git merge -q other 2>conflict
            grep -q partner.token conflict
            \(blocks[1])
            git add shop.dump
            git commit -qm merged
            signet vault get shop.dump partner.token --show-secrets \(options)
            """, in: place.folder())
        #expect(output.exit == 0, "\(output.text)\(output.stderr)")
        #expect(output.text.hasSuffix("dGhlaXJzdGhlaXJzdGhlaXJzdGhlaXJz\n"))
        #expect(output.text.contains("+partner.token") && !output.text.contains("b3Vy"))
    }

    @Test func namedCommandsExist() async throws {
        let described = try await SignetTool.run(["--experimental-dump-help"])
        let tool = try #require(try JSONValue(parsing: described.stdout)["command"])
        var count = 0
        for page in try Self.pages() {
            for span in try Article(page).codeSpans where Self.isCommand(span, of: tool) {
                count += 1
                if let problem = Self.problem(of: span, in: tool) {
                    Issue.record("\(page): \(span): \(problem)")
                }
            }
        }
        #expect(count > 100)
        for wrong in ["signet valt get", "pins chek URL", "signet vault get --show", "vault st"] {
            #expect(Self.isCommand(wrong, of: tool) && Self.problem(of: wrong, in: tool) != nil)
        }
    }

    /// Whether a code span is a command: of `signet`, or of a command that has more, or one with an
    /// option.
    private static func isCommand(_ span: String, of tool: JSONValue) -> Bool {
        let words = span.split(separator: " ")
        guard words.count > 1, words[0] != "signet" else { return words.first == "signet" }
        guard let command = command(words[0], in: tool) else { return false }
        return command["subcommands"] != nil || words[1].hasPrefix("--")
    }

    /// The first word of a command that doesn't exist; nil if all do.
    private static func problem(of span: String, in tool: JSONValue) -> String? {
        var node = tool
        let words = span.split(separator: " ")
        for word in words.drop(while: { $0 == "signet" }) {
            if word == "--" { return nil }
            if word.hasPrefix("--") {
                // Those of the tool itself, such as --version.
                guard node["superCommands"]?.array?.isEmpty == false else { return nil }
                let name = word.dropFirst(2).prefix { $0.isLetter || $0 == "-" || $0.isNumber }
                let names = node["arguments"]?.array?.flatMap { $0["names"]?.array ?? [] } ?? []
                let isKnown = names.contains { $0["name"]?.string == String(name) }
                if !isKnown { return "no option --\(name)" }
            } else if node["subcommands"] != nil, word.allSatisfy({ $0.isLowercase || $0 == "-" }) {
                guard let next = command(word, in: node) else { return "no command \(word)" }
                node = next
            } else if node["subcommands"] != nil {
                return nil
            }
        }
        return nil
    }

    private static func command(_ name: Substring, in node: JSONValue) -> JSONValue? {
        node["subcommands"]?.array?.first { $0["commandName"]?.string == String(name) }
    }
}
