import Foundation
import TestSupport
import Testing

/// The shell sessions of the article "Writing a scheme for a partner", with their output.
@Suite struct SchemeGuideSessionTests {
    private static func blocks(_ kind: String) throws -> [[Substring]] {
        try Article("Sources/SignetSigning/SignetSigning.docc/Writing-a-scheme-for-a-partner.md")
            .blocks(in: kind)
    }

    @Test func printsTheShownOutput() async throws {
        let folder = try TemporaryDirectory()
        let document = try #require(Self.blocks("json").last).joined(separator: "\n")
        try folder.write(document, to: "tea-trade.json")
        let session = ConsoleSession(lines: try Self.blocks("console").flatMap { $0 })
        #expect(session.commands.count >= 10)
        let output = try await session.run(in: folder)
        #expect(output.text == session.text, "\(output.stderr)")
    }

    /// The tool's output for each intermediate document.
    @Test func eachStepIsADocument() async throws {
        let folder = try TemporaryDirectory()
        let steps = try Self.blocks("json")
        #expect(steps.count == 3)
        let wanted = [
            ["no-time", "no-nonce", "no-host", "no-query"],
            ["no-host", "no-query"], ["no-host"],
        ]
        for (step, codes) in zip(steps, wanted) {
            try folder.write(step.joined(separator: "\n"), to: "step.json")
            let output = try await SignetTool.run([
                "schemes", "lint", folder.url.appending(path: "step.json").path,
            ])
            #expect(output.exit == 1, "\(output.stderr)")
            let found = output.text.split(separator: "\n").map { $0.prefix { $0 != ":" } }
            #expect(found.map(String.init) == codes)
        }
    }
}
