import SignetBase
import SignetJSON
import Testing

@Suite struct TerminalJSONTests {
    @Test(arguments: ["\u{9b}2J", "\u{7f}", "a\u{202e}b", "\u{e0001}", "\u{2028}", "é\u{301}"])
    func itMeansTheSame(_ text: String) throws {
        let plain = JSONValue.object(["a": .string(text)]).serialized()
        let shown = terminalJSON(plain)
        #expect(try JSONValue(parsing: shown) == JSONValue(parsing: plain))
        #expect(printable(String(decoding: shown, as: UTF8.self)).utf8.elementsEqual(shown))
    }

    @Test func textForPeopleStays() {
        let text = Array(#"{"a":"é 日本 😀"}"#.utf8)
        #expect(terminalJSON(text) == text)
    }
}
