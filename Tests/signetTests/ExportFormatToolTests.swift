import Foundation
import SignetJSON
import TestSupport
import Testing

/// `vault export --format docker|systemd|kubernetes`, read as those programs do.
@Suite struct ExportFormatToolTests {
    private let vault: EditableVault

    init() async throws { vault = try await EditableVault() }

    /// Exports the dump with `partner.token` set to a text.
    private func export(
        _ format: String, token: String, _ more: [String] = []
    ) async throws -> ProcessOutput {
        let set = try await vault.set(["partner.token=-"], stdin: token + "\n")
        #expect(set.exit == 0, "\(set.stderr)")
        return try await vault.run(
            ["vault", "export", "dump", "--format", format, "--show-secrets"] + EditableVault.keys
                + more)
    }

    private static let hardTexts = [
        "ZZZZZZ", " a b ", "'", "\"", #"\"#, #"a\"#, "$HOME `id` $(id)", "#a", "a=b", "é😀", "\t",
        #"\n\$"#, "",
    ]

    /// Docker's rules for a file of variables: docker/cli, `pkg/kvfile/kvfile.go`. A line is split
    /// as by Go's `bufio.ScanLines`, its leading space is dropped, and the text after the first `=`
    /// is the value.
    private func dockerVariables(_ text: String) -> [String: String] {
        var variables: [String: String] = [:]
        for line in text.utf8.split(separator: 0x0A) {
            let line = line.last == 0x0D ? line.dropLast() : line
            let start = line.drop { [0x20, 0x09, 0x0B, 0x0C, 0x0D].contains($0) }
            guard let first = start.first, first != UInt8(ascii: "#"),
                let equals = start.firstIndex(of: UInt8(ascii: "="))
            else { continue }
            variables[String(decoding: start[..<equals], as: UTF8.self)] = String(
                decoding: start[equals...].dropFirst(), as: UTF8.self)
        }
        return variables
    }

    @Test(arguments: hardTexts)
    func dockerReadsTheValue(_ text: String) async throws {
        let output = try await export("docker", token: text)
        let variables = dockerVariables(output.text)
        #expect(variables["PARTNER_TOKEN"] == text, "\(output.stderr)")
        #expect(variables["ORDERS_ATTEMPTS"] == "3")
    }

    /// Quotes and escapes in double quotes are those of the shell (systemd.exec(5)), so sh reads
    /// the file.
    @Test(arguments: hardTexts + ["a\nb", "\n", "a\r", "-----BEGIN X-----\nZZ\n"])
    func shReadsTheFileOfSystemd(_ text: String) async throws {
        let output = try await export("systemd", token: text)
        #expect(output.exit == 0, "\(output.stderr)")
        try vault.folder.write(output.stdout, to: "variables")
        let read = try await ChildProcess.run(
            "sh", ["-c", #". ./variables; printf %s "$PARTNER_TOKEN""#],
            directory: vault.folder.url)
        #expect(read.stdout == Array(text.utf8))
    }

    @Test func pythonReadsTheSecret() async throws {
        for text in Self.hardTexts + ["a\nb"] {
            let output = try await export("kubernetes", token: text, ["--prefix", "NO_"])
            #expect(output.exit == 0, "\(output.stderr)")
            let read = try await PythonPeer.run(
                "kubernetes-secret", stdin: output.stdout)
            let list = try JSONValue(parsing: read.stdout)
            #expect(list.array?.prefix(3) == ["v1", "Secret", "com.example.shop"])
            #expect(list.array?.last?["NO_PARTNER_TOKEN"]?.string == text)
        }
    }

    @Test func aRefusalOfLinesNamesAWayOut() async throws {
        let refused = try await export("docker", token: "a\nb")
        for words in [
            "systemd and kubernetes can",
            "exec --only partner.token -- docker run --env PARTNER_TOKEN",
        ] {
            #expect(refused.stderr.contains(words), "\(refused.stderr)")
        }
    }

    /// For Swift, a quote before a combining mark isn't a quote. For sh it is.
    @Test(arguments: ["'\u{301}; touch x; echo '\u{301}", "'\u{200d}'\u{301}; touch x #"])
    func shRunsNothingInAValue(_ text: String) async throws {
        let output = try await export("env", token: text)
        try vault.folder.write(output.stdout, to: "values.env")
        let read = try await ChildProcess.run(
            "sh", ["-c", #". ./values.env; printf %s "$PARTNER_TOKEN""#],
            directory: vault.folder.url)
        #expect(read.exit == 0 && read.text == text, "\(read.stderr)")
        #expect(try !vault.folder.contents().contains("x"))
    }

    private static let refusals: [(String, String, [String], String)] =
        [
            ("docker", "a\nb", [], "unusable-value"), ("docker", "\n", [], "unusable-value"),
            ("docker", "a\r", [], "unusable-value"),
            ("docker", String(repeating: "Z", count: 1 << 16), [], "unusable-value"),
            ("systemd", "a\u{feff}", [], "unusable-value"),
            ("systemd", String(decoding: [0xEF, 0xB7, 0x90], as: UTF8.self), [], "unusable-value"),
            ("systemd", "a\0b", [], "zero-byte"), ("kubernetes", "a\0b", [], "zero-byte"),
            (
                "kubernetes", String(repeating: "Z", count: (1 << 20) + 1), [], "unusable-value"
            ),
            ("kubernetes", "a", ["--name", "Shop"], "unusable-name"),
            ("kubernetes", "a", ["--name", "a..b"], "unusable-name"),
            ("kubernetes", "a", ["--name", "a-"], "unusable-name"),
            ("kubernetes", "a", ["--name", "a\nb"], "unusable-name"),
            (
                "kubernetes", "a", ["--prefix", String(repeating: "A", count: 250)],
                "unusable-value"
            ),
            ("docker", "a", ["--prefix", "9"], "unusable-name"),
            ("docker", "a", ["--name", "x"], "usage"), ("json", "a", ["--prefix", "A"], "usage"),
            ("swarm", "a", [], "usage"),
        ]

    @Test(arguments: refusals)
    func refusesByName(
        _ format: String, _ token: String, _ more: [String], _ code: String
    ) async throws {
        try expect(
            try await export(format, token: token, more + ["--json"]), exit: 2, code: code)
        guard code.hasSuffix("value") else { return }
        let words = try await export(format, token: token, more)
        #expect(words.stderr.contains("of \"partner.token\"") || more.count == 2)
        #expect(words.stdout.isEmpty && !words.stderr.contains("ZZZZ"))
    }
}
