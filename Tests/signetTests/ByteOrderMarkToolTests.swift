import SignetJSON
import TestSupport
import Testing

/// A byte order mark before JSON that the tool reads: JSON files are refused, and the message names
/// the mark (RFC 8259, section 8.1; serde-rs/json#805, jqlang/jq#45).
@Suite struct ByteOrderMarkToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static let url = "http://127.0.0.1:9/"

    @Test(arguments: [
        ["vault", "init", "marked.json"],
        ["vault", "public", "--schema", "marked.json", "--defaults", "defaults.json"],
        ["pins", "check", "https://a.test/", "--policy", "marked.json"],
        ["pins", "lint", "marked.json"], ["schemes", "lint", "marked.json"],
        ["keys", "list", "marked.json"],
        ["keys", "import", "marked.json", "--id", "a", "--out", "keys"],
        ["call", url, "m", "--params", "\u{FEFF}{}"], ["call", url, "--batch", "marked.json"],
        ["self-check", "--offline", "--project", "marked.json"],
    ])
    func isNamedWhereAJSONFileIsRefused(_ arguments: [String]) async throws {
        let key = #"{"kty":"oct","kid":"a","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQ"}"#
        try folder.write("\u{FEFF}{\"keys\":[\(key)]}", to: "marked.json")
        try folder.write("{}", to: "defaults.json")
        let output = try await SignetTool.run(arguments, directory: folder.url)
        #expect(output.exit == 2, "\(output.text)")
        #expect(output.stderr.contains("byte order mark"), "\(output.stderr)")
        #expect(!output.stderr.contains("\u{FEFF}") && !output.stderr.contains("c2Vj"))
        #expect(try folder.contents() == ["defaults.json", "marked.json"])
    }
}
