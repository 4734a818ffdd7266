import SignetJSON
import TestSupport
import Testing

/// Errors never repeat a value of the input. A marker replaces the value in each place.
struct CanaryTests {
    static let canary = "ZZZZZZCANARYZZZZZZ"

    enum Colour: String, Decodable { case red }

    struct Picky: Decodable {
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "bad \(text)"))
        }
    }

    struct Own: Error { let text: String }

    struct Rude: Decodable {
        init(from decoder: any Decoder) throws {
            throw Own(text: try decoder.singleValueContainer().decode(String.self))
        }
    }

    private func check(_ error: (any Error)?) {
        guard let error else {
            Issue.record("nothing was thrown")
            return
        }
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", String(reflecting: error), dumped] {
            #expect(!text.contains("ZZZZZZ"))
            #expect(!text.contains("CANARY"))
        }
    }

    @Test(arguments: [
        #""ZZZZZZCANARYZZZZZZ"#, #"ZZZZZZCANARYZZZZZZ"#, #"{"a":"ZZZZZZCANARYZZZZZZ""#,
        #"{"a":"ZZZZZZCANARYZZZZZZ",}"#,
        #"{"a":ZZZZZZCANARYZZZZZZ}"#, #"["ZZZZZZCANARYZZZZZZ"]"ZZZZZZCANARYZZZZZZ""#,
        "\"ZZZZZZCANARYZZZZZZ\n\"",
        #""ZZZZZZCANARYZZZZZZ\x""#, #""ZZZZZZCANARYZZZZZZ\ud800""#,
        #"{"a":"ZZZZZZCANARYZZZZZZ","a":"ZZZZZZCANARYZZZZZZ"}"#,
        #"{"a":"ZZZZZZCANARYZZZZZZ","ZZZZZZCANARYZZZZZZ"}"#,
        #"{"ZZZZZZCANARYZZZZZZ" "ZZZZZZCANARYZZZZZZ"}"#, #"{ZZZZZZCANARYZZZZZZ:1}"#,
    ])
    func parserKeepsSilent(_ text: String) {
        check(#expect(throws: JSONError.self) { try JSONValue(parsing: text) })
    }

    @Test func decoderKeepsSilent() {
        let text = bytes("[\"\(Self.canary)\"]")
        let decoder = StrictJSONDecoder()
        check(#expect(throws: JSONError.self) { try decoder.decode([Int].self, from: text) })
        check(#expect(throws: JSONError.self) { try decoder.decode([Bool].self, from: text) })
        check(#expect(throws: JSONError.self) { try decoder.decode([Double].self, from: text) })
        check(#expect(throws: JSONError.self) { try decoder.decode([Colour].self, from: text) })
        check(#expect(throws: JSONError.self) { try decoder.decode([Picky].self, from: text) })
        check(#expect(throws: JSONError.self) { try decoder.decode([Rude].self, from: text) })
        check(#expect(throws: JSONError.self) { try decoder.decode([[Int]].self, from: text) })
        check(#expect(throws: JSONError.self) { try decoder.decode([Int: Int].self, from: text) })
        check(
            #expect(throws: JSONError.self) {
                try decoder.decode([Int8].self, from: bytes("[12345678901234567890]"))
            })
    }

    @Test func controlCharactersOfANameAreEscaped() {
        let error = #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode([String: Int].self, from: bytes(#"{"\u001b[2J":"x"}"#))
        }
        #expect(error?.message.unicodeScalars.contains("\u{1b}") == false)
        #expect(error?.message.contains(#"\u{1B}[2J"#) == true)
    }
}
