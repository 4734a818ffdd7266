import SignetBase
import Testing

/// Percent-encoding, and the digits that it is made of.
@Suite struct PercentCodingTests {
    @Test func encodesAllOtherBytes() {
        let all = String(decoding: (0...127 as ClosedRange<UInt8>), as: UTF8.self) + "\u{E9}"
        let plain = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
        let encoded = PercentCoding.encoded(all)
        #expect(encoded.hasPrefix("%00%01") && encoded.hasSuffix("%7F%C3%A9"))
        #expect(encoded.utf8.count == plain.utf8.count + 3 * (130 - plain.utf8.count))
        #expect(PercentCoding.encoded(plain) == plain)
        #expect(PercentCoding.encoded("a b/~", keeping: PercentCoding.form) == "a%20b%2F%7E")
        #expect(PercentCoding.encoded("a/b", keeping: ASCIISet(lettersDigitsAnd: "/")) == "a/b")
        #expect(
            PercentCoding.encoded("a<\u{E9}", keeping: ASCIISet(allExcept: "<")) == "a%3C%C3%A9")
        #expect(PercentCoding.decoded(Array(encoded.utf8)[...]) == Array(all.utf8))
    }

    @Test(arguments: [
        ("", ""), ("a", "a"), ("%41%5a%5A", "AZZ"), ("%2541", "%41"), ("a+b", "a+b"), ("%00", "\0"),
    ])
    func decodes(_ text: String, _ plain: String) {
        #expect(PercentCoding.decoded(Array(text.utf8)[...]) == Array(plain.utf8))
    }

    @Test func decodesAPlusSignInAForm() {
        let text = Array("xa+%2Bb".utf8)[1...]
        #expect(PercentCoding.decoded(text, plusIsSpace: true) == Array("a +b".utf8))
    }

    @Test(arguments: ["%", "a%", "%4", "a%4", "%4g", "%g4", "%+1", "%%41", "%\u{E9}0"])
    func refusesOrKeepsInvalidEscapes(_ text: String) {
        let bytes = Array(text.utf8)[...]
        #expect(PercentCoding.decoded(bytes) == nil)
        var kept: [UInt8] = []
        #expect(!PercentCoding.appendDecoded(bytes, to: &kept))
        #expect(String(decoding: kept, as: UTF8.self) == (text == "%%41" ? "%A" : text))
    }

    @Test func readsHexadecimalDigits() {
        #expect("00fFa1".utf8.decodingHexadecimal() == [0, 255, 161])
        for text in ["0", "0g", "+1", "0x", " 1", "001"] {
            #expect(text.utf8.decodingHexadecimal() == nil, "\(text)")
        }
    }
}
