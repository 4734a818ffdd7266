import Foundation
import Testing

@testable import SignetRecording

/// Forms of messages in which a secret's name isn't a member of plain JSON.
@Suite struct RedactionLeakTests {
    private static let secret = "DE02 1203 0000"
    private static let password = "hunter2hunter2"

    /// Rules with names that no form gives away.
    private static var rules: RedactionRules {
        var rules = RedactionRules()
        rules.members.insert("iban")
        return rules
    }

    private func body(_ body: RecordedBody) throws -> RecordedBody {
        var exchange = RecordedExchange.json()
        exchange.response?.body = body
        return try #require(exchange.redacted(by: Self.rules).response?.body)
    }

    private func text(_ text: String, type: String) throws -> String {
        try #require(try body(RecordedBody(text: text, mediaType: type)).text)
    }

    /// Whether bytes have a text, also with zeros between its characters.
    private func has(_ text: String, _ bytes: [UInt8]) -> Bool {
        bytes.filter { $0 != 0 }.firstRange(of: Array(text.utf8)) != nil
    }

    // MARK: XML

    @Test(arguments: [
        "<order><iban>\(secret)</iban><item>tea</item></order>",
        "<?xml version=\"1.0\"?>\n<o:order xmlns:o=\"urn:o\"><o:IBAN>\(secret)</o:IBAN></o:order>",
        "<order><iban><![CDATA[\(secret)]]></iban></order>",
        "<order><iban country=\"DE\">\n  \(secret)\n</iban></order>",
        "<order iban=\"\(secret)\" item='tea'/>", "<order iban='\(secret)'>tea</order>",
        "<params><param name=\"iban\" value=\"\(secret)\"/></params>",
        "<params><param name=\"iban\">\(secret)</param></params>",
        "<order><iban><a>1</a><iban>2</iban>\(secret)</iban></order>",
        "<order><iban>\(secret)", "<order><!-- iban=\(secret) --></order>",
        "<order>{&quot;iban&quot;:&quot;\(secret)&quot;}</order>",
        """
        <soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body>
        <m:Pay xmlns:m="urn:shop"><m:iban xsi:type="xsd:string">\(secret)</m:iban></m:Pay>
        </soap:Body></soap:Envelope>
        """,
    ])
    func leavesNoMemberInXML(_ xml: String) throws {
        for type in ["application/xml", "application/soap+xml; charset=utf-8", "text/plain", ""] {
            let redacted = try text(xml, type: type)
            #expect(!redacted.contains("1203") && redacted.contains("redacted-"), "\(redacted)")
        }
    }

