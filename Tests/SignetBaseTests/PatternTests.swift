import TestSupport
import Testing

@testable import SignetBase

/// The pattern language, and that no pattern and no text makes matching slow.
@Suite struct PatternTests {
    @Test(arguments: [
        ("", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "abcd", false),
        ("abc", "xabc", false), ("^abc$", "abc", true), ("^[a-z.]+$", "a.b", true),
        ("^[a-z.]+$", "a.b\n", false), ("[a-z.]+", "", false), ("a|bc|", "", true),
        ("a|bc|", "bc", true), ("a|bc|", "ab", false), ("(a|b)*c", "abbac", true),
        ("(?:ab)+", "ababab", true), ("(?:ab)+", "aba", false), ("(?<name>ab)?", "ab", true),
        ("a{3}", "aaa", true), ("a{3}", "aa", false), ("a{2,}", "a", false),
        ("a{2,}", "aaaa", true),
        ("a{1,3}", "aaa", true), ("a{1,3}", "aaaa", false), ("a{0}", "", true),
        ("a+?b*?", "aab", true),
        ("[^a]", "b", true), ("[^a]", "a", false), ("[^a]", "\n", true), (".", "\n", false),
        (".", "é", true), (".", "e\u{301}", false), ("..", "e\u{301}", true),
        ("[a-]+", "a-a", true), ("[-a]+", "-", true), ("[\\]\\[]+", "[]", true),
        ("[]-]", "]", false), ("\\d+", "0123456789", true), ("\\d", "٣", false),
        ("\\D", "٣", true), ("\\w+", "aZ_9", true), ("\\w", "é", false), ("\\W", "é", true),
        ("\\s+", " \t\n\u{a0}\u{3000}", true), ("\\S", " ", false), ("[\\d.]+", "1.2", true),
        ("[^\\d]", "1", false), ("\\x41\\u0042\\u{43}", "ABC", true),
        ("\\t\\n\\r\\f\\v\\0", "\t\n\r\u{c}\u{b}\0", true),
        ("\\p{L}+", "aÄ文", true), ("\\p{Lu}", "a", false), ("\\P{L}", "1", true),
        ("[\\p{L}\\p{Nd}]+", "a٣", true), ("(?i)abc", "AbC", true), ("(?i)[a-z]+é", "XyÉ", true),
        ("a\\.b", "a.b", true), ("a\\.b", "axb", false), ("\\/\\-\\\\", "/-\\", true),
        ("a}", "a}", true), ("(a|^b)c", "bc", true), ("a(b$|c)", "ab", true),
        ("a(b$|c)d", "abd", false),
        ("a^b", "ab", false), ("(|a)+", "aa", true), ("()*", "", true),
        (
            "https://localhost(:[0-9]+)?/(rpc|orders(/[0-9]+)?)", "https://localhost:80/orders/1",
            true
        ),
    ])
    func matches(_ pattern: String, _ text: String, _ wanted: Bool) throws {
        #expect((try? ValuePattern(pattern).matches(text)) ?? false == wanted)
    }

    @Test(arguments: [
        "(", ")", "a)", "(a", "[", "[a", "[]", "[^]", "[z-a]", "[\\d-z]", "[a-\\d]", "[a[b]]",
        "[[:alpha:]]",
        "[a&&b]", "[a--b]", "*", "+a", "?", "a**", "a+*", "a{2}{3}", "{2}", "a{", "a{,2}", "a{x}",
        "a{2",
        "a{3,2}", "a{10001}", "a{99999999999999999999}", "^*", "$+", "(?=a)b", "(?!a)b", "(?<=a)b",
        "(?<!a)b", "(?>a)", "(?i:a)", "(?m)a", "(?#c)", "(?<1>a)", "(a)\\1", "\\k<a>", "\\ba",
        "a\\B", "\\q",
        "\\A", "\\z", "\\Z", "\\", "a\\", "\\x4", "\\u12", "\\u{}", "\\u{110000}", "\\ud800", "\\p",
        "\\p{}",
        "\\p{Latin}", "\\p{L", "\\c", "(((((a{100}){100}){100}){100}){100})", "((){10000}){10000}",
        "a{10000}b{10000}",
    ])
    func refusesWhatIsNoPatternOrCannotBeBounded(_ pattern: String) {
        #expect(throws: PatternFailure.self) { try ValuePattern(pattern) }
    }

