import Foundation
import HTTPTypes
import SignetCrypto
import SignetJSON
import SignetVault
import Testing

@testable import SignetRecording

@Suite struct RedactionTests {
    /// The reason of a failure and a signature base have no secret, and pins stay.
    @Test func reasonsAndSignatureBasesAreRedacted() throws {
        let secret = "q7Zr2mVx9LkT4bNw8sYc"
        let pin = "sha256/" + String(repeating: "B", count: 42) + "A="
        let base = """
            "@method": GET
            "@path": /a
            "@query-param";name="token": \(secret)
            "x-known": a known-value-1 b
            "authorization": Bearer \(secret)
            /x?token=\(secret)
            {"password":
            "hunter2hunter2"}
            """
        var call = RecordedCall(.json())
        call.message = "verified chain: \(pin) (CN=a); password=\(secret); known-value-1"
        call.exchanges[0].message = call.message
        call.serverCode = "known-value-1"
        call.contents = [.init(stage: "signing", before: nil, after: nil)]
        call.contents[0].base = .init(
            scheme: "rfc9421", keyID: "k", text: base,
            parts: [
                .init(name: "\"@method\"", value: "GET"),
                .init(name: #""@query-param";name="token""#, value: secret),
                .init(name: "authorization", value: "Bearer \(secret)"),
                .init(name: "{body}", value: "{\"password\":\n\"hunter2hunter2\"}"),
            ])
        var rules = RedactionRules()
        rules.add(secret: Array("known-value-1".utf8))
        let redacted = Recording(calls: [call]).redacted(by: rules)
        let text = String(decoding: redacted.har(), as: UTF8.self)
        for secret in [secret, "known-value-1", "hunter2"] { #expect(!text.contains(secret)) }
        let messages = [redacted.calls[0].message, redacted.exchanges[0].message]
        #expect(messages.allSatisfy { $0?.contains("verified chain: \(pin) (CN=a)") == true })
        let clean = try #require(redacted.calls[0].contents[0].base)
        #expect(clean.text.hasPrefix("\"@method\": GET\n\"@path\": /a\n\"@query-param\""))
        #expect(clean.text.contains(#""authorization": Bearer redacted-"#))
        #expect(clean.parts[0].value == "GET")
    }

    private static let secret = "q7Zr2mVx9LkT4bNw8sYc"
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.q7Zr2mVx9LkT4bNw8sYcQ1"

    /// Whether any text of an exchange has the bytes.
    private func has(_ text: String, _ exchange: RecordedExchange) -> Bool {
        let har = Recording(exchange).har()
        return har.firstRange(of: Array(text.utf8)) != nil
    }

    @Test(arguments: [
        "Authorization: Bearer \(secret)", "Authorization: \(secret)",
        "Proxy-Authorization: Basic dXNlcjpxN1pyMm1WeDlMa1Q0Yk53OHNZYw==",
        "Cookie: theme=dark; sid=\(secret)", "Cookie: \(secret)", "X-Api-Key: \(secret)",
        "X-Session-Token: \(secret)", "DPoP: \(token)", "Signature: sig1=:\(secret):",
        "X-Hub-Signature-256: sha256=\(secret)", "Stripe-Signature: t=1,v1=\(secret)",
        "X-Shopify-Hmac-Sha256: \(secret)", "X-Forwarded-Client-Cert: Hash=\(secret)",
        "Referer: https://example.com/?access_token=\(secret)", "X-Note: the key is \(token)",
        "X-Url: https://user:\(secret)@example.com/",
    ])
    func leavesNoSecretInFields(_ line: String) throws {
        let parts = line.split(separator: ": ", maxSplits: 1)
        var exchange = RecordedExchange.json()
        let field = RecordedField(name: String(parts[0]), value: String(parts[1]))
        exchange.request.fields.append(field)
        exchange.response?.fields.append(field)
        let redacted = exchange.redacted()
        #expect(!has(Self.secret, redacted) && !has("cTdacjJtVng5TGtUNGJOdzhzWWM", redacted))
        #expect(redacted.redactions.contains { $0.place.starts(with: "request.fields") })
        #expect(redacted.redactions.contains { $0.place.starts(with: "response.fields") })
    }

    @Test func keepsSchemesAndNamesOfCookies() {
        var exchange = RecordedExchange.json()
        exchange.request.fields = [
            RecordedField(name: "Authorization", value: "Bearer \(Self.secret)"),
            RecordedField(name: "Cookie", value: "a=\(Self.secret); b=2"),
        ]
        exchange.response?.fields = [
            RecordedField(
                name: "Set-Cookie", value: "a=\(Self.secret); Path=/; HttpOnly; x=\(Self.token)")
        ]
        let redacted = exchange.redacted()
        #expect(
            redacted.request.fields.map(\.value) == [
                "Bearer redacted-1", "a=redacted-1; b=redacted-2",
            ])
        #expect(
            redacted.response?.fields.map(\.value) == [
                "a=redacted-1; Path=/; HttpOnly; redacted-3"
            ])
    }

