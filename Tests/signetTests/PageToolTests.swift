import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

/// The pages of `pins plan --html` and `self-check --html`.
@Suite struct PageToolTests {
    private static let hostile = #"<script>alert(1)</script>"'&<img src=x onerror=alert(2)>"#

    private let folder: TemporaryDirectory
    private let authority: TestAuthority

    init() throws {
        folder = try TemporaryDirectory()
        authority = try TestAuthority.trusted.get()
    }

    private func signet(_ arguments: [String]) async throws -> ProcessOutput {
        try await SignetTool.run(arguments, directory: folder.url)
    }

    /// The arguments of a plan with a certificate, a request with hostile names, and a pin without
    /// a key.
    private func plan() async throws -> [String] {
        let made = try await ChildProcess.run(
            "openssl",
            [
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", "next.key", "-out", "<b>\"next'.csr", "-subj",
                "/CN=localhost/O=<script>alert(1)<\\/script>\"'&",
            ], directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        let next = try await signet(["pins", "show", "<b>\"next'.csr"]).text
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let lost = "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="
        try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.leaf.pin)","\#(next)","\#(lost)"],"#
                + #""expires":"2099-12-31"},"b.example.com":{"pins":["\#(lost)"]}}}"#,
            to: "policy.json")
        return [
            "pins", "plan", "--policy", "policy.json", authority.leaf.pem,
            "<b>\"next'.csr",
        ]
    }

    /// Checks that a page has only the tool's own tags, closed in order, and loads nothing.
    private func expectSafe(_ page: String, of what: Comment) throws {
        #expect(
            page.hasPrefix("<!DOCTYPE html>\n<!-- Written by signet. -->\n<html lang=\"en\">"), what
        )
        let own: Set<String> = [
            "html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1",
            "h2",
            "p", "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td",
            "code", "span", "details", "summary", "svg", "desc", "rect", "line", "text",
        ]
        let tag = try Regex(
            #"</?([a-z0-9]+)((?: [a-zA-Z0-9-]+="[^"<>]*")*)( /)?>"#,
            as: (Substring, Substring, Substring, Substring?).self)
        let body = page.dropFirst("<!DOCTYPE html>\n<!-- Written by signet. -->\n".count)
        var open: [Substring] = []
        var tags = 0
        for match in body.matches(of: tag) {
            let (whole, name, attributes, isEmpty) = match.output
            tags += 1
            #expect(own.contains(String(name)), what)
            for word in ["href=", "src=", "style=", " on"] {
                #expect(!attributes.contains(word), "\(what): \(whole)")
            }
            if whole.hasPrefix("</") {
                #expect(open.popLast() == name, "\(what): \(whole)")
            } else if isEmpty == nil {
                open.append(name)
            }
        }
        #expect(open.isEmpty, what)
        // A browser sees no other tag.
        #expect(body.count { $0 == "<" } == tags, what)
        #expect(!page.contains("url(") && !page.contains("@import") && !page.contains("://"), what)
        let style = try #require(page.firstRange(of: "<style>"))
        let end = try #require(page.firstRange(of: "</style>"))
        let digest = try Digest.of(Array(page[style.upperBound..<end.lowerBound].utf8))
        #expect(
            page.contains(
                "default-src 'none'; style-src 'sha256-\(Data(digest).base64EncodedString())'"),
            what)
    }

    @Test func thePlanHasAPageWithTheSameFacts() async throws {
        let arguments = try await plan()
        let output = try await signet(arguments + ["--html", "plan.html"])
        let plain = try await signet(arguments)
        #expect(output.exit == plain.exit && output.stdout == plain.stdout)
        #expect(output.stderr.contains("wrote plan.html"))
        #expect(try folder.mode("plan.html") == 0o600)
        let page = String(decoding: try folder.read("plan.html"), as: UTF8.self)
        try expectSafe(page, of: "the plan")
        for text in [
            authority.leaf.pin, "localhost", "b.example.com", "in use", "in reserve",
            "no key at hand", "2099-12-31", "today", "Lead time", "no-key",
            "&lt;b&gt;&quot;next&#39;.csr", "Days left",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        #expect(!page.contains("<script") && !page.contains("<b>"))
        // The heading says it once; a reader of the screen gets it as the name of the table.
        #expect(page.components(separatedBy: ">Findings<").count == 2)
        #expect(page.contains("class=\"date\">2099-12-31</span>"))
        #expect(page.contains(".date{white-space:nowrap}"))
        #expect(page.contains("<td data-column=\"Finding\">"))
    }

    @Test func aPageReplacesOnlyAPage() async throws {
        let arguments = try await plan()
        _ = try await signet(arguments + ["--html", "plan.html"])
        let first = try folder.read("plan.html")
        _ = try await signet(arguments + ["--html", "plan.html", "--within", "90"])
        #expect(try folder.read("plan.html") != first)
        for content in ["mine", ""] {
            try folder.write(content, to: "mine.html")
            let refused = try await signet(arguments + ["--html", "mine.html", "--json"])
            #expect(refused.exit == 2 && refused.text.contains("file-exists"))
            #expect(try folder.read("mine.html") == Array(content.utf8))
        }
        let names = try folder.contents()
        #expect(!names.contains { $0.hasPrefix(".") }, "\(names)")
    }

    @Test(arguments: [
        (["--html", "-", "--json"], "usage"), (["--html", "", "--json"], "usage"),
        (["--html", "none/plan.html", "--json"], "unwritable-file"),
        (["--html", ".", "--json"], "unreadable-file"),
    ])
    func aPageThatCannotBeWrittenIsExit2(_ options: [String], _ code: String) async throws {
        let output = try await signet(plan() + options)
        #expect(output.exit == 2, "\(output.text)")
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"]?.string == code)
    }

    @Test func standardOutputHasThePageAlone() async throws {
        let output = try await signet(plan() + ["--html", "-"])
        #expect(output.exit == 1)
        try expectSafe(output.text, of: "the plan")
        let check = try await signet([
            "self-check", "--offline", "--project", "none", "--html", "-",
        ])
        #expect(check.exit == 0, "\(check.stderr)")
        try expectSafe(check.text, of: "the self-check")
    }

    /// The earliest and latest possible dates break neither the drawing nor the table.
    @Test(arguments: ["0", "253402300799"])
    func distantTimesAreDrawn(_ now: String) async throws {
        let output = try await signet(
            plan() + ["--now", now, "--within", "36500", "--html", "-"])
        #expect(output.exit == 1, "\(output.stderr)")
        try expectSafe(output.text, of: "\(now)")
    }

    @Test func theSelfCheckShowsKeysAndNoSecret() async throws {
        for (id, more) in [(Self.hostile, []), ("plain", ["--append"])] {
            let made = try await signet(
                ["keys", "new", "--type", "hmac", "--id", id, "--out", "keys"] + more)
            #expect(made.exit == 0, "\(made.stderr)")
        }
        let keys = try JSONValue(parsing: folder.read("keys"))["keys"]?.array ?? []
        let revoked = try await signet(["keys", "revoke", "--id", "plain", "keys"])
        #expect(revoked.exit == 0, "\(revoked.stderr)")
        _ = try await plan()
        try folder.write(#"{"keys":"keys","policy":"policy.json"}"#, to: "signet.json")
        let output = try await signet(["self-check", "--offline", "--html", "check.html"])
        #expect(output.exit == 0, "\(output.text)\(output.stderr)")
        let page = String(decoding: try folder.read("check.html"), as: UTF8.self)
        try expectSafe(page, of: "the self-check")
        for text in [
            "&lt;script&gt;alert(1)", "revoked", "usable", "hmac", "2099-12-31", "no backup",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        // Hosts and pins come first, and the known answers last and folded.
        let headings = page.matches(of: /<h2[^>]*>([^<]*)<\/h2>/).map { String($0.1) }
        #expect(
            headings == [
                "Hosts and pins", "What is valid when", "Other checks", "Keys", "Known answers",
            ])
        let known = try #require(page.firstRange(of: "Known answers"))
        #expect(page[known.lowerBound...].contains("<details>\n<summary>"))
        #expect(!page[..<known.lowerBound].contains("known answer"))
        #expect(!page.contains("<caption"))
        for key in keys {
            let secret = try #require(key["k"]?.string)
            #expect(!page.contains(secret))
        }
    }
}