    @Test func refusesGroupsNestedWithoutEnd() {
        let deep = String(repeating: "(", count: 100_000)
        let closed = deep + "a" + String(repeating: ")", count: 100_000)
        #expect(throws: PatternFailure.self) { try ValuePattern(deep) }
        #expect(throws: PatternFailure.self) { try ValuePattern(closed) }
    }

    /// Each of these keeps an engine that backtracks busy for longer than anybody waits.
    @Test(arguments: [
        "(a+)+$", "(a|a)*b", "(a|aa)+c", "(a*)*b", "([a-zA-Z]+)*1", "(.*)*x", "(a?){50}a{50}b",
        "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y",
    ])
    func matchesNestedRepetitionsInLinearTime(_ pattern: String) throws {
        let compiled = try ValuePattern(pattern)
        let text = String(repeating: "a", count: 2000) + "!"
        #expect(!compiled.matches(text))
        #expect(compiled.isFound(in: text) != nil)
    }

    @Test func goesOverLongTextsOnce() throws {
        let text = String(repeating: "abc.", count: 1 << 18)
        #expect(try ValuePattern("^[a-z.]+$").matches(text))
        #expect(try !ValuePattern("^[a-z]+$").matches(text))
        #expect(try ValuePattern("(?:abc[.])*").matches(text))
        let wide = String(repeating: "注文", count: 1 << 15)
        #expect(try ValuePattern("\\p{Lo}+").matches(wide))
    }

    /// The work for a class grows with its length, not with the square of it.
    @Test(.timeLimit(.minutes(5)), arguments: ["", "^"])
    func readsAndMatchesALongClassOfSingleCharacters(_ negation: String) throws {
        let scalars = (0x8000..<0x28000).compactMap { Unicode.Scalar($0 * 2) }
        let members = String(String.UnicodeScalarView(scalars))
        let pattern = try ValuePattern("[\(negation)\(members)]+")
        #expect(pattern.matches(members) == negation.isEmpty)
        #expect(pattern.matches("\u{10001}") != negation.isEmpty)
        #expect(try ValuePattern("[\(negation)\(members)a-z]").matches("q") == negation.isEmpty)
    }

    @Test func stopsForTextsThatNeedTooMuchWork() throws {
        // Many places at once, and a different set of them at nearly each scalar.
        let pattern = try ValuePattern("(?:[ab]*a[ab]{2000})+")
        var random = SplitMix(seed: 3)
        let text = String(
            String.UnicodeScalarView(
                (0..<200_000).map { _ in Bool.random(using: &random) ? "a" : "b" }))
        #expect(!pattern.matches(text))
        #expect(pattern.isFound(in: "b" + text) == true || pattern.isFound(in: text) == nil)
    }

    @Test func findsWithinATextToo() throws {
        let pattern = try ValuePattern("[?&](token|password)=")
        #expect(pattern.isFound(in: "https://a/?x=1&token=2") == true)
        #expect(pattern.isFound(in: "https://a/?mytoken=2") == false)
        #expect(try ValuePattern("^a").isFound(in: "ba") == false)
        #expect(try ValuePattern("a$").isFound(in: "ba") == true)
        #expect(try ValuePattern("a$").isFound(in: "ab") == false)
        #expect(try ValuePattern("").isFound(in: "") == true)
        #expect(try ValuePattern("/\\.\\.(/|$)").isFound(in: "https://a/b/..") == true)
    }
}