    @Test(arguments: [
        "https://user:\(secret)@api.example.com/orders",
        "https://api.example.com/orders?api_key=\(secret)",
        "https://api.example.com/orders?a=1&sig=\(secret)&b=2",
        "https://api.example.com/orders?X-Amz-Signature=\(secret)",
        "https://api.example.com/cb?state=1&code=\(secret)",
        "https://api.example.com/cb#access_token=\(secret)",
        "https://hooks.slack.com/services/T000/B000/\(secret)",
        "https://api.example.com/reset/\(token)", "https://u:a/\(secret)@api.example.com/",
    ])
    func leavesNoSecretInURLs(_ url: String) {
        let redacted = RecordedExchange.json("GET", url).redacted()
        #expect(!has(Self.secret, redacted), "\(redacted.request.url)")
        #expect(!redacted.redactions.isEmpty)
    }

    @Test(arguments: [
        #"{"password":"\#(secret)"}"#, #"{"a":{"b":[{"token":"\#(secret)"}]}}"#,
        #"{"credentials":{"x":"\#(secret)"}}"#,
        #"{"items":[{"name":"api_key","value":"\#(secret)"}]}"#,
        #"{"note":"\#(token)"}"#, #"[["X-Api-Key","\#(secret)"]]"#,
        #"{"pin":4711,"password":12345}"#,
        #"{"inner":"{\"password\":\"\#(secret)\"}"}"#, #"{"kty":"oct","k":"\#(secret)"}"#,
        #"{"url":"https://u:\#(secret)@h/"}"#, #"{"alice:\#(secret)":1}"#,
        "{\"password\":\"\(secret)\"}\n{\"token\":\"\(secret)\"}\n",
        "data: {\"token\":\"\(secret)\"}\n\n", "password=\(secret)\nuser=alice",
        "<user><password>\(secret)</password></user>", "\u{FEFF}{\"password\":\"\(secret)\"}",
        "-----BEGIN \u{50}RIVATE KEY-----\n\(secret)\n-----END PRIVATE KEY-----",
    ])
    func leavesNoSecretInBodies(_ text: String) {
        let redacted = RecordedExchange.json(request: text, response: text).redacted()
        #expect(!has(Self.secret, redacted), "\(redacted.request.body?.text ?? "")")
        #expect(redacted.redactions.contains { $0.place.starts(with: "request.body") })
        #expect(redacted.redactions.contains { $0.place.starts(with: "response.body") })
    }

