import Foundation
import SignetJSON
import TestSupport
import Testing

/// `vault init`: from a configuration that exists to sealed values, and back.
@Suite struct VaultInitToolTests {
    private static let identity = ["--app-id", "com.example.shop", "--app-version", "1.0.0"]
    private static let keys = ["--keys", "keys"] + identity

    /// The same configuration in each format that nests.
    static let nested: [(name: String, text: String)] = [
        (
            "config.json",
            #"""
            {"orders":{"host":"orders.example.com","url":"https://orders.example.com/v1",
              "timeout":"2.5s","attempts":3,"ratio":0.5,"debug":false,"regions":["eu","us"]},
             "database":{"password":"ZZZZZZ'$(touch pwned)\n\"x"},"answer":"no"}
            """#
        ),
        (
            "config.yaml",
            #"""
            # A comment.
            orders: &orders
              host: orders.example.com
              url: https://orders.example.com/v1
              timeout: 2.5s
              attempts: 3
              ratio: 0.5
              debug: false
              regions: [eu, us]
            database:
              password: "ZZZZZZ'$(touch pwned)\n\"x"
            answer: no
            """#
        ),
        (
            "config.toml",
            #"""
            answer = "no"
            [orders]
            host = "orders.example.com"
            url = "https://orders.example.com/v1"
            timeout = "2.5s"
            attempts = 3
            ratio = 0.5
            debug = false
            regions = ["eu", "us"]
            [database]
            password = "ZZZZZZ'$(touch pwned)\n\"x"
            """#
        ),
        (
            "flat.json",
            #"""
            {"orders.host":"orders.example.com","orders.url":"https://orders.example.com/v1",
             "orders.timeout":"2.5s","orders.attempts":3,"orders.ratio":0.5,"orders.debug":false,
             "orders.regions":["eu","us"],"database.password":"ZZZZZZ'$(touch pwned)\n\"x",
             "answer":"no"}
            """#
        ),
    ]
    static let values: JSONObject = [
        "orders.host": "orders.example.com", "orders.url": "https://orders.example.com/v1",
        "orders.timeout": "2.5s", "orders.attempts": 3, "orders.ratio": .number(half),
        "orders.debug": false, "orders.regions": ["eu", "us"],
        "database.password": "ZZZZZZ'$(touch pwned)\n\"x", "answer": "no",
    ]
    private static let half = JSONNumber(text: "0.5") ?? JSONNumber(0)

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func signet(_ arguments: [String], stdin: String = "") async throws -> ProcessOutput {
        let output = try await SignetTool.run(
            arguments, stdin: Array(stdin.utf8), directory: folder.url)
        #expect(!output.stderr.contains("ZZZZZZ"))
        return output
    }

    private func initialize(
        _ name: String, _ text: String, _ more: [String] = keys
    ) async throws -> ProcessOutput {
        try folder.write(text, to: name)
        return try await signet(["vault", "init", name, "--out", "."] + more)
    }

    @Test(arguments: nested)
    func allValuesComeBack(_ name: String, _ text: String) async throws {
        let made = try await initialize(name, text)
        #expect(made.exit == 0, "\(made.stderr)")
        #expect(made.text.split(separator: "\n").count == 10)
        #expect(!made.text.contains("ZZZZZZ"))
        #expect(
            try folder.contents()
                == [
                    "defaults.json", "keys", name, "schema.json", "signet.dump", "signet.json",
                ].sorted())
        #expect(try folder.mode("signet.dump") == 0o600 && folder.mode("keys") == 0o600)
        let defaults = try folder.read("defaults.json")
        #expect(!String(decoding: defaults, as: UTF8.self).contains("ZZZZZZ"))
        let exported = try await signet(["vault", "export", "--show-secrets"])
        #expect(exported.exit == 0, "\(exported.stderr)")
        let found = try #require(JSONValue(parsing: exported.stdout).object)
        #expect(found.count == Self.values.count)
        for (key, value) in Self.values { #expect(found[key] == value, "\(key)") }
        #expect(try await signet(["vault", "get", "orders.host"]).text == "orders.example.com\n")
    }

    @Test func sealingAgainKeepsTheSecrets() async throws {
        _ = try await initialize(Self.nested[0].name, Self.nested[0].text)
        let sealed = try await signet(["vault", "seal", "--json"])
        #expect(try JSONValue(parsing: sealed.stdout)["kept"] == ["database.password"])
        let secret = try await signet(
            ["vault", "get", "database.password", "--show-secrets", "--json"])
        #expect(
            try JSONValue(parsing: secret.stdout)["values"]?["database.password"]
                == Self.values["database.password"])
    }

    @Test(arguments: ["nested-json", "yaml"])
    func anExportCanBeRead(_ format: String) async throws {
        _ = try await initialize(Self.nested[0].name, Self.nested[0].text)
        let exported = try await signet(["vault", "export", "--show-secrets", "--format", format])
        let name = format == "yaml" ? "again.yaml" : "again.json"
        try folder.write(exported.stdout, to: name)
        let made = try await signet(["vault", "init", name, "--out", "again"] + Self.keys)
        #expect(made.exit == 0, "\(made.stderr)")
        let read = try await signet(
            ["vault", "export", "--show-secrets", "--project", "again/signet.json"])
        let found = try #require(JSONValue(parsing: read.stdout).object)
        for (key, value) in Self.values { #expect(found[key] == value, "\(key)") }
    }

    @Test func guessesArePrinted() async throws {
        try folder.write(Self.nested[1].text, to: "config.yaml")
        let made = try await signet(
            ["vault", "init", "config.yaml", "--out", "out", "--json"] + Self.keys)
        let keys = try JSONValue(parsing: made.stdout)["keys"]?.array ?? []
        let told = keys.map {
            "\($0["key"]?.string ?? "") \($0["type"]?.string ?? "") \($0["visibility"]?.string ?? "")"
        }
        #expect(
            told == [
                "orders.host string public", "orders.url url public",
                "orders.timeout duration public", "orders.attempts integer public",
                "orders.ratio number public", "orders.debug boolean public",
                "orders.regions array public", "database.password string secret",
                "answer string public",
            ])
        #expect(try JSONValue(parsing: folder.read("out/signet.json"))["keys"] == "../keys")
    }

    @Test func aDotEnvFileBecomesDottedNames() async throws {
        let text = #"""
            # comment
            DATABASE_HOST=db.example.com
            export DATABASE_PORT = 5432   # the usual one
            DATABASE_PASSWORD='ZZZZZZ $(x) "y" \n'
            QUOTED="a\nb \$x \"q\" \\ é"
            NUMBER_AS_TEXT="5"
            ZERO=007
            UPPER=True
            LOWER=true
            EMPTY=
            HASH=a#b
            LINES="one
            two"
            """#
        #expect(try await initialize(".env", text).exit == 0)
        let exported = try await signet(["vault", "export", "--show-secrets"])
        #expect(
            try JSONValue(parsing: exported.stdout) == [
                "database.host": "db.example.com", "database.port": 5432,
                "database.password": #"ZZZZZZ $(x) "y" \n"#, "quoted": "a\nb $x \"q\" \\ é",
                "number.as.text": "5", "zero": "007", "upper": "True", "lower": true, "empty": "",
                "hash": "a#b", "lines": "one\ntwo",
            ])
    }

    @Test(arguments: [
        ("a.yaml", "a: 1\na: 2"), ("a.yaml", "[1]"), ("a.yaml", "a: [ZZZZZZ"), ("a.yaml", ""),
        ("a.yaml", "a: !x ZZZZZZ"),
        ("a.yaml", "a: 1\n---\nb: 2"), ("a.yaml", "? [1]\n: 2"), ("a.yaml", "a: *b"),
        ("a.toml", "a = ZZZZZZ"), ("a.toml", "a = 1\na = 2"), ("a.json", "[]"),
        ("a.json", #"{"a":1,"a":2}"#), ("a.json", #"{"a":{"b":1},"a.b":2}"#), ("a.json", "{}"),
        (".env", "ZZZZZZ"), (".env", "A='ZZZZZZ"), (".env", "A='x' ZZZZZZ"), (".env", "A_=1\nA=2"),
        (".env", "_=1"),
    ])
    func refusesInvalidConfigurations(_ name: String, _ text: String) async throws {
        let output = try await initialize(name, text, Self.keys + ["--json"])
        try expect(output, exit: 2, code: "malformed-input")
        #expect(try folder.contents() == [name])
    }

    @Test func aHostileNumberOfAliasesEnds() async throws {
        var text = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"
        for index in 1...9 {
            let aliases = [String](repeating: "*a\(index - 1)", count: 10).joined(separator: ",")
            text += "a\(index): &a\(index) [\(aliases)]\n"
        }
        let output = try await initialize("config.yaml", text, Self.keys + ["--json"])
        try expect(output, exit: 2, code: "malformed-input")
    }

    @Test func aHostileNumberOfDotsIsNoCrash() async throws {
        let name = [String](repeating: "a", count: 100_000).joined(separator: ".")
        let part = [String](repeating: "a", count: 500).joined(separator: ".")
        let nested = [String](repeating: "[\n{\(part) = ", count: 60).joined()
        for text in ["\(name) = 1", "[\(name)]", "x = \(nested)", "x = '' #\n\(name) = 1"] {
            let output = try await initialize("config.toml", text, Self.keys + ["--json"])
            try expect(output, exit: 2, code: "malformed-input")
        }
        let dots = [String](repeating: ".", count: 300).joined()
        let floats = [String](repeating: "1.5", count: 300).joined(separator: ", ")
        let usable = """
            a = "\(dots)\\"\(dots)" # \(dots)
            b = '\(dots)\\'
            c = \"""
            "\(dots)""\"""
            d = [ \(floats) ]
            """
        let output = try await initialize("config.toml", usable)
        #expect(output.exit == 0, "\(output.stderr)")
    }

    @Test(arguments: ["schema.json", "defaults.json", "signet.json", "signet.dump"])
    func nothingIsOverwritten(_ name: String) async throws {
        try folder.write("mine", to: name)
        let output = try await initialize("config.toml", "a = 1", Self.keys + ["--json"])
        try expect(output, exit: 2, code: "file-exists")
        #expect(output.text.contains(name))
        #expect(try folder.read(name) == Array("mine".utf8))
        #expect(try folder.contents() == ["config.toml", name].sorted())
    }

    @Test func twoRunsAtOnceDoNotMixFiles() async throws {
        _ = try await signet(["keys", "new", "--type", "vault", "--id", "v", "--out", "keys"])
        try folder.write("password = 'ZZZZZZ'", to: "config.toml")
        for index in 1...10 {
            let run = ["vault", "init", "config.toml", "--out", "out\(index)"] + Self.keys
            async let first = signet(run)
            async let second = signet(run)
            let exits = try await [first.exit, second.exit].sorted()
            #expect(exits == [0, 2])
            let opened = try await signet(["vault", "open", "--project", "out\(index)/signet.json"])
            #expect(opened.exit == 0, "\(opened.stderr)")
        }
    }

    @Test func theProjectFindsKeysFromALinkedFolder() async throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "real/deep"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.appending(path: "link").path(percentEncoded: false),
            withDestinationPath: "real/deep")
        try folder.write("a = 1", to: "config.toml")
        let made = try await signet(["vault", "init", "config.toml", "--out", "link"] + Self.keys)
        #expect(made.exit == 0, "\(made.stderr)")
        let opened = try await signet(["vault", "open", "--project", "link/signet.json"])
        #expect(opened.exit == 0, "\(opened.stderr)")
    }

    @Test func wrongUsageMakesNothing() async throws {
        for more in [
            [], Self.identity, Self.keys + ["--format", "xml"], Self.keys + ["--out", "-"],
        ] {
            #expect(try await initialize("config.txt", "a=1", more).exit == 2)
        }
        #expect(try await initialize("config.txt", "a=1", Self.keys).exit == 2)
        #expect(try folder.contents() == ["config.txt"])
        let named = try await initialize("config.txt", "a=1", Self.keys + ["--format", "env"])
        #expect(named.exit == 0, "\(named.stderr)")
    }
}
