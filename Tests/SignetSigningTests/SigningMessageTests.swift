import SignetSigning
import Testing

/// Error messages about a message that another program wrote.
@Suite struct SigningMessageTests {
    @Test(arguments: ["\u{1B}[2J", "\u{9B}2J", "\u{202E}", "a\u{7F}", "\u{2028}", "\n"])
    func aMessageCannotSteerATerminal(_ text: String) {
        let message = SigningError(.malformedMessage, "the body has two \(text)").message
        #expect(message.hasPrefix("the body has two "))
        for scalar in text.unicodeScalars where !scalar.isASCII || scalar.value < 0x20 {
            #expect(!message.unicodeScalars.contains(scalar), "\(message.debugDescription)")
        }
    }
}