    @Test func keepsAllOtherBytesOfJSON() {
        let text =
            "{ \"item\" : \"tea\",\n \"token\":\"\(Self.secret)\", \"n\": 1e400, \"u\":\"\\u00e9\" }"
        let redacted = RecordedExchange.json(request: text).redacted()
        #expect(
            redacted.request.body?.text
                == "{ \"item\" : \"tea\",\n \"token\":\"redacted-1\", \"n\": 1e400, \"u\":\"\\u00e9\" }"
        )
    }

    @Test(arguments: [
        #"{"id":7,"item":"tea","quantity":2,"at":"2026-11-27T09:00:00Z","note":"two boxes, please"}"#,
        #"{"jsonrpc":"2.0","method":"orders.create","params":{"item":"tea"},"id":1}"#,
        #"{"uuid":"0190d5f2-7c1c-7a3e-9f52-0242ac120002","digest":"sha256:\#(String(repeating: "ab", count: 32))"}"#,
        "[1,2,3]", "hello world", "<p>Tea</p>", "a,b,c\n1,2,3\n", "",
    ])
    func leavesOtherBodiesAsTheyAre(_ text: String) {
        let redacted = RecordedExchange.json(request: text, response: text).redacted()
        #expect(redacted.request.body?.text == text)
        #expect(redacted.redactions.isEmpty)
    }

    @Test func redactsFormsAndKeepsTheirEncoding() {
        var exchange = RecordedExchange.json()
        exchange.request.body = RecordedBody(
            text: "grant_type=x&code=\(Self.secret)&client_secret=a%2Bb%20c&note=one+two%21",
            mediaType: "application/x-www-form-urlencoded; charset=utf-8")
        #expect(
            exchange.redacted().request.body?.text
                == "grant_type=x&code=redacted-1&client_secret=redacted-2&note=one+two%21")
    }

    @Test func redactsPartsOfMultipartBodies() {
        let body = [
            "--xx", "Content-Disposition: form-data; name=\"password\"", "", Self.secret, "--xx",
            "Content-Disposition: form-data; name=\"file\"; filename=\"a.json\"",
            "Content-Type: application/json", "", #"{"token":"\#(Self.secret)","a":1}"#, "--xx--",
            "",
        ].joined(separator: "\r\n")
        var exchange = RecordedExchange.json()
        exchange.request.body = RecordedBody(
            text: body, mediaType: "multipart/form-data; boundary=\"xx\"")
        let text = exchange.redacted().request.body?.text ?? ""
        #expect(text == body.replacingOccurrences(of: Self.secret, with: "redacted-1"))
    }

    @Test func redactsTextsInBinaryBodies() {
        var exchange = RecordedExchange.json()
        exchange.request.body = RecordedBody(
            bytes: [0xFF, 0xFE, 0, 1] + Array("sk_live_4eC39HqLyjWDarjtT1zdp7dc".utf8) + [0, 0xFF],
            mediaType: "application/octet-stream")
        exchange.response?.body = RecordedBody(
            bytes: [0xFF, 0xD8, 0xFF, 0xE0, 1, 2], mediaType: "image/jpeg")
        let redacted = exchange.redacted()
        #expect(redacted.request.body?.text == "redacted-1")
        #expect(redacted.response?.body?.bytes == [0xFF, 0xD8, 0xFF, 0xE0, 1, 2])
    }

    @Test func findsTheConfigurationsSecretsInEveryForm() throws {
        let value = "s p/a+ß\"w"
        var rules = RedactionRules()
        rules.add(secret: Array(value.utf8))
        for form in [
            value, "s%20p%2Fa%2B%C3%9F%22w", "s+p%2fa%2b%c3%9f%22w",
            Base64.encode(Array(value.utf8), as: .standard),
            Base64.encode(Array("user:\(value)!".utf8), as: .url),
            String(decoding: Array(value.utf8).hexadecimal(), as: UTF8.self),
        ] {
            var exchange = RecordedExchange.json(
                "GET", "https://api.example.com/x", request: "\"a\"",
                response: "the note \(form) end")
            exchange.response?.fields.append(RecordedField(name: "X-Note", value: "a \(form) b"))
            let redacted = exchange.redacted(by: rules)
            #expect(!has(form, redacted), "\(form)")
            #expect(redacted.response?.body?.text?.contains("redacted-1") == true, "\(form)")
            #expect(Set(redacted.redactions.map(\.mark)) == [1], "\(form)")
        }
    }

    @Test func takesSecretsOfASchema() throws {
        let schema = try Schema(
            parsing: Array(
                #"{"keys":{"a":{"type":"string","visibility":"public"},"b":{"type":"array"},"c":{"type":"integer"}}}"#
                    .utf8))
        let configuration = try GlobalConfiguration(
            schema: schema,
            defaults: .json(Array(#"{"a":"open","b":["hidden-one","xy"],"c":918273}"#.utf8)))
        var rules = RedactionRules()
        rules.addSecrets(of: configuration)
        let body = #"{"a":"open","n":"has hidden-one in it","m":"xy","o":"xyz","p":918273}"#
        #expect(
            RecordedExchange.json(request: body).redacted(by: rules).request.body?.text
                == #"{"a":"open","n":"has redacted-1 in it","m":"redacted-2","o":"xyz","p":"redacted-3"}"#
        )
        #expect(!"\(rules)".contains("hidden"))
    }

    @Test func takesNamesOfTheProgram() {
        var rules = RedactionRules()
        rules.fields.insert("X-Customer")
        rules.members.insert("IBAN")
        var exchange = RecordedExchange.json(request: #"{"iban":"DE02","x":{"iban":[1]}}"#)
        exchange.request.fields = [RecordedField(name: "x-customer", value: "42")]
        let redacted = exchange.redacted(by: rules)
        #expect(redacted.request.fields.map(\.value) == ["redacted-1"])
        #expect(redacted.request.body?.text == #"{"iban":"redacted-2","x":{"iban":"redacted-3"}}"#)
    }

    @Test func redactsNothingTwice() {
        let text = #"{"token":"\#(Self.secret)","url":"https://a/?key=\#(Self.secret)"}"#
        var exchange = RecordedExchange.json(request: text)
        exchange.request.fields = [
            RecordedField(name: "Authorization", value: "Bearer \(Self.secret)"),
            RecordedField(name: "Cookie", value: "a=\(Self.secret)"),
        ]
        let once = Recording(exchange).redacted()
        #expect(once.redacted() == once)
        #expect(once.lastMark == 1)
    }

    @Test func givesMarksThatSayNothing() {
        let marks = RedactionMarks(after: 5)
        #expect(marks.number(of: Array("b".utf8)) == 6)
        #expect(marks.number(of: Array("a".utf8)) == 7)
        #expect(marks.number(of: Array("b".utf8)) == 6)
        #expect(RedactionMark.number(of: Array("redacted-6".utf8)) == 6)
        for text in [
            "redacted-", "redacted-x", "redacted-1x", "xredacted-1", "redacted-1234567890",
        ] {
            #expect(RedactionMark.number(of: Array(text.utf8)) == nil)
        }
        #expect(
            RedactionMark.all(in: Array("a redacted-1,xredacted-2 redacted-33".utf8)).map(\.number)
                == [1, 33])
    }
}
