#if Tool
import SignetCrypto

/// A page for a browser and for paper: one file without scripts, which loads nothing.
///
/// Its tags are also valid XML. A Content-Security-Policy allows its own style and nothing else.
struct StatusPage {
    /// The first bytes of every page, by which a later one may replace it.
    static let mark = "<!DOCTYPE html>\n<!-- Written by signet. -->\n"

    /// A part of the page with a heading.
    struct Section {
        let title: String
        let body: HTML
    }

    let title: String
    /// One line under the title.
    let summary: String
    /// Names and values, such as the time and the files.
    let facts: [(name: String, value: String)]
    let sections: [Section]

    /// The whole page.
    ///
    /// - Throws: `CryptoFailure`.
    func bytes() throws -> [UInt8] {
        let digest = try Digest.of(Array(PageStyle.text.utf8))
        let facts = HTML(
            joining: facts.map { "<dt>\($0.name)</dt><dd>\(Self.words($0.value))</dd>" })
        let sections = HTML(
            joining: sections.enumerated().map { index, section in
                """
                <section aria-labelledby="s\(index)">
                <h2 id="s\(index)">\(section.title)</h2>
                \(section.body)
                </section>
                """
            })
        let page: HTML = """
            <html lang="en">
            <head>
            <meta charset="utf-8" />
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src \
            'sha256-\(Base64.encode(digest, as: .standard))'; base-uri 'none'; form-action 'none'" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="referrer" content="no-referrer" />
            <meta name="color-scheme" content="light dark" />
            <title>\(title)</title>
            <style>\(PageStyle.html)</style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            <p>\(summary)</p>
            <dl>
            \(facts)
            </dl>
            </header>
            <main>
            \(sections)
            </main>
            </body>
            </html>

            """
        return Array(Self.mark.utf8) + page.bytes
    }

    /// A table; the first cell of each row is its heading. On a narrow screen each cell is a line
    /// of its own, with the name of its column before it.
    ///
    /// - Parameter title: The name for programs that read the page aloud. The heading above the
    ///   table shows it.
    static func table(
        _ title: String, columns: [String], rows: [[HTML]]
    ) -> HTML {
        let head = HTML(joining: columns.map { "<th scope=\"col\">\($0)</th>" })
        let body = HTML(
            joining: rows.map { cells in
                let row = HTML(
                    joining: zip(columns, cells).enumerated().map { index, cell in
                        index == 0
                            ? "<th scope=\"row\">\(cell.1)</th>"
                            : "<td data-column=\"\(cell.0)\">\(cell.1)</td>"
                    })
                return "<tr>\(row)</tr>"
            })
        return """
            <div class="wide" role="region" aria-label="\(title)" tabindex="0">
            <table>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(body)
            </tbody>
            </table>
            </div>
            """
    }

    /// A text whose dates stay on one line.
    static func words(_ text: String) -> HTML {
        var pieces: HTML = ""
        var rest = text[...]
        while let date = rest.firstMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:]+Z)?/) {
            let before = String(rest[..<date.range.lowerBound])
            pieces = "\(pieces)\(before)<span class=\"date\">\(String(date.0))</span>"
            rest = rest[date.range.upperBound...]
        }
        return "\(pieces)\(String(rest))"
    }

    /// A word in the colour of what it means; the word says it without the colour too.
    static func state(_ word: String, tone: Timeline.Tone) -> HTML {
        "<span class=\"state \(tone.rawValue)\">\(word)</span>"
    }
}
#endif
