import Foundation
import TestSupport
import Testing

@testable import SignetSigning

/// Dictionary fields (RFC 9651), which have no duplicate member here.
@Suite struct StructuredDictionaryTests {
    @Test(
        arguments: [
            (#"a=("x" "y");n=1"#, #"a=("x" "y");n=1"#),
            ("a=( \"x\"   \"y\" );  n=1 ,\tb=:AA==:", #"a=("x" "y");n=1, b=:AA==:"#),
            (#"a=("x;,\"\\" );t="q\"r""#, #"a=("x;,\"\\");t="q\"r""#),
            ("  a=1, b  ", "a=1, b"), ("a=?1", "a"), ("a=-0", "a=0"), ("a=007", "a=7"),
            ("a=tok/en:*", "a=tok/en:*"), ("*a.b-c_1=2", "*a.b-c_1=2"), ("a=()", "a=()"),
        ])
    func readsEverySpelling(_ input: String, _ canonical: String) throws {
        let read = try StructuredDictionary(parsing: Array(input.utf8), field: "F")
        #expect(text(read.text) == canonical)
        // Canonical text is read in one pass, with the same members.
        let again = try StructuredDictionary(parsing: read.text, field: "F")
        #expect(again.members.map(\.whole) == read.members.map(\.whole))
    }

    @Test(
        arguments: [
            "", " ", ",", "a=1,", "a=1,,b=2", "a=1 b=2", "A=1", "1a=1", "a=", "a=(", "a=(\"x\"",
            "a=(\"x\"\"y\")", "a=\"x", "a=\"\\x\"", "a=:AA", "a=:A A:", "a=1;", "a=1;B=2",
            "a=\u{e9}", "a=\"\u{e9}\"", "a=1, a=2", "a=1,a=1", "a, a", "a=(\"x\"), b=1,\ta=(\"x\")",
            "a=1;n=1;n=2", "a=1;n;n", "a=(\"x\";n=1;n=1)", "a=(\"x\");t=\"a\"; t=\"a\"",
            "a=1.5", "a=@1", "a=%\"x\"", "a=%\"\\\", a=1", "a=1;n=%\"x\"", "a=?2", "a=--1",
            "a=1234567890123456", "a==1", "a=1;;b", "a=((\"x\"))", "a=(\"x\",\"y\")", "a\n=1",
        ])
    func refusesMalformedDictionaries(_ input: String) {
        #expect(
            code { _ = try StructuredDictionary(parsing: Array(input.utf8), field: "F") }
                == "malformed-signature")
    }

    /// The one-pass reader must refuse what the library refuses, and otherwise give the same
    /// result.
    @Test func agreesWithTheLibraryOnRandomTexts() throws {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array(#"ab1;=,"\()-:.A? "#.utf8)
        let seed = Array(#"a=("x" "y";b);c=1;d="q", b=:AA==:"#.utf8)
        var taken = 0
        for _ in 0..<20_000 {
            var input = seed
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<input.count, using: &generator)
                let byte = alphabet.randomElement(using: &generator) ?? 0x20
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: input[index] = byte
                case 1: input.insert(byte, at: index)
                default: input.remove(at: index)
                }
            }
            var reader = CanonicalReader(text: input, field: "F")
            guard let members = try? reader.dictionary() else { continue }
            taken += 1
            // Leading white space sends the same text through the library.
            let library = try StructuredDictionary(parsing: [0x20] + input, field: "F")
            #expect(library.text == input, "\(text(input))")
            #expect(library.members.map(\.whole) == members.map(\.whole))
        }
        #expect(taken > 100)
    }
}
