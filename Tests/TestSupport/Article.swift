import Foundation

/// A Markdown file of the package, whose code a test uses unchanged.
package struct Article: Sendable {
    private let text: String

    /// Reads the file at a path from the package's root.
    package init(_ path: String) throws {
        text = try String(contentsOf: PackageLayout.url(path), encoding: .utf8)
    }

    /// The code blocks of a language, each by its lines.
    package func blocks(in language: String) -> [[Substring]] {
        var blocks: [[Substring]] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```\(language)" {
                isInside = true
                blocks.append([])
            } else if line == "```" {
                isInside = false
            } else if isInside {
                blocks[blocks.count - 1].append(line)
            }
        }
        return blocks
    }

    /// The code in the prose, each span on one line.
    package var codeSpans: [String] {
        var spans: [String] = []
        var isInside = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                isInside.toggle()
            } else if !isInside {
                spans += line.matches(of: /(`+)(.+?)\1/).map { String($0.output.2) }
            }
        }
        return spans
    }
}
