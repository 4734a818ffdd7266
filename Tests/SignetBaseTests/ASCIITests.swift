import Testing

@testable import SignetBase

/// The kinds of single bytes, each beside another definition of it.
@Suite struct ASCIITests {
    private static let all = UInt8.min...UInt8.max

    @Test func tokensAreLettersDigitsAndMarks() {
        let token = ASCIISet(lettersDigitsAnd: "!#$%&'*+-.^_`|~")
        for byte in Self.all { #expect(byte.isToken == token.contains(byte), "\(byte)") }
    }

    @Test func kindsAgreeWithUnicode() {
        for byte in Self.all {
            let character = Character(Unicode.Scalar(byte))
            let isASCII = byte < 0x80
            #expect(byte.isDigit == (isASCII && character.isNumber), "\(byte)")
            #expect(byte.isLetter == (isASCII && character.isLetter), "\(byte)")
            #expect(byte.isUppercaseLetter == (isASCII && character.isUppercase), "\(byte)")
            #expect(byte.isLowercaseLetter == (isASCII && character.isLowercase), "\(byte)")
            #expect(byte.hexDigitValue.map(Int.init) == (isASCII ? character.hexDigitValue : nil))
            let lowercase = isASCII ? character.lowercased() : String(character)
            #expect(String(Unicode.Scalar(byte.lowercased)) == lowercase, "\(byte)")
        }
    }

    @Test(arguments: [
        ("", ""), (" ", ""), (" \t ", ""), ("a", "a"), (" a", "a"), ("a\t", "a"),
        ("\t a b ", "a b"),
        ("\na\n", "\na\n"),
    ])
    func trimsSpacesAndTabsAtBothEnds(_ text: String, _ trimmed: String) {
        #expect(Array(text.utf8.trimmingBlanks()) == Array(trimmed.utf8))
    }
}
