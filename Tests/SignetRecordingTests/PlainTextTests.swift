import SignetBase
import SignetVault
import TestSupport
import Testing

@testable import SignetRecording

/// Values that aren't searched by the rules for forms, because they are too short and plain.
@Suite struct PlainTextTests {
    private static let marks = [
        "SCRAM-SHA-", "pbkdf2_sha", "eyJ", "sk-", "ghp_", "SG.", "AKIA", "hvs.", "pat", "2fa", "1s",
        "-p", "mysql", "password", "redacted-1", "ABCD-", "A1B2-", "4000", "0x", "..", "-----",
    ]
    private static let alphabets = [
        "0123456789", "0123456789-", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "abcdefghijklmnopqrstuvwxyz234567", "0123456789abcdef", "0123456789.-eE",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._",
    ].map(Array.init)
    private static let plainBytes = ASCIISet(lettersDigitsAnd: "-._")
    private static let words = [
        "id", "item", "note", "access", "code", "token", "tokens", "type", "public", "key", "keys",
        "services", "signing", "json", "pin", "seed", "session", "url", "file", "user", "info",
        "max", "salt", "password", "2", "v2", "value", "name", "auth", "webhook", "iban", "Data",
    ]

    /// Marks and random characters of one alphabet, of the lengths around the limit, or the
    /// shortest licence keys.
    private static func text(_ random: inout SplitMix) -> String {
        let letters = alphabets.randomElement(using: &random) ?? []
        if Int.random(in: 0..<10, using: &random) == 0 {
            return (0..<3).map { _ in
                String((0..<4).map { _ in alphabets[2].randomElement(using: &random) ?? "X" })
            }.joined(separator: "-")
        }
        var text = ""
        let count = Int.random(in: 0...16, using: &random)
        while text.count < count {
            if Int.random(in: 0..<6, using: &random) == 0 {
                text += marks.randomElement(using: &random) ?? ""
            } else {
                text.append(letters.randomElement(using: &random) ?? "x")
            }
        }
        return String(text.prefix(16))
    }

    private static func name(_ random: inout SplitMix) -> String {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
            words.randomElement(using: &random) ?? ""
        }.joined(separator: [".", "_", ""].randomElement(using: &random) ?? "")
    }

    /// The whole search finds nothing in a text that is taken for plain.
    @Test func aPlainTextHasNoSecretOfAnyForm() {
        var random = SplitMix(seed: 13)
        let judge = SecretJudge(RedactionRules())
        var counts = (plain: 0, secret: 0)
        var shortest = Int.max
        for _ in 0..<20_000 {
            let text = Array(Self.text(&random).utf8)
            if SecretSearch.isPlain(text[...]) { counts.plain += 1 }
            guard judge.looksSecret(text, named: []) || judge.isSecret(number: text, named: [])
            else { continue }
            counts.secret += 1
            let shown = String(decoding: text, as: UTF8.self)
            #expect(!SecretSearch.isPlain(text[...]), "\(shown)")
            // All bytes are plain, and none of the marks of a shorter secret is there.
            if text.allSatisfy(Self.plainBytes.contains),
                !["eyJ", "SCRAM", "pbkdf2"].contains(where: { shown.contains($0) })
            {
                shortest = min(shortest, text.count)
            }
        }
        #expect(counts.plain > 5000 && counts.secret > 50, "\(counts)")
        #expect(shortest == 14)
    }

    /// Nor does it find anything by a name that is taken for innocent.
    @Test func aPlainTextIsNoSecretOfAnInnocentName() {
        var random = SplitMix(seed: 37)
        var rules = RedactionRules()
        rules.members = ["iban"]
        let judge = SecretJudge(rules)
        var counts = (plain: 0, secret: 0)
        for _ in 0..<5000 {
            let (text, name) = (Array(Self.text(&random).utf8), Array(Self.name(&random).utf8))
            let isPlain = judge.isPlain(text[...], named: judge.judged(name))
            if isPlain { counts.plain += 1 }
            guard
                judge.isSecret(member: name) || judge.looksSecret(text, named: name)
                    || judge.isSecret(number: text, named: name)
            else { continue }
            counts.secret += 1
            let shown = String(decoding: name + [0x20] + text, as: UTF8.self)
            #expect(!isPlain, "\(shown)")
        }
        #expect(counts.plain > 1000 && counts.secret > 1000, "\(counts)")
    }
}
