import SignetJSON
import TestSupport
import Testing

/// The values that `vault init` reads from YAML, TOML and .env files.
@Suite struct SourceFormatToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func initialize(_ name: String, _ text: String) async throws -> ProcessOutput {
        try folder.write(text, to: name)
        return try await SignetTool.run(
            [
                "vault", "init", name, "--out", "out", "--keys", "keys", "--app-id",
                "com.example.shop", "--json",
            ], directory: folder.url)
    }

    /// Expects that a file has these values, as one line of JSON.
    private func expect(
        _ name: String, _ text: String, hasValues values: String,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let made = try await initialize(name, text)
        try #require(made.exit == 0, "\(made.text)", sourceLocation: location)
        let exported = try await SignetTool.run(
            ["vault", "export", "--show-secrets", "--project", "out/signet.json"],
            directory: folder.url)
        #expect(
            try JSONValue(parsing: exported.stdout).text == values, "\(exported.stderr)",
            sourceLocation: location)
    }

    private func expectRefusal(_ name: String, _ text: String) async throws {
        let output = try await initialize(name, text)
        try signetTests.expect(output, exit: 2, code: "malformed-input")
        #expect(!output.text.contains("ZZZZZZ") && !output.stderr.contains("ZZZZZZ"))
        #expect(try folder.contents() == [name])
    }

    // MARK: - TOML

    @Test func tomlNumbersKeepTheirText() async throws {
        let text = """
            a = 0.1
            b = 3.10
            c = 1e3
            d = 123456789012345678901234567890
            e = -0.0
            f = 6.0E-3
            g = [ -9223372036854775808, { x = 1.50 }, 1.0, -99999999999999999999 ]
            'h.1' = 5e+22
            [i]
            1.2 = 1_000.5_0
            j = +7
            k = 0xFF # 0.1
            l = 0o14
            m = 0b11
            """
        try await expect(
            "config.toml", text,
            hasValues: #"{"a":0.1,"b":3.10,"c":1e3,"d":123456789012345678901234567890,"e":-0.0,"#
                + #""f":6.0E-3,"g":[-9223372036854775808,{"x":1.50},1.0,-99999999999999999999],"#
                + #""h.1":5e+22,"i.1.2":1000.50,"i.j":7,"i.k":255,"i.l":12,"i.m":3}"#)
    }

    @Test func tomlTextsKeepEveryCharacter() async throws {
        let text = """
            a = "😀\u{10FFFF}"
            b = 'C:\\u0000 0.1 = 5'
            c = "x\\u0000y\\U00000000\\\\u0000"
            d = ""\"
            one = 1 # two
            "three" \\
              four""\""
            e = ["\u{FEFF}\u{2028}\u{85}", "\u{E000}", "\\uE001"]
            "f😀" = true
            """
        try await expect(
            "config.toml", text,
            hasValues: #"{"a":"😀\#u{10FFFF}","b":"C:\\u0000 0.1 = 5","#
                + #""c":"x\u0000y\u0000\\u0000","d":"one = 1 # two\n\"three\" four\"","#
                + "\"e\":[\"\u{FEFF}\u{2028}\u{85}\",\"\u{E000}\",\"\u{E001}\"],\"f😀\":true}")
    }

    @Test func tomlDatesAreTexts() async throws {
        try await expect(
            "config.toml",
            "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5\nc = 1979-05-27\nd = [07:32:00, inf, -nan]",
            hasValues: #"{"a":"1979-05-27T07:32:00Z","b":"1979-05-27 07:32:00.5","#
                + #""c":"1979-05-27","d":["07:32:00","inf","-nan"]}"#)
    }

    @Test(arguments: [
        "01", "1__0", "_1", "1_", ".5", "5.", "1e", "0x", "0xG", "0o8", "0b2", "+0x1",
        "0xFFFFFFFFFFFFFFFFF",
        "0123456789012345678901", "1_00000000000000000000", "1979-13-01", "1979-05-27 25:00:00",
        "True", "yes", "null", "", "ZZZZZZ", "1 2", "é",
        "\u{2028}", "[1, \u{2028}2]", "[\u{85}]", "[\u{A0}1]", "\u{1}", "[\u{7F}]", "[\\]",
        "[1, ZZZZZZ\u{2029}]", "[1979-05-27 0, 1]", "1979-05-2_7 0 ", "1979-05-27 0",
        "[}", "[1, }]", "{ x = [1} ]", "{ x = 1 ]", "1]", "1}", "]", "}", ",", "{ x = }", "[1 2]",
        "{ x = 1 ZZZZZZ }", "1 \"x\"", "1 = 2", #""\ud800""#, #""\x""#, "\"\u{1}\"",
    ])
    func refusesAnInvalidTOMLValue(_ value: String) async throws {
        try await expectRefusal("config.toml", "a = \(value)")
    }

    @Test(arguments: [
        "[", "[ ", "[\na]", "[\r\na]", "[é]", "[ \u{85}a]", "[=]", "[#]", "[]", "[[]]", "[[[a]]]",
        "[ [a]]", "[[", "[[ é]]", "a = [1]\n[.a]", "[b]\n[ +a]", "b = { c = 1 }\n[$ZZZZZZ]",
    ])
    func refusesATableWithoutAName(_ text: String) async throws {
        try await expectRefusal("config.toml", text)
    }

    // MARK: - YAML

    @Test(arguments: ["\u{85}", "\u{2028}", "\u{2029}"])
    func yamlLineSeparatorsAreCharacters(_ other: String) async throws {
        let text = """
            plain: a\(other)b
            after: a \\\(other) b
            single: 'a \(other) b'
            double: "\(other)a \(other)\(other) b\\L\\P\\N"
            literal: |
              a\(other)  b
               c
            folded: >-
              a\(other)
              b
            list: [a\(other), 'b' , c] #\(other)x: 1
            "k 1": 5
            private: \u{E000}
            """
        try await expect(
            "config.yaml", text,
            hasValues: "{\"plain\":\"a\(other)b\",\"after\":\"a \\\\\(other) b\","
                + "\"single\":\"a \(other) b\","
                + "\"double\":\"\(other)a \(other)\(other) b\u{2028}\u{2029}\u{85}\","
                + "\"literal\":\"a\(other)  b\\n c\\n\",\"folded\":\"a\(other) b\","
                + "\"list\":[\"a\(other)\",\"b\",\"c\"],\"k 1\":5,\"private\":\"\u{E000}\"}")
    }

    @Test func yamlTextsKeepByteOrderMarks() async throws {
        let text = #"""
            a: "\uFEFFx\uFeFf"
            b: "\U0000FEFF \\uFEFF"
            c: '\#u{FEFF}x'
            d: |
              \#u{FEFF}x
            e: \uFEFF
            f: '\uFEFF'
            """#
        try await expect(
            "config.yaml", text,
            hasValues: "{\"a\":\"\u{FEFF}x\u{FEFF}\",\"b\":\"\u{FEFF} \\\\uFEFF\","
                + "\"c\":\"\u{FEFF}x\",\"d\":\"\u{FEFF}x\\n\",\"e\":\"\\\\uFEFF\",\"f\":\"\\\\uFEFF\"}"
        )
    }

    @Test(arguments: [
        "a: \u{FEFF}b", "a: b\n\u{FEFF}c: d", "\u{FEFF}\u{FEFF}a: b", "a: \"\\\u{2028}\"",
    ])
    func refusesACharacterOutsideOfAText(_ text: String) async throws {
        try await expectRefusal("config.yaml", text)
    }

    @Test func yamlNumbersHaveTheCoreSchema() async throws {
        let text = """
            a: [True, TRUE, False, tRUE]
            b: [0o14, 0x1F, -0o14, 0o8, 0x, 0xFFFFFFFFFFFFFFFFF]
            c: [.5, -.5, +.5e1, 1., -2.e3, ., .e1, +1, ++1, +-1]
            d: [0.10, 1e3, 1E+3, 123456789012345678901234567890, 1_000, 12:30, 2026-01-01]
            e: [007, -07, 00, 0, -0, 08.5]
            f: [.inf, -.INF, .nan, yes, No, on, OFF, y]
            g: [!!int "3", !!int 0x10, !!float 3, !!bool "True", !!str 3, !!str, ! 3, !!str ~]
            h: !!map {a: !!seq [!!null '', !!null ~, "~", 'null', "1"]}
            """
        try await expect(
            "config.yaml", text,
            hasValues: #"{"a":[true,true,false,"tRUE"],"#
                + #""b":[12,31,"-0o14","0o8","0x","0xFFFFFFFFFFFFFFFFF"],"#
                + #""c":[0.5,-0.5,0.5e1,1.0,-2.0e3,".",".e1",1,"++1","+-1"],"#
                + #""d":[0.10,1e3,1E+3,123456789012345678901234567890,"1_000","12:30","2026-01-01"],"#
                + #""e":["007","-07","00",0,-0,"08.5"],"#
                + #""f":[".inf","-.INF",".nan","yes","No","on","OFF","y"],"#
                + #""g":[3,16,3,true,"3","","3","~"],"h.a":[null,null,"~","null","1"]}"#)
    }

    @Test(arguments: [
        "!!int x", "!!int 1.5", "!!int ''", "!!int 007", "!!bool 1", "!!bool yes", "!!float a",
        "!!null x", "!!null 0", "!!binary ZZZZZZ", "!!timestamp 2026-01-01", "!x ZZZZZZ",
        "!<tag:example.com,2026:x> 1", "!!map 1", "!!seq {}", "!!str [a]", "!!set {a}", "!!int {}",
    ])
    func refusesATagOfAnotherType(_ value: String) async throws {
        try await expectRefusal("config.yaml", "a: \(value)")
    }

    @Test func yamlMergeKeysAreFollowed() async throws {
        let text = """
            base: &base {host: a, port: 1}
            other: &other {port: 2, path: /x}
            deep: &deep
              <<: *base
              user: u
            one:
              port: 9
              <<: *base
            two:
              <<: [*other, *deep]
              path: /y
            three:
              !!merge <<: {q: 1}
              "<<": text
            """
        try await expect(
            "config.yaml", text,
            hasValues: #"{"base.host":"a","base.port":1,"other.port":2,"other.path":"/x","#
                + #""deep.host":"a","deep.port":1,"deep.user":"u","one.port":9,"one.host":"a","#
                + #""two.port":2,"two.host":"a","two.user":"u","two.path":"/y","#
                + #""three.q":1,"three.<<":"text"}"#)
    }

    @Test(arguments: [
        "<<: 1", "<<:", "<<: ~", "<<: text", "<<: [1]", "<<: [*b, 1]", "<<: [[*b]]", "<<: *missing",
        "<<: *b\n  <<: *b", "<<: {x: 1, x: 2}",
    ])
    func refusesToMergeAnythingButMappings(_ key: String) async throws {
        try await expectRefusal("config.yaml", "b: &b {c: 1}\na:\n  \(key)")
    }

    @Test(arguments: [
        (
            "config.yaml",
            "password: ~\ntoken:\nkey: &x\nnote: *x\na: {b: Null, c: null}\nd: 1"
        ),
        (
            "config.json",
            #"{"password":null,"token":null,"key":null,"note":null,"a":{"b":null,"c":null},"d":1}"#
        ),
    ])
    func aNullIsNamedAndHasNoValue(_ name: String, _ text: String) async throws {
        let output = try await initialize(name, text)
        #expect(output.exit == 0, "\(output.text)")
        let read = try JSONValue(parsing: output.stdout)
        #expect(read["withoutValue"] == ["password", "token", "key", "note", "a.b", "a.c"])
        #expect(output.stderr.contains("password, token, key, note, a.b, a.c"))
    }

    @Test(arguments: [
        ("a: 1\nb: yes\nc: [No, 'on']\nd: \"off\"", ": lines 2, 3\n"),
        ("a: 'yes'\nb: true\nc: y\nd: !!str no", nil),
    ])
    func aNoteNamesTheLinesOfYesAndNo(_ text: String, _ lines: String?) async throws {
        let output = try await initialize("config.yaml", text)
        #expect(output.exit == 0, "\(output.text)")
        #expect(output.stderr.contains("yes, no, on and off") == (lines != nil))
        #expect(output.stderr.contains(lines ?? ""), "\(output.stderr)")
    }

    /// JSON, which YAML 1.2 contains, writes a character above U+FFFF as two escapes
    /// (yaml/libyaml#110, mikefarah/yq#2206).
    @Test func yamlReadsTwoEscapesOfOneCharacter() async throws {
        let text = #"""
            a: "x\uD83D\uDE00"
            b: "\ud800\udc00\uDBFF\udffd"
            c: "\\uD83D\\uDE00"
            d: '\uD83D\uDE00'
            """#
        try await expect(
            "config.yaml", text,
            hasValues: #"{"a":"x😀","b":"\#u{10000}\#u{10FFFD}","c":"\\uD83D\\uDE00","#
                + #""d":"\\uD83D\\uDE00"}"#)
    }

    @Test(arguments: [
        #"\uD83D"#, #"\uDE00\uD83D"#, #"\uD83D\U0000DE00"#, #"\uD83Dx"#, #"\U0000D83D\uDE00"#,
        #"\uD83D\uDE0"#, #"\uD83D\\uDE00"#,
    ])
    func refusesASurrogateWithoutItsPair(_ escapes: String) async throws {
        try await expectRefusal("config.yaml", "a: \"\(escapes)\"")
    }

    // MARK: - All of them, and .env

    @Test(arguments: ["config.yaml", "config.toml", ".env"])
    func skipsAByteOrderMark(_ name: String) async throws {
        let text = name == "config.yaml" ? "a: 1\nb: x" : "a = 1\nb = 'x'"
        try await expect(name, "\u{FEFF}" + text, hasValues: #"{"a":1,"b":"x"}"#)
    }

    @Test(arguments: [
        ("\u{FEFF}\u{FEFF}A=1"), ("A=1\n\u{FEFF}B=2"), ("# json\nA='x'"), ("# json\nA=\"[1\""),
        ("A='x'y"), ("A='x'\\"), ("A='x'\"y"),
    ])
    func refusesAnInvalidDotEnvFile(_ text: String) async throws {
        try await expectRefusal(".env", text)
    }

    /// docker/compose#3864: other programs replace variables, commands and backticks.
    @Test(arguments: [
        ("A=$HOME/x\nB=1\nC=\"postgres://${U}\"\nD=`x`\nE=$(x)\nF=$'x'", ": line 1, 3, 4, 5, 6\n"),
        ("A='$HOME'\nB=5$\nC=\"$ 5\"\nD=a$5\nE=\"\\$HOME \\`x\\`\"\nF=x # $HOME", nil),
    ])
    func aNoteNamesLinesThatOthersExpand(_ text: String, _ lines: String?) async throws {
        let output = try await initialize(".env", text)
        #expect(output.exit == 0, "\(output.text)")
        #expect(output.stderr.contains("variables ($NAME)") == (lines != nil), "\(output.stderr)")
        #expect(output.stderr.contains(lines ?? ""), "\(output.stderr)")
        #expect(!output.stderr.contains("HOME"))
    }

    /// bkeepers/dotenv#29, tonerdo/dotnet-env#59
    @Test func readsDotsAndHyphensInANameOfADotEnvFile() async throws {
        try await expect(
            ".env", "Database.Host=a\nexport log-level=b\nA_B.C=1",
            hasValues: #"{"database.host":"a","log-level":"b","a.b.c":1}"#)
    }

    @Test(arguments: ["A.B=1\nA_B=2", "a/b=1", ".=1", "A B=1", "A:1"])
    func refusesANameInADotEnvFile(_ text: String) async throws {
        try await expectRefusal(".env", text)
    }

    @Test func aCommentMarksJSONInADotEnvFile() async throws {
        let text = """
            # json
            A='[1,"it'\\''s"]'
            B='[1]'
            C=[1] # json
            # json is not this
            D='{}'
            #json
            E='{}'
            # json
            F=5
            G='it'\\''s'"; \\$x"
            """
        try await expect(
            ".env", text,
            hasValues: #"{"a":[1,"it's"],"b":"[1]","c":"[1]","d":"{}","e":"{}","f":5,"#
                + #""g":"it's; $x"}"#)
    }
}
