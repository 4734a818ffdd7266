import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet vault`.
@Suite struct VaultToolTests {
    static let schema = """
        {"keys":{
          "orders.host":{"type":"string","visibility":"public","setBy":["defaults","fetched"],
                         "pattern":"^[a-z.]+$","meaning":"Where orders are sent."},
          "orders.timeout":{"type":"duration","visibility":"public"},
          "orders.attempts":{"type":"integer","visibility":"public","minimum":1,"maximum":5},
          "partner.token":{"type":"string"}}}
        """
    static let defaults = """
        {"orders.host":"orders.example.com","orders.timeout":"5s","orders.attempts":3,
         "partner.token":"ZZZZZZcanaryZZZZZZ"}
        """
    static let inputs = ["--schema", "schema.json", "--defaults", "defaults.json"]
    static let identity = ["--app-id", "com.example.shop", "--app-version", "1.9.0"]

    let folder: TemporaryDirectory

    init() async throws {
        folder = try TemporaryDirectory()
        try folder.write(Self.schema, to: "schema.json", mode: 0o644)
        try folder.write(Self.defaults, to: "defaults.json", mode: 0o644)
        let made = try await signet("keys", "new", "--type", "vault", "--id", "v1", "--out", "keys")
        #expect(made.exit == 0, "\(made.stderr)")
    }

    func signet(_ arguments: String..., stdin: [UInt8] = []) async throws -> ProcessOutput {
        try await SignetTool.run(arguments, stdin: stdin, directory: folder.url)
    }

    func vault(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        let output = try await SignetTool.run(
            ["vault"] + arguments, stdin: stdin, environment: environment, directory: folder.url)
        #expect(!output.stderr.contains("ZZZZZZcanary"), "a secret on standard error")
        return output
    }

    func seal(_ more: [String] = [], keys: String = "keys") async throws -> ProcessOutput {
        try await vault(
            ["seal"] + Self.inputs + ["--keys", keys, "--key-id", "v1"] + Self.identity
                + ["--out", "dump"] + more)
    }

    func open(_ version: String = "1.9.0", _ more: [String] = []) async throws -> ProcessOutput {
        try await vault(
            [
                "open", "dump", "--keys", "keys", "--app-id", "com.example.shop", "--app-version",
                version,
            ] + more)
    }

    /// Demands an exit code and, with `--json`, an error of a code and nothing else.
    func expect(
        _ output: ProcessOutput, exit: Int32, code: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(output.exit == exit, "\(output.stderr)\(output.text)", sourceLocation: location)
        let object = try JSONValue(parsing: Array(output.stdout.dropLast()))
        #expect(
            object["error"]?["code"]?.string == code, "\(output.text)", sourceLocation: location)
    }

    // MARK: - What works

    @Test func printsThePublicPartWithOrigins() async throws {
        try folder.write(#"{"orders.host":"fetched.example.com"}"#, to: "fetched.json")
        let output = try await vault(
            ["public"] + Self.inputs + [
                "--launch", "orders.timeout=2s", "--launch", "orders.attempts=5", "--fetched",
                "fetched.json", "--json",
            ])
        #expect(output.exit == 0)
        #expect(
            output.text == """
                {"values":{"orders.host":"fetched.example.com","orders.timeout":"2s","orders.attempts":5},\
                "origins":{"orders.host":"fetched","orders.timeout":"launch","orders.attempts":"launch"}}

                """)
        let words = try await vault(["public"] + Self.inputs)
        #expect(words.exit == 0 && words.text.contains("orders.example.com"))
        #expect(!words.text.contains("partner") && !words.text.contains("\u{1b}"))
    }

    @Test func sealsAndOpens() async throws {
        let sealed = try await seal(["--json"])
        #expect(sealed.exit == 0, "\(sealed.stderr)")
        #expect(try JSONValue(parsing: sealed.stdout)["sequence"] == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("dump"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
        let opened = try await open()
        #expect(opened.exit == 0)
        #expect(
            try JSONValue(parsing: opened.stdout) == JSONValue(parsing: Array(Self.defaults.utf8)))
        let inside = try JSONValue(parsing: try await open("1.9.0", ["--json"]).stdout)
        #expect(inside["app"] == ["id": "com.example.shop", "version": "1.9.0"])
        #expect(inside["sequence"] == 1 && inside["origins"]?["partner.token"] == "defaults")
        let piped = try await vault(
            ["open", "--keys", "keys"] + Self.identity, stdin: try folder.read("dump"))
        #expect(piped.stdout == opened.stdout)
        #expect(try folder.contents() == ["defaults.json", "dump", "keys", "schema.json"])
    }

    @Test func anotherVersionIsRefusedNamingBoth() async throws {
        _ = try await seal()
        for (version, code) in [
            ("1.10.0", "older-version"), ("1.8.0", "newer-version"), ("1.9.0-rc", "other-version"),
        ] {
            let words = try await open(version)
            #expect(words.exit == 1 && words.stdout.isEmpty)
            #expect(words.stderr.contains("1.9.0") && words.stderr.contains(version))
            try expect(try await open(version, ["--json"]), exit: 1, code: code)
        }
        #expect(try await open("1.10.0", ["--accept-app-version", "1.9.0"]).exit == 0)
        try expect(
            try await open("1.8.0", ["--accept-app-version", "1.9.0", "--json"]), exit: 1,
            code: "newer-version")
        try expect(
            try await open("1.9.0", ["--system-version", "99", "--json"]), exit: 1,
            code: "older-version")
        #expect(
            try await open(
                "1.9.0",
                ["--system-version", "99", "--accept-system-version", "98"]
                    + ["--accept-system-version", "0.1.0"]
            ).exit == 0)
        let other = try await vault(
            ["open", "dump", "--keys", "keys", "--app-id", "x", "--app-version", "1.9.0", "--json"])
        try expect(other, exit: 1, code: "wrong-app")
    }

    @Test func inspectsWithoutAKey() async throws {
        _ = try await seal(["--system-version", "7"])
        let words = try await vault(["inspect", "dump"])
        #expect(words.exit == 0 && words.text.contains("com.example.shop 1.9.0"))
        let json = try JSONValue(
            parsing: try await vault(["inspect", "--json"], stdin: try folder.read("dump")).stdout)
        #expect(json["app"]?["version"] == "1.9.0" && json["system"]?["version"] == "7")
        #expect(json["keyID"] == "v1")
        for text in [words.text, json.text] { #expect(!text.contains("ZZZZZZ")) }
    }

    @Test func exportsOneDumpsKeyForJoserfc() async throws {
        _ = try await seal()
        let exported = try await vault(["export-key", "dump", "--keys", "keys"])
        #expect(exported.exit == 0, "\(exported.stderr)")
        let key = try JSONValue(parsing: exported.stdout)
        #expect(key.object?.memberNames == ["kty", "k", "kid", "alg"])
        let root = try JSONValue(parsing: try folder.read("keys"))
        #expect(key["k"] != root["keys"]?.array?[0]["k"])
        let peer = try await PythonPeer.run(
            "joserfc-open", [exported.text], stdin: folder.read("dump"))
        #expect(peer.exit == 0, "\(peer.stderr)")
        #expect(try await open("1.9.0", ["--json"]).text == peer.text + "\n")
        let wrong = try await vault(
            ["export-key", "dump", "--keys", "keys", "--app-version", "2", "--json"])
        try expect(wrong, exit: 1, code: "older-version")
    }

    @Test func rebindsAtAnUpgrade() async throws {
        _ = try await seal()
        let rebind = [
            "rebind", "dump", "--keys", "keys", "--app-id", "com.example.shop",
            "--from-app-version", "1.9.0", "--to-app-version", "1.10.0", "--json",
        ]
        let done = try await vault(rebind)
        #expect(done.exit == 0, "\(done.text)")
        #expect(try JSONValue(parsing: done.stdout)["sequence"] == 2)
        #expect(try await open("1.10.0").exit == 0)
        try expect(try await vault(rebind), exit: 1, code: "newer-version")
        #expect(try await open("1.10.0").exit == 0)
    }

    @Test func readsKeysFromOtherSources() async throws {
        let set = String(decoding: try folder.read("keys"), as: UTF8.self)
        let sealed = try await vault(
            ["seal"] + Self.inputs + ["--keys", "env:ROOTS", "--key-id", "v1"] + Self.identity
                + ["--out", "dump"], environment: ["ROOTS": set])
        #expect(sealed.exit == 0, "\(sealed.stderr)")
        let opened = try await vault(
            ["open", "dump", "--keys", "command:cat keys"] + Self.identity)
        #expect(opened.exit == 0, "\(opened.stderr)")
    }

    // MARK: - What is refused

    @Test(arguments: [
        (#"{"orders.hosts":"a"}"#, "unknown-config-key"), (#"{"orders.host":1}"#, "wrong-type"),
        (#"{"orders.attempts":6}"#, "out-of-range"), (#"{"orders.host":"A"}"#, "pattern-mismatch"),
        (#"{"orders.host":"a","orders.host":"b"}"#, "malformed-input"), ("", "malformed-input"),
        ("[]", "malformed-input"), ("{} {}", "malformed-input"), ("\u{0}", "malformed-input"),
    ])
    func refusesDefaults(_ text: String, _ code: String) async throws {
        try folder.write(text, to: "defaults.json")
        try expect(try await vault(["public", "--json"] + Self.inputs), exit: 2, code: code)
        try expect(try await seal(["--json"]), exit: 2, code: code)
        #expect(try folder.contents() == ["defaults.json", "keys", "schema.json"])
    }

    @Test(arguments: [
        (["orders.host=a"], "source-not-allowed"), (["orders.attempts=x"], "wrong-type"),
        (["orders.attempts"], "malformed-input"), (["nothing=1"], "unknown-config-key"),
        (["orders.attempts=1", "orders.attempts=2"], "malformed-input"),
    ])
    func refusesLaunchValues(_ texts: [String], _ code: String) async throws {
        let launch = texts.flatMap { ["--launch", $0] }
        try expect(
            try await vault(["public", "--json"] + Self.inputs + launch), exit: 2, code: code)
    }

    @Test(arguments: [
        "", "[]", #"{"keys":{"a":{"type":"text"}}}"#, #"{"keys":{},"keys":{}}"#,
        #"{"keys":{"a":{"type":"integer","minimum":2,"maximum":1}}}"#,
    ])
    func refusesSchemas(_ text: String) async throws {
        try folder.write(text, to: "schema.json")
        try expect(
            try await vault(["public", "--json"] + Self.inputs), exit: 2, code: "malformed-schema")
    }

    @Test func refusesAPublicValueThatLooksSecret() async throws {
        try folder.write(
            #"{"keys":{"key":{"type":"string","visibility":"public"}}}"#, to: "schema.json")
        try folder.write(
            #"{"key":"3q2+7wABAgMEBQYHCAkKCwwNDg8Q/v3t7s7Zr4q1Xpc="}"#, to: "defaults.json")
        let output = try await vault(["public", "--json"] + Self.inputs)
        try expect(output, exit: 2, code: "public-value-looks-secret")
        #expect(!output.text.contains("3q2+7wABAg"))
    }

    @Test func namesFilesThatCannotBeRead() async throws {
        for (option, other) in [("--schema", "--defaults"), ("--defaults", "--schema")] {
            for name in ["none.json", "."] {
                let good = option == "--schema" ? "defaults.json" : "schema.json"
                let output = try await vault(["public", option, name, other, good, "--json"])
                try expect(output, exit: 2, code: "unreadable-file")
                #expect(output.text.contains("\(name)"))
            }
        }
        let fetched = try await vault(["public", "--json", "--fetched", "none"] + Self.inputs)
        try expect(fetched, exit: 2, code: "unreadable-file")
        let dump = try await vault(["inspect", "none", "--json"])
        try expect(dump, exit: 2, code: "unreadable-file")
    }

    @Test func refusesFilesOf64MB() async throws {
        try folder.write([UInt8](repeating: 0x41, count: 64 << 20), to: "large")
        for arguments in [
            ["inspect", "large", "--json"],
            ["open", "large", "--keys", "keys", "--json"] + Self.identity,
            ["public", "--schema", "large", "--defaults", "defaults.json", "--json"],
            ["public", "--schema", "schema.json", "--defaults", "large", "--json"],
        ] {
            try expect(try await vault(arguments), exit: 2, code: "unreadable-file")
        }
    }

    @Test(arguments: ["", "{}", "a.b.c.d.e", "\n", "....", "\u{0}\u{0}"])
    func refusesInvalidDumps(_ text: String) async throws {
        try folder.write(text, to: "dump")
        try expect(try await vault(["inspect", "dump", "--json"]), exit: 2, code: "malformed-dump")
        try expect(try await open("1.9.0", ["--json"]), exit: 2, code: "malformed-dump")
    }

    @Test func refusesAChangedDump() async throws {
        _ = try await seal()
        let dump = try folder.read("dump")
        var changed = dump
        let (a, b) = (UInt8(ascii: "A"), UInt8(ascii: "B"))
        changed[dump.count - 40] = changed[dump.count - 40] == a ? b : a
        try folder.write(changed, to: "dump")
        try expect(try await open("1.9.0", ["--json"]), exit: 1, code: "tampered")
        try folder.write(dump + [0x0a], to: "dump")
        try expect(try await open("1.9.0", ["--json"]), exit: 2, code: "malformed-dump")
    }

    @Test func refusesOtherKeys() async throws {
        _ = try await seal()
        _ = try await signet("keys", "new", "--type", "vault", "--id", "v1", "--out", "same-id")
        _ = try await signet("keys", "new", "--type", "vault", "--id", "v2", "--out", "other-id")
        for (keys, exit, code) in [
            ("same-id", 1, "wrong-key"), ("other-id", 1, "unknown-key"),
        ] as [(String, Int32, String)] {
            let output = try await vault(
                ["open", "dump", "--keys", keys, "--json"] + Self.identity)
            try expect(output, exit: exit, code: code)
        }
        try expect(
            try await vault(
                ["seal", "--keys", "other-id", "--key-id", "v1", "--out", "new", "--json"]
                    + Self.inputs + Self.identity), exit: 1, code: "unknown-key")
        let public644 = try folder.read("keys")
        try folder.write(public644, to: "open-keys", mode: 0o644)
        let mode = try await vault(
            ["open", "dump", "--keys", "open-keys", "--json"] + Self.identity)
        try expect(mode, exit: 2, code: "key-file-permissions")
        #expect(mode.text.contains("chmod 600 open-keys"))
        try folder.write("{}", to: "no-keys")
        try expect(
            try await vault(["open", "dump", "--keys", "no-keys", "--json"] + Self.identity),
            exit: 2, code: "malformed-keys")
        try expect(
            try await vault(["open", "dump", "--keys", "none", "--json"] + Self.identity), exit: 2,
            code: "unreadable-keys")
        _ = try await signet("keys", "new", "--type", "hmac", "--id", "v1", "--out", "signing")
        try expect(
            try await vault(["open", "dump", "--keys", "signing", "--json"] + Self.identity),
            exit: 1, code: "wrong-key-use")
        #expect(!(try folder.contents()).contains("new"))
    }

    @Test func refusesUnwritableFiles() async throws {
        for path in [".", "none/dump", "schema.json/dump"] {
            let output = try await vault(
                ["seal", "--keys", "keys", "--key-id", "v1", "--out", path, "--json"]
                    + Self.inputs + Self.identity)
            try expect(output, exit: 2, code: "unwritable-file")
        }
        #expect(try folder.contents() == ["defaults.json", "keys", "schema.json"])
    }

    @Test(arguments: [
        ["seal"], ["open", "dump"], ["public"], ["public", "--schema", "schema.json"], ["nothing"],
        ["inspect", "a", "b"], ["open", "dump", "--keys", "keys", "--app-id", "a"],
        ["export-key", "dump"], ["rebind", "dump", "--keys", "keys"], ["inspect", "--unknown"],
    ])
    func wrongUsageIsExit2(_ arguments: [String]) async throws {
        let output = try await vault(arguments + ["--json"])
        #expect(output.exit == 2)
        #expect(try JSONValue(parsing: output.stdout)["error"]?["message"]?.string != nil)
        let words = try await vault(arguments)
        #expect(words.exit == 2 && words.stdout.isEmpty && !words.stderr.isEmpty)
    }

    @Test func unusableNamesAreRefused() async throws {
        let output = try await vault(
            [
                "seal", "--keys", "keys", "--key-id", "v1", "--out", "dump", "--json", "--app-id",
                "",
                "--app-version", "1",
            ] + Self.inputs)
        try expect(output, exit: 2, code: "malformed-input")
    }
}
