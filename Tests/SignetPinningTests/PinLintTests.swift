import SignetPinning
import TestSupport
import Testing

private let a = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
private let b = "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="

/// The findings of `pins lint`.
@Suite struct PinLintTests {
    private static let now: Int64 = 1_795_228_551  // 2026-11-21

    private func codes(_ text: String) throws -> [String] {
        let text = text.replacing("$a", with: a).replacing("$b", with: b)
        return try PinLint.findings(of: Array(text.utf8), now: Self.now).map(\.code)
    }

    @Test(
        arguments: [
            (#"{"hosts":{"a.example":{"pins":["$a","$b"],"expires":"2027-06-30"}}}"#, []),
            (#"{"hosts":{"a.example":{"pins":["$a"]}}}"#, ["no-backup"]),
            (#"{"hosts":{"a.example":{"pins":["$a","$b","$a"]}}}"#, ["duplicate-pin"]),
            (#"{"hosts":{"a.example":{"pins":["$a","$b"],"expires":"2026-11-20"}}}"#, ["expired"]),
            (
                #"{"hosts":{"a.example":{"pins":["$a","$b"],"expires":"2026-12-01"}}}"#,
                ["expires-soon"]
            ),
            (
                #"{"hosts":{"a.example":{"pins":["$a","$b"],"expires":"2026-13-01"}}}"#,
                ["bad-value"]
            ),
            (#"{"hosts":{"a.example":{"pins":[]}}}"#, ["no-pins"]),
            (#"{"hosts":{"a.example":{}}}"#, ["no-pins"]),
            (
                #"{"hosts":{"a.example":{"pins":["$a","sha256/AAAA"]}}}"#,
                ["wrong-length", "no-backup"]
            ),
            (#"{"hosts":{"a.example":{"pins":["$a","sha1/AAAA"]}}}"#, ["bad-pin", "no-backup"]),
            (#"{"hosts":{"a.example":{"pins":["$a","sha256/!!"]}}}"#, ["bad-base64", "no-backup"]),
            (
                #"{"hosts":{"a.example":{"pins":["$a","sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]}}}"#,
                ["empty-input-hash"]
            ),
            (
                #"{"hosts":{"a.example":{"pins":["$a","sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}}}"#,
                ["placeholder-pin"]
            ),
            (#"{"hosts":{"*.com":{"pins":["$a","$b"]}}}"#, ["public-suffix"]),
            (
                #"{"hosts":{"co.uk":{"pins":["$a","$b"],"includeSubdomains":true}}}"#,
                ["public-suffix"]
            ),
            (#"{"hosts":{"a.b":{"exclude":true},"A.b":{"exclude":true}}}"#, ["duplicate-host"]),
            (#"{"hosts":{"a.b:1":{"exclude":true}}}"#, ["bad-host"]),
            (
                #"{"hosts":{"a.b":{"exclude":true,"x":1}},"y":2}"#,
                ["unknown-member", "unknown-member"]
            ),
            (
                #"{"hosts":{"a.b":{"pins":["$a","$b"],"mode":1}},"unlisted":"no"}"#,
                ["bad-value", "bad-value"]
            ),
        ] as [(String, [String])])
    func finds(_ text: String, _ found: [String]) throws {
        #expect(try codes(text) == found)
    }

    /// Two rules for the same names below a host, of which one can have no effect there, as
    /// `PinPolicy.rule(for:)` decides.
    @Test(
        arguments: [
            (#""a.b":{"pins":["$a","$b"],$i},"**.a.b":{"pins":["$b","$c"]}"#, "a.b"),
            (#""**.a.b":{"pins":["$a","$b"]},"A.b.":{"pins":["$b","$c"],$i}"#, "A.b."),
            (#""*.a.b":{"pins":["$a","$b"],$i},"a.b":{"pins":["$b","$c"],$i}"#, "*.a.b"),
            (#""a.b":{"pins":["$b","$c"],$i},"*.a.b":{"exclude":true,$i}"#, "*.a.b"),
            (#""*.a.b":{"pins":["$a","$b"],$i},"**.a.b":{"exclude":true}"#, "*.a.b"),
            (#""a.b":{"pins":["$a","$b"],$i},"**.a.b":{"pins":["$b","$a"]}"#, nil),
            (#""a.b":{"pins":["$a","$b"]},"**.a.b":{"pins":["$b","$c"]}"#, nil),
            (#""*.a.b":{"pins":["$a","$b"]},"a.b":{"pins":["$b","$c"],$i}"#, nil),
            (#""a.b":{"pins":["$a","$b"],$i},"c.a.b":{"pins":["$b","$c"],$i}"#, nil),
            (#""a.b":{"pins":["$a","$b"],$i},"x.b":{"pins":["$b","$c"],$i}"#, nil),
        ] as [(String, String?)])
    func namesARuleWithoutEffect(_ rules: String, _ host: String?) throws {
        let c = "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="
        let text = "{\"hosts\":{\(rules)}}".replacing("$a", with: a).replacing("$b", with: b)
            .replacing("$c", with: c).replacing("$i", with: #""includeSubdomains":true"#)
        let findings = try PinLint.findings(of: Array(text.utf8), now: Self.now)
        #expect(findings.map(\.code) == (host == nil ? [] : ["contradicting-rules"]))
        #expect(findings.first?.host == host)
        // The findings of lint agree with the policy's behaviour.
        let policy = try PinPolicy(parsing: Array(text.utf8))
        guard let host else { return }
        let deep = try policy.rule(for: HostName.canonical("y.x.a.b"))
        #expect(deep?.pattern != (try PinRule.Pattern(parsing: host)))
    }

    /// Each finding says what was found and expected; so does the reader, which stops at the first.
    @Test(arguments: [
        (#""expires":"2026-02-30""#, #"found "2026-02-30""#, "YYYY-MM-DD"),
        (#""expires":20260230"#, "found a number", "YYYY-MM-DD"),
        (#""mode":"enforced""#, #"found "enforced""#, "enforce"),
        (#""afterExpiry":"\u001b[2J""#, #"found "\u{1b}[2J""#, "refuse"),
        (#""caMode":"\u00e9\#(String(repeating: "x", count: 99))""#, "xxx…\"", "replace"),
        (#""exclude":"yes""#, "", "true or false"), (#""pin":[]"#, "", "includeSubdomains"),
    ])
    func saysWhatItFoundAndWants(_ member: String, _ found: String, _ wanted: String) throws {
        let text = Array(#"{"hosts":{"a.example":{"pins":["\#(a)","\#(b)"],\#(member)}}}"#.utf8)
        let messages = try PinLint.findings(of: text, now: Self.now).map(\.message)
        #expect(messages.contains { $0.contains(found) && $0.contains(wanted) }, "\(messages)")
        let error = #expect(throws: PinError.self) { try PinPolicy(parsing: text, filesIn: ".") }
        let words = error?.message ?? ""
        #expect(words.contains(#"host "a.example""#) && words.contains(found), "\(words)")
        if !found.contains("number") { #expect(words.contains(wanted), "\(words)") }
    }

    @Test(arguments: ["", "[]", "{}", #"{"hosts":1}"#, #"{"hosts":{},"hosts":{}}"#])
    func refusesInvalidPolicies(_ text: String) {
        let error = #expect(throws: PinError.self) {
            try PinLint.findings(of: Array(text.utf8), now: 0)
        }
        #expect(error?.code == .malformedPolicy)
    }

    private static let list = """
        // a comment
        com
        co.uk  and what stands behind the space
        *.ck
        !www.ck
        公司.cn
        """

    @Test(
        arguments: [
            ("**.com", true), ("**.org", true), ("*.co.uk", true), ("*.a.co.uk", false),
            ("*.uk", true), ("**.a.ck", true), ("**.www.ck", false), ("**.b.a.ck", false),
            ("*.公司.cn", true), ("**.xn--55qx5d.cn", true), ("*.github.io", false),
            ("a.com", false), ("com", false),
        ])
    func takesSuffixesOfAList(_ pattern: String, _ isPublic: Bool) throws {
        let text = #"{"hosts":{"\#(pattern)":{"pins":["\#(a)","\#(b)"]}}}"#
        let suffixes = try #require(
            PublicSuffixes(parsing: Array(Self.list.utf8), source: "the test's list"))
        let findings = try PinLint.findings(
            of: Array(text.utf8), now: Self.now, suffixes: suffixes)
        #expect(findings.map(\.code) == (isPublic ? ["public-suffix"] : []))
        #expect(findings.allSatisfy { $0.message.contains("the test's list") })
    }

    @Test func fallsBackWithoutAList() throws {
        let folder = try TemporaryDirectory()
        try folder.write([0xFF, 0xFE], to: "no.dat")
        try folder.write("// nothing\n", to: "empty.dat")
        for name in ["absent.dat", "no.dat", "empty.dat", "."] {
            let suffixes = PublicSuffixes.system(path: folder.path(name))
            #expect(suffixes.source == PublicSuffixes.builtIn.source)
            #expect(suffixes.contains(try HostName.canonical("github.io")))
        }
        try folder.write(Self.list, to: "list.dat")
        let suffixes = PublicSuffixes.system(path: folder.path("list.dat"))
        #expect(suffixes.source == folder.path("list.dat"))
        #expect(!suffixes.contains(try HostName.canonical("github.io")))
    }
}
