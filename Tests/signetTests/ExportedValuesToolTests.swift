import SignetJSON
import TestSupport
import Testing

/// `vault init` of what `vault export` wrote.
@Suite struct ExportedValuesToolTests {
    private static let texts = [
        "", " ", "\t", "\n", "\r", "\r\n", "a\rb\nc\r\n", "\u{0B}\u{0C}", "\u{1B}[31m", "\u{7F}",
        "\u{80}\u{85}\u{9F}", "\u{2028}", "\u{2029}", "\u{A0}", "\u{FEFF}", "x\u{FEFF}y",
        "\u{FFFE}\u{FFFF}", "\u{E000}\u{E001}", "\u{F8FF}", "e\u{301}", "é€ ﷽", "😀\u{10FFFF}",
        "'", "''", "'\\''", "\"", "\"\"\"", "\\", "\\\\", "\\n", "\\uFEFF", "\\u0000", "\\ ", "x\\",
        "$", "${HOME}", "$(touch pwned)", "`id`", "!", "!!int 3", "&a", "*a", "<<", "? a", "- a",
        "-", "--- ", "...", ":", "a: b", "#", "# json", "a #b", "a#b", "%", "@", "|", ">-", ",",
        "[", "[1]", "{}", "{{x}}", "=", "==", "A=1", "export A=1", "~", "null", "Null", "true",
        "True", "no", "yes", "On", "y", "0", "-0", "007", "0o14", "0x1F", "1_000", ".5", "1.",
        "1e3",
        "1e400", "+1", ".inf", ".NaN", "12:30", "2026-01-01", "2.5s",
        "123456789012345678901234567890", "  spaces  ", "https://h/?a=1#b",
    ]
    private static let others = [
        "0", "-0", "-0.0", "0.1", "3.10", "1.50", "1e3", "1E+3", "-2.5e-7", "true", "false",
        "9007199254740993", "9223372036854775808", "123456789012345678901234567890", "[]", "{}",
        "[null]", #"["","null",null,1.50,{"a":[{}]},"it's"]"#, #"[{"a":" #","b":"\u2028"}]"#,
        #"{"name":"password","value":"'\"\n"}"#,
    ]
    private static let names = [
        "yes", "null", "~", "<<", "1", "true", "a b", " ", "a:", "#a", "-", "? a", "é😀", "=",
        "it's", "\"", "\\", "[", "{a}", "A_B", "!a",
        "&a", "*a", "%", "@", "`", "|", ">", ",", "0x1", "\u{E000}",
    ]

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Hostile values, and texts that are made of several of them.
    private static func values(seed: UInt64) throws -> JSONObject {
        var generator = SplitMix(seed: seed)
        var values: [JSONValue] = texts.map(JSONValue.string)
        for _ in 0..<100 {
            let parts = (0..<Int.random(in: 2...5, using: &generator)).compactMap { _ in
                texts.randomElement(using: &generator)
            }
            values.append(.string(parts.joined()))
        }
        values += try others.map { try JSONValue(parsing: Array($0.utf8)) }
        return JSONObject(
            values.shuffled(using: &generator).enumerated().map {
                (name: "k\($0 % 7).v\($0)", value: $1)
            })
    }

    private func signet(_ arguments: [String]) async throws -> ProcessOutput {
        try await SignetTool.run(arguments, directory: folder.url)
    }

    private func initialize(
        _ file: String, out: String, as format: String? = nil
    ) async throws {
        let made = try await signet(
            [
                "vault", "init", file, "--out", out, "--keys", "keys", "--app-id",
                "com.example.shop",
            ] + (format.map { ["--format", $0] } ?? []))
        try #require(made.exit == 0, "\(made.stderr)")
    }

    private func export(
        _ folder: String, _ format: String, only keys: [String] = []
    ) async throws -> ProcessOutput {
        try await signet(
            [
                "vault", "export", "--show-secrets", "--format", format, "--project",
                "\(folder)/signet.json",
            ] + keys.flatMap { ["--only", $0] })
    }

    /// Returns whether a format can hold a value as a variable's text.
    private static func holds(_ value: JSONValue, in format: String) -> Bool {
        let text = value.string ?? value.text
        return switch format {
        case "docker": !text.utf8.contains(0x0A) && text.utf8.last != 0x0D
        case "systemd":
            text.unicodeScalars.allSatisfy {
                $0 != "\u{FEFF}" && !$0.properties.isNoncharacterCodePoint
            }
        default: true
        }
    }

    /// Expects that each value comes back from each format, with the bytes of its text, and that a
    /// format refuses a value that it can't hold, and names its key.
    private func expectReturn(of values: JSONObject, from formats: [String]) async throws {
        try folder.write(JSONValue.object(values).text, to: "config.json")
        try await initialize("config.json", out: "first")
        for format in formats {
            let ending = format == "nested-json" ? "json" : format
            let held = values.filter { Self.holds($0.value, in: format) }
            let others = values.filter { !Self.holds($0.value, in: format) }
            for (name, _) in others.prefix(3) {
                let refused = try await export("first", format, only: [name])
                #expect(refused.exit == 2 && refused.stderr.contains("\"\(name)\""), "\(format)")
            }
            let names = held.count == values.count ? [] : held.map(\.name)
            let exported = try await export("first", format, only: names)
            try #require(exported.exit == 0, "\(exported.stderr)")
            try folder.write(exported.stdout, to: "again.\(ending)")
            try await initialize("again.\(ending)", out: format, as: ending)
            let found = try JSONValue(parsing: try await export(format, "json").stdout).object
            #expect(found?.count == held.count)
            for (name, value) in held {
                #expect(
                    found?[name]?.text.utf8.elementsEqual(value.text.utf8) == true,
                    "\(format): \(value.text) became \(found?[name]?.text ?? "nothing")")
            }
        }
        #expect(!(try folder.contents()).contains("pwned"))
    }

    @Test(arguments: [1, 2])
    func everyValueComesBackFromEachFormat(_ seed: UInt64) async throws {
        try await expectReturn(
            of: Self.values(seed: seed),
            from: ["json", "nested-json", "yaml", "env", "docker", "systemd", "kubernetes"])
    }

    @Test func everyNameComesBackFromTheOtherFormats() async throws {
        var values = JSONObject()
        for (index, name) in Self.names.enumerated() {
            values[name] = .string(name)
            values["deep.\(name)x.\(name)\(index)"] = 1
        }
        try await expectReturn(of: values, from: ["json", "nested-json", "yaml"])
    }

    @Test func aZeroByteComesBackOrIsRefused() async throws {
        let values: JSONObject = ["a": "\0x\0", "b": ["\0"]]
        try await expectReturn(of: values, from: ["json", "nested-json", "yaml"])
        for format in ["env", "docker", "systemd", "kubernetes"] {
            let output = try await signet([
                "vault", "export", "--show-secrets", "--format", format, "--project",
                "first/signet.json", "--json",
            ])
            try expect(output, exit: 2, code: "zero-byte")
            #expect(output.text.contains("a"))
        }
    }
}
