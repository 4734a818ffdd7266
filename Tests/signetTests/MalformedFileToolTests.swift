import TestSupport
import Testing

/// Each command names a malformed file in its error.
@Suite struct MalformedFileToolTests {
    @Test(arguments: [
        ["vault", "inspect", "FILE"],
        ["vault", "open", "FILE", "--keys", "KEYS", "--app-id", "a", "--app-version", "1"],
        ["vault", "public", "--schema", "FILE", "--defaults", "d"],
        ["pins", "lint", "FILE"],
        ["pins", "show", "FILE"],
        ["pins", "check", "https://localhost:1", "--policy", "FILE"],
        ["keys", "public", "FILE"],
        ["send", "FILE"],
        ["call", "https://localhost:1/", "--batch", "FILE"],
        ["self-check", "--project", "FILE"],
    ])
    func isNamed(_ arguments: [String]) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write("{", to: "malformed.txt")
        let keys = try folder.write("{\"keys\":[]}", to: "keys", mode: 0o600)
        let output = try await SignetTool.run(
            arguments.map { $0 == "FILE" ? file : $0 == "KEYS" ? keys : $0 })
        #expect(output.exit == 2)
        #expect(output.stdout.isEmpty)
        #expect(output.stderr.contains("malformed.txt"), "\(output.stderr)")
    }
}
