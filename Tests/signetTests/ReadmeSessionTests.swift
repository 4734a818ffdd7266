import Foundation
import TestSupport
import Testing

/// The README's sessions print what the README says they print.
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
        let lines = try session(behind: heading)
        let commands = lines.filter { $0.hasPrefix("$ ") }.map { $0.dropFirst(2) }
        #expect(commands.count >= 8)
        let folder = try TemporaryDirectory()
        for name in ["schema.json", "defaults.json"] {
            try folder.write(
                Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
        }
        // Each command in one shell, behind its own line; a command that fails is part of it.
        var script = "exec 2>&1\n"
        for command in commands {
            let quoted = command.replacing("'", with: "'\\''")
            script += "printf '$ %s\\n' '\(quoted)'\n\(command)\n"
        }
        try folder.write(script + "exit 0\n", to: "session.sh")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let output = try await ChildProcess.run(
            "sh", ["session.sh"],
            environment: [
                "PATH": SignetTool.url.deletingLastPathComponent().path + ":" + path,
                "VISUAL": #"sed -i '/"timeouts.connect"/s/3s/2s/'"#,
            ], directory: folder.url)
        #expect(output.text == lines.joined(separator: "\n") + "\n", "\(output.stderr)")
    }
}
