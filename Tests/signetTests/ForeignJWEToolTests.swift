import Foundation
import SignetJSON
import TestSupport
import Testing

/// JWE tokens of other programs, given to the tool as dumps.
@Suite struct ForeignJWEToolTests {
    private static func tokens() throws -> [String] {
        guard let folder = SharedVectors.directory else { return [] }
        let url = folder.appending(path: "wycheproof/json_web_encryption_test.json")
        let suite = try JSONValue(parsing: [UInt8](Data(contentsOf: url)))
        return (suite["testGroups"]?.array ?? []).flatMap { $0["tests"]?.array ?? [] }
            .compactMap { $0["jwe"]?.string }
    }

    @Test(.enabled(if: SharedVectors.directory != nil))
    func inspectRefusesWycheproofsTokens() async throws {
        let tokens = try Self.tokens()
        #expect(tokens.count == 139)
        for index in stride(from: 0, to: tokens.count, by: 14) {
            let output = try await SignetTool.run(
                ["vault", "inspect", "--json"], stdin: Array(tokens[index].utf8))
            #expect(output.exit == 2)
            let response = try JSONValue(parsing: Array(output.stdout.dropLast()))
            #expect(response["error"]?["code"]?.string == "malformed-dump", "token \(index)")
        }
    }
}
