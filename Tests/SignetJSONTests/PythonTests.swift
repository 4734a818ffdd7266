import Foundation
import SignetJSON
import TestSupport
import Testing

/// Random documents, half of them damaged, compared with Python's `json`.
///
/// Inputs that Python accepts and this reader refuses: `NaN` and infinities, duplicate names, lone
/// surrogates. An option makes Python report these three and keep the texts of numbers; in all
/// other cases both must agree on whether a text is valid, and on its value.
struct PythonTests {

    @Test func agreesWithPython() async throws {
        let isLong = ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil
        var documents = RandomDocuments(seed: 8259)
        let texts = (0..<(isLong ? 100_000 : 3000)).map { documents.next(isDamaged: $0 % 2 == 1) }
        let input = texts.map { hex($0) + "\n" }.joined()
        let output = try await ChildProcess.run(
            "python3", ["-I", PythonPeer.script("json-values")], stdin: bytes(input))
        #expect(output.exit == 0, "\(output.stderr)")
        let answers = output.text.split(separator: "\n", omittingEmptySubsequences: false)
        try #require(answers.count >= texts.count)
        var kinds: [String: Int] = [:]
        for (text, answer) in zip(texts, answers) {
            let parts = answer.split(separator: " ")
            let kind = String(try #require(parts.first))
            kinds[kind, default: 0] += 1
            let shown = "\(String(decoding: text, as: UTF8.self)) – \(answer.prefix(40))"
            do {
                let value = try JSONValue(parsing: text)
                #expect(kind == "value", "\(shown)")
                #expect(
                    hex(value.serialized()) == parts.last.map { String($0) }, "\(shown)")
            } catch {
                #expect(kind != "value", "\(error): \(shown)")
                // A text may have more than one defect, and each reader meets another one first.
                #expect([.malformedJSON, .duplicateMember].contains(error.code), "\(shown)")
                #expect((0...text.count).contains(try #require(error.offset)))
            }
        }
        for kind in ["value", "malformed", "constant", "duplicate", "surrogate"] {
            #expect(kinds[kind, default: 0] > 10, "\(kinds)")
        }
    }
}

/// Makes JSON texts that are valid, and damages them.
struct RandomDocuments {
    private var random: SplitMix

    init(seed: UInt64) { self.random = SplitMix(seed: seed) }

    private static let pieces = [
        "NaN", "-Infinity", "{", "}", "[", "]", ",", ":", "\"", "\\", "\\ud800", "\\u0000", "1e5",
        "-", ".", "0", "tru", "null", "\u{0}", "\u{1f}", " ", "\n", "é", "\u{feff}", "/*x*/", "'",
    ]

    mutating func next(isDamaged: Bool) -> [UInt8] {
        var text = bytes(value(depth: 0))
        guard isDamaged else { return text }
        for _ in 0...Int.random(in: 0...1, using: &random) {
            let at = Int.random(in: 0...text.count, using: &random)
            switch Int.random(in: 0...4, using: &random) {
            case 0 where at < text.count: text.remove(at: at)
            case 1 where at < text.count:
                text[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: text.removeLast(text.count - at)
            default:
                text.insert(
                    contentsOf: bytes(Self.pieces.randomElement(using: &random) ?? ""), at: at)
            }
        }
        return text
    }

    private mutating func value(depth: Int) -> String {
        switch Int.random(in: 0...(depth < 4 ? 9 : 5), using: &random) {
        case 0: return ["null", "true", "false"].randomElement(using: &random) ?? ""
        case 1, 2: return number()
        case 3, 4, 5: return string()
        case 6, 7:
            return "["
                + (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    space() + value(depth: depth + 1) + space()
                }.joined(separator: ",") + "]"
        default:
            return "{"
                + (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    space() + name() + space() + ":" + space() + value(depth: depth + 1) + space()
                }.joined(separator: ",") + "}"
        }
    }

    private mutating func space() -> String {
        Int.random(in: 0...5, using: &random) == 0
            ? [" ", "\n", "\t", "\r", "  \r\n"].randomElement(using: &random) ?? "" : ""
    }

    private mutating func number() -> String {
        var text = Bool.random(using: &random) ? "-" : ""
        text += String(random.next() >> UInt64.random(in: 0...63, using: &random))
        if Int.random(in: 0...2, using: &random) == 0 { text += ".\(random.next() % 1_000_000)" }
        if Int.random(in: 0...3, using: &random) == 0 {
            text += (["e", "E", "e+", "E-"].randomElement(using: &random) ?? "")
            text += "\(random.next() % 400)"
        }
        return text
    }

    /// Few names, so that some come twice, and some of them spelled with an escape.
    private mutating func name() -> String {
        Int.random(in: 0...3, using: &random) == 0
            ? string()
            : ["\"a\"", "\"b\"", "\"\\u0061\"", "\"name\"", "\"c\"", "\"d\"", "\"e\"", "\"f\""]
                .randomElement(using: &random) ?? ""
    }

    private mutating func string() -> String {
        let pieces = [
            "a", "Darjeeling", "é", "€", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9",
            "\\ud83d\\ude00",
            "\\b\\f\\r\\t", "\\uD834\\uDD1E", "\u{7f}", "\u{2028}", "e\u{301}", " ", "\\u0000", "0",
        ]
        return "\""
            + (0..<Int.random(in: 0...6, using: &random))
            .map { _ in pieces.randomElement(using: &random) ?? "" }.joined() + "\""
    }
}
