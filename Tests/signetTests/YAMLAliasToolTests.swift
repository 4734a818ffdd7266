import Foundation
import SignetJSON
import TestSupport
import Testing

/// Hostile aliases in YAML files: `vault init` refuses them at once.
@Suite struct YAMLAliasToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func initialize(_ text: String) async throws -> ProcessOutput {
        try folder.write(text, to: "config.yaml")
        return try await SignetTool.run(
            [
                "vault", "init", "config.yaml", "--out", ".", "--keys", "keys", "--app-id", "a",
                "--app-version", "1", "--json",
            ], directory: folder.url, timeout: 20)
    }

    /// Anchors of which each is ten times the one before, the last with 10¹⁰ values.
    private static let bomb = anchors(to: 9)
    /// Few enough to be followed.
    private static let small = anchors(to: 2)

    private static func anchors(to last: Int) -> String {
        var text = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"
        for index in 1...last {
            let aliases = [String](repeating: "*a\(index - 1)", count: 10).joined(separator: ",")
            text += "a\(index): &a\(index) [\(aliases)]\n"
        }
        return text
    }

    /// Anchors of which each holds the one before.
    private static let chain: String = {
        var text = "a0: &a0 [1]\n"
        for index in 1...2_000 { text += "a\(index): &a\(index) [*a\(index - 1)]\n" }
        return text
    }()

    @Test(arguments: [
        bomb, bomb + "? *a9\n: 1\n", bomb + "b: {*a9 : 1}\n", bomb + "*a9 : 1\n", chain,
        small + "? *a2\n: 1\n", small + "b: {*a2 : 1}\n", small + "b: {? [*a2] : 1}\n",
        small + "b: [*a2 : 1]\n", small + "b:\n  ? - *a2\n    - *a2\n  : 1\n",
        small + "b: {[*a2, *a1]: 1}\n", small + "*a2 : 1\n", small + "b: {?*a2 : 1}\n",
        // The same with anchors of one name.
        "a: &x [1,1]\n" + (0..<40).map { "a\($0): &x [*x,*x]\n" }.joined(),
        // A name of a key, and values that contain the replacement characters.
        "&k a: 1\n*k : 2\n", "a: ?", "? a\n: 1", "a: &x 1\nb: *x y", "a: &x 1\nb: *x\n  y",
        "a: &x 1\nb: &y *x\nc: *y", "a: &x [*x]", "a: *x\nb: &x 1", "a: *\nb: 1",
    ])
    func hostileAliasesAreRefused(_ text: String) async throws {
        let output = try await initialize(text)
        #expect(output.exit == 2, "\(text.suffix(60)): \(output.text)")
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"] == "malformed-input")
        #expect(try folder.contents() == ["config.yaml"])
    }

    @Test func aTextOfMoreThan4MiBIsRefused() async throws {
        let output = try await initialize("a: " + String(repeating: "x", count: 4 << 20))
        #expect(output.exit == 2 && output.text.contains("malformed-input"))
    }

    @Test func starsAndQuestionMarksStayText() async throws {
        let text = #"""
            # a comment? *yes
            list: &list [1, 2]
            map: &map {one: *list, two: "*list", three: '?'}
            again: *map
            schedule: "*/5 * * * *"
            query: https://example.com/?a=*b
            private: "\#u{E000}\#u{E001}"
            what: is *this? or &this
            block: |
              *list
              ? [1]
            scalar: &s text
            same: [*s, *s]
            """#
        let made = try await initialize(text)
        #expect(made.exit == 0, "\(made.text)")
        let exported = try await SignetTool.run(
            ["vault", "export", "--show-secrets"], directory: folder.url)
        #expect(
            try JSONValue(parsing: exported.stdout) == [
                "list": [1, 2], "map.one": [1, 2], "map.two": "*list", "map.three": "?",
                "again.one": [1, 2], "again.two": "*list", "again.three": "?",
                "schedule": "*/5 * * * *", "query": "https://example.com/?a=*b",
                "private": "\u{E000}\u{E001}", "what": "is *this? or &this",
                "block": "*list\n? [1]\n", "scalar": "text", "same": ["text", "text"],
            ])
    }
}
