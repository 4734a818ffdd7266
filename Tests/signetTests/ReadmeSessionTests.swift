import Foundation
import TestSupport
import Testing

/// The shell sessions of the README, with their output.
@Suite struct ReadmeSessionTests {
    /// The lines of the block of kind `console` behind a heading.
    private func session(behind heading: String) throws -> [Substring] {
        let bytes = try Data(contentsOf: PackageLayout.url("README.md"))
        let text = String(decoding: bytes, as: UTF8.self)
        let section = try #require(text.range(of: "\n## \(heading)\n"))
        let opening = try #require(
            text.range(of: "\n```console\n", range: section.upperBound..<text.endIndex))
        let closing = try #require(
            text.range(of: "\n```\n", range: opening.upperBound..<text.endIndex))
        return text[opening.upperBound..<closing.lowerBound]
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(arguments: ["The vault by hand", "Signing by hand"])
    func runsAsItIsShown(_ heading: String) async throws {
        let session = ConsoleSession(lines: try session(behind: heading))
        #expect(session.commands.count >= 8)
        let folder = try TemporaryDirectory()
        for name in ["schema.json", "defaults.json"] {
            try folder.write(
                Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
        }
        let output = try await session.run(
            in: folder, environment: ["VISUAL": #"sed -i '/"timeouts.connect"/s/3s/2s/'"#])
        #expect(output.text == session.text, "\(output.stderr)")
    }
}
