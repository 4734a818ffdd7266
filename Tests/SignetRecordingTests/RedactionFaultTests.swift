import SignetBase
import SignetJSON
import TestSupport
import Testing

@testable import SignetRecording

/// Places that a redaction could miss, and inputs that could end it.
@Suite struct RedactionFaultTests {
    /// A secret that occurs in the text of a mark is replaced once.
    @Test(arguments: ["redacted", "acted", "redacted-1", "ed-1"])
    func aSecretLikeAMarkIsReplacedOnce(_ secret: String) throws {
        var rules = RedactionRules()
        rules.add(secret: Array(secret.utf8))
        let exchange = RecordedExchange.json(request: #"{"note":"x \#(secret) y"}"#)
        let text = try #require(exchange.redacted(by: rules).request.body?.text)
        #expect(text.utf8.count < 60, "\(text)")
        #expect(text.contains("redacted-"), "\(text)")
    }

    /// Marks are found at each place, also behind and between parts of marks.
    @Test func findsMarksAmongTheirParts() {
        var random = SplitMix(seed: 9)
        let pieces = [
            "redacted-", "redacted-7", "redacted-0", "redacted-1234567890", "red", "acted-", "-",
            "r", "d", "x", " ", ",", "12",
        ]
        var count = 0
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let bytes = Array(text.utf8)
            let expected = bytes.indices.filter { start in
                let head = bytes[start...].prefix(9)
                let digits = bytes[start...].dropFirst(9).prefix(while: \.isDigit)
                return head.elementsEqual("redacted-".utf8) && (1...9).contains(digits.count)
                    && digits.first != 0x30 && bytes[..<start].last?.isLetterOrDigit != true
                    && bytes[digits.endIndex...].first?.isLetter != true
            }
            count += expected.count
            #expect(RedactionMark.all(in: bytes).map(\.range.lowerBound) == expected, "\(text)")
        }
        #expect(count > 100)
    }

    /// A number that is not secret says nothing about the same digits as text.
    @Test func aNumberAndATextAreJudgedApart() throws {
        let judge = SecretJudge(RedactionRules())
        let (name, digits) = (Array("login".utf8), Array("12345".utf8))
        let alone = SecretJudge(RedactionRules()).looksSecret(digits, named: name)
        _ = judge.isSecret(number: digits, named: name)
        #expect(judge.looksSecret(digits, named: name) == alone)
        // Nor do a name and a value that are the same bytes when they stand together.
        _ = judge.looksSecret(Array("word".utf8), named: Array("pass".utf8))
        #expect(
            judge.looksSecret(Array("q7Zr2mVx9LkT4bNw8sYc".utf8), named: Array("password".utf8)))
        _ = judge.looksSecret(Array("b\0c".utf8), named: Array("a".utf8))
        #expect(!judge.looksSecret(Array("c".utf8), named: Array("a\0b".utf8)))
    }

    @Test(arguments: ["9223372036854775807", "-1", "0", "1000000000"])
    func aMarkOutOfRangeIsNoMark(_ number: String) throws {
        var document = try #require(
            JSONValue(parsing: Recording(RecordedExchange.json()).har()).text as String?)
        document = document.replacing(
            #""_signet":{"#, with: #""_signet":{"redacted":[{"place":"x","mark":\#(number)}],"#)
        let recording = try Recording(har: Array(document.utf8))
        #expect(recording.exchanges.allSatisfy { $0.redactions.isEmpty })
        // Another mark can still be made.
        var exchange = recording.exchanges[0]
        exchange.request.fields.append(.init(name: "Cookie", value: "a=q7Zr2mVx9LkT4bNw8sYc"))
        let redacted = Recording(calls: [RecordedCall(exchange)]).redacted()
        #expect(redacted.exchanges[0].redactions.count == 1)
    }

    @Test func stageContentsObeyTheRules() throws {
        var rules = RedactionRules()
        rules.members.insert("iban")
        rules.fields.insert("x-customer")
        let message = """
            POST https://user:pass@api.example.com/x?iban=DE02
            Content-Type: application/json
            X-Customer: DE02

            {"iban":"DE02","a":1}
            """
        var call = RecordedCall(.json())
        call.contents = [
            .init(stage: "signing", before: message, after: "200\n\n{\"iban\":\"DE02\"}")
        ]
        let redacted = Recording(calls: [call]).redacted(by: rules)
        let contents = try #require(redacted.calls.first?.contents.first)
        for text in [contents.before, contents.after] {
            let text = try #require(text)
            #expect(!text.contains("DE02") && !text.contains("pass@"), "\(text)")
        }
        #expect(contents.before?.contains("POST https://") == true)
        #expect(contents.before?.contains("\nContent-Type: application/json\n") == true)
        #expect(contents.before?.contains(#""a":1"#) == true)
        #expect(contents.after?.hasPrefix("200\n\n") == true)
    }

    @Test func aMediaTypeIsJudged() {
        var exchange = RecordedExchange.json(request: "x")
        exchange.request.body?.mediaType = "text/plain; access_token=q7Zr2mVx9LkT4bNw8sYc"
        #expect(exchange.redacted().request.body?.mediaType.contains("q7Zr") == false)
    }

    /// `printf` would take it for an option.
    @Test func aBodyThatBeginsWithHyphensIsPrinted() async throws {
        let bytes = Array("--AaB03x\r\n".utf8) + [0, 0xFF]
        for shell in ["sh", "bash"] {
            let output = try await ChildProcess.run(
                "/bin/\(shell)", ["-c", ShellText.input(bytes, whole: [])])
            #expect(output.exit == 0 && output.stdout == bytes, "\(shell): \(output.stderr)")
        }
    }

    @Test(arguments: [
        "-o/tmp/signet-curl", "file:///etc/hostname", "-K/etc/passwd", "", "//h/x", "ftp://h/x",
    ])
    func aURLIsNeitherAnOptionNorAFile(_ url: String) {
        #expect(RecordedExchange.json("GET", url).curlCommand == nil)
    }
}