    @Test func keepsAllOtherBytesOfXML() throws {
        let xml = "<o:order  a='1' ><iban >X1</iban ><item>tea &amp; milk</item><e/></o:order>\n"
        #expect(
            try text(xml, type: "application/xml") == xml.replacing("X1", with: "redacted-1"))
        let other = "<!DOCTYPE html>\n<p class=\"a b\">Tea &lt; milk<br>and <b>more</b></p>"
        #expect(try text(other, type: "text/html") == other)
    }

    // MARK: JSON

    @Test(arguments: [
        #"{"inner":"{\"iban\":\"\#(secret)\"}"}"#, #"["{\"iban\":[\"\#(secret)\"]}"]"#,
        #"{"a":"{\"b\":\"{\\\"iban\\\":\\\"\#(secret)\\\"}\"}"}"#,
        #""{\"iban\":\"\#(secret)\"}""#, #"{"form":"a=1&iban=\#(secret)"}"#,
        #"{"xml":"<iban>\#(secret)</iban>"}"#, #"{"url":"https://h/x?iban=DE02+1203+0000"}"#,
        #"callback({"iban":"\#(secret)"});"#, ")]}'\n{\"iban\":\"\(secret)\"}",
        #"{"name":"iban","value":"\#(secret)"}"#, #"{"user.iban":"\#(secret)"}"#,
        #"{"query":"mutation { pay(iban: \"\#(secret)\") { id } }"}"#,
        "{\"iban\":\"\(secret)\"",
    ])
    func leavesNoMemberInsideStrings(_ json: String) throws {
        for type in ["application/json", "text/plain"] {
            let redacted = try text(json, type: type)
            #expect(!redacted.contains("1203") && redacted.contains("redacted-"), "\(redacted)")
        }
    }

    @Test func keepsStringsThatHaveNoSecret() throws {
        let json = #"{"inner":"{\"item\":\"tea\"}","note":"a=b & c: d","x":"<b>1</b>"}"#
        #expect(try text(json, type: "application/json") == json)
    }

    // MARK: Forms

    @Test(arguments: [
        "name=Alice Smith&iban=\(secret)", "name=Alice%20Smith&iban=DE02+1203+0000\n",
        "\n iban=\(secret) &a=1", "a=1&\niban=\(secret)", "a=1& iban=\(secret)",
        "user[iban]=\(secret)&a=1", "user%5Biban%5D=\(secret)", "iban[0]=\(secret)&iban[1]=x",
        "user.iban=\(secret)", "a[b][iban][]=\(secret)",
        "data=%7B%22iban%22%3A%22DE02%201203%200000%22%7D",
    ])
    func leavesNoMemberInForms(_ form: String) throws {
        for type in ["application/x-www-form-urlencoded", ""] {
            let redacted = try text(form, type: type)
            #expect(!redacted.contains("1203") && redacted.contains("redacted-"), "\(redacted)")
        }
    }

    @Test(arguments: [
        "user[iban]", "user%5Biban%5D", "iban[0]", "iban[]", "user.iban", "a[b][IBAN]",
    ])
    func leavesNoBracketedNameInURLs(_ name: String) {
        let url = "https://api.example.com/x?\(name)=DE02+1203&a=1#\(name)=DE02+1203"
        let redacted = RecordedExchange.json("GET", url).redacted(by: Self.rules).request.url
        #expect(redacted == url.replacing("DE02+1203", with: "redacted-1"))
    }

    // MARK: Fields

    @Test(arguments: [
        "a=\(password)\nb=\(password); Path=/",
        "a=1; Path=/, b=\(password)", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=\(password)",
        "a=1; Domain=example.com\nb=2; Path=/\(password)?x", "a=1; Max-Age=60, b=\(password)",
        "a=1; \(password)", "a=1; Comment=\(password)",
    ])
    func leavesNoValueInJoinedCookies(_ cookies: String) {
        var exchange = RecordedExchange.json()
        exchange.response?.fields = [RecordedField(name: "Set-Cookie", value: cookies)]
        let value = exchange.redacted().response?.fields.first?.value ?? ""
        #expect(!value.contains("hunter2") && value.contains("redacted-"), "\(value)")
    }

    @Test func keepsTheAttributesOfCookies() {
        var exchange = RecordedExchange.json()
        let cookie =
            "a=x; Path=/shop; Domain=example.com; Expires=Wed, 21 Oct 2026 07:28:00 GMT; "
            + "Max-Age=60; Secure; HttpOnly; SameSite=Lax"
        exchange.response?.fields = [RecordedField(name: "Set-Cookie", value: cookie)]
        #expect(
            exchange.redacted().response?.fields.first?.value
                == cookie.replacing("a=x", with: "a=redacted-1"))
    }

    @Test(arguments: [
        "Location: /callback?state=1&code=\(password)", "Location: ?iban=\(password)",
        "Content-Location: /orders?iban=\(password)", "Referer: /a?user[iban]=\(password)#x",
        "Location: https://example.com/a#iban=\(password)", ":path: /orders?iban=\(password)",
        "Link: </a?page=2&iban=\(password)>; rel=\"next\", </b?iban=\(password)>; rel=\"last\"",
        "Refresh: 5; url=/a?iban=\(password)", "Refresh: 5; URL='/a?iban=\(password)'",
        "X-Original-URL: /a;iban=\(password)/b", "SourceMap: app.map?ticket=\(password)",
        "X-Any: /orders?iban=\(password)", "X-Any: https://example.com/?iban=\(password)",
        "X-Any: {\"iban\":\"\(password)\"}", "X-Any: id=1; iban=\(password)",
    ])
    func leavesNoMemberInFields(_ line: String) throws {
        let end = try #require(line.range(of: ": "))
        let field = RecordedField(
            name: String(line[..<end.lowerBound]), value: String(line[end.upperBound...]))
        var exchange = RecordedExchange.json()
        exchange.request.fields = [field]
        exchange.response?.fields = [field]
        let redacted = exchange.redacted(by: Self.rules)
        for value in [redacted.request.fields[0].value, redacted.response?.fields[0].value ?? ""] {
            #expect(!value.contains("hunter2") && value.contains("redacted-"), "\(value)")
        }
    }

    @Test(arguments: [
        "Location: /orders/7?page=2", "Link: <https://example.com/?page=2>; rel=\"next\"",
        "Refresh: 5; url=/orders", "Date: Wed, 21 Oct 2026 07:28:00 GMT",
        "Accept: text/html, application/json;q=0.9", "ETag: \"33a64df5\"",
    ])
    func keepsFieldsThatHaveNoSecret(_ line: String) throws {
        let end = try #require(line.range(of: ": "))
        let value = String(line[end.upperBound...])
        var exchange = RecordedExchange.json()
        exchange.request.fields = [
            RecordedField(name: String(line[..<end.lowerBound]), value: value)
        ]
        #expect(exchange.redacted(by: Self.rules).request.fields[0].value == value)
    }

    // MARK: Charsets and compressed bodies

    /// A text in UTF-16 or UTF-32.
    private static func encoded(_ text: String, size: Int, isBig: Bool, mark: Bool) -> [UInt8] {
        ((mark ? "\u{FEFF}" : "") + text).unicodeScalars.flatMap { scalar in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: scalar.value >> ($0 * 8)) }
            return isBig ? bytes.reversed() : bytes
        }
    }

    @Test(arguments: [2, 4], [true, false])
    func leavesNoMemberInWideTexts(size: Int, isBig: Bool) throws {
        for text in [
            #"{"iban":"\#(Self.secret)"}"#, "a=1&iban=\(Self.secret)", "<iban>1203</iban>",
        ] {
            for mark in [true, false] {
                let bytes = Self.encoded(text, size: size, isBig: isBig, mark: mark)
                let redacted = try body(RecordedBody(bytes: bytes, mediaType: "text/plain"))
                #expect(redacted.text?.contains("redacted-") == true, "\(text) \(mark)")
                #expect(!has("1203", redacted.bytes), "\(text) \(mark)")
            }
        }
        let plain = Self.encoded(#"{"item":"tea"}"#, size: size, isBig: isBig, mark: true)
        #expect(
            try body(RecordedBody(bytes: plain, mediaType: "application/json")).bytes == plain)
    }

    @Test(arguments: ["utf-16", "utf-16le", "ucs-2", "utf-32", "iso-8859-1", "x"])
    func aCharsetThatIsNotTrueHidesNothing(_ charset: String) throws {
        let redacted = try body(
            RecordedBody(
                text: #"{"iban":"\#(Self.secret)"}"#,
                mediaType: "application/json; charset=\(charset)"))
        #expect(redacted.text == #"{"iban":"redacted-1"}"#)
    }

    /// Bytes with many zeros aren't UTF-16 for that.
    @Test func leavesNoTextBetweenZeros() throws {
        let zeros = [UInt8](repeating: 0, count: 300)
        let bytes = zeros + Array("iban=\(Self.secret)".utf8) + zeros
        #expect(!has("1203", try body(RecordedBody(bytes: bytes, mediaType: "")).bytes))
    }

    @Test func leavesNoMemberInLatin1() throws {
        let bytes =
            Array(#"{"name":"J"#.utf8) + [0xFC] + Array(#"","iban":"\#(Self.secret)"}"#.utf8)
        let type = "application/json; charset=iso-8859-1"
        #expect(!has("1203", try body(RecordedBody(bytes: bytes, mediaType: type)).bytes))
    }

    /// `{"iban":"DE02 1203 0000"}` and `{"item":"tea"}`, compressed by gzip.
    private static let compressed = (
        secret: "H4sIAAAAAAACA6tWykxKzFOyUnJxNTBSMDQyMFYwAAKlWgAotrQ3GQAAAA==",
        clean: "H4sIAAAAAAACA6tWyixJzVWyUipJTVSqBQB8QbH7DgAAAA=="
    )

    @Test func searchesCompressedBodies() throws {
        let secret = Array(try #require(Data(base64Encoded: Self.compressed.secret)))
        let clean = Array(try #require(Data(base64Encoded: Self.compressed.clean)))
        let redacted = try body(RecordedBody(bytes: secret, mediaType: "application/gzip"))
        #expect(redacted.text?.wholeMatch(of: /redacted-\d+/) != nil)
        #expect(try body(RecordedBody(bytes: clean, mediaType: "")).bytes == clean)
    }

    @Test(arguments: [
        [0x28, 0xB5, 0x2F, 0xFD], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], [0x50, 0x4B, 3, 4],
        [0x1F, 0x8B], [0x78, 0x9C],
    ])
    func dropsBodiesThatCannotBeSearched(_ start: [UInt8]) throws {
        let dropped = try body(
            RecordedBody(bytes: start + [UInt8](0x80...0xFF), mediaType: "application/zip"))
        #expect(dropped.bytes.isEmpty)
        #expect(dropped.problem?.contains("can't be searched for secrets") == true)
    }

    /// A compressed part isn't kept, whether or not it has a name.
    @Test(arguments: ["", "Content-Disposition: form-data; name=\"file\"\r\n"])
    func keepsNoCompressedPart(_ field: String) throws {
        let secret = Array(try #require(Data(base64Encoded: Self.compressed.secret)))
        let found = try body(
            RecordedBody(
                bytes: Array("--b\r\n\(field)\r\n".utf8) + secret + Array("\r\n--b--\r\n".utf8),
                mediaType: "multipart/mixed; boundary=b")
        ).bytes
        #expect(found.firstRange(of: secret) == nil)
        #expect(has("redacted-", found))
    }

    // MARK: Marks

    /// A text of the host that looks like a mark isn't taken for one.
    @Test func aMarkOfAnotherProgramGetsItsOwn() {
        let exchange = RecordedExchange.json(
            "GET", "https://api.example.com/x?token=abcdefgh", response: #"{"a":"redacted-1"}"#)
        let redacted = exchange.redacted()
        #expect(redacted.request.url.hasSuffix("?token=redacted-1"))
        #expect(redacted.response?.body?.text == #"{"a":"redacted-2"}"#)
    }
}
