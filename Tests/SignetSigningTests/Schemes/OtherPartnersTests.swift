import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetSigning

/// Rules of partners without a built-in scheme, as documents; Python computes the same signatures.
@Suite struct OtherPartnersTests {
    struct Rule: CustomTestStringConvertible, Sendable {
        let partner: String
        /// The members besides the version and the name.
        let document: JSONObject
        /// The field or form parameter with the signature.
        let place: String
        /// The value, by Python: `h(hash, text)` is an HMAC as bytes.
        let python: String
        var testDescription: String { partner }

        init(_ partner: String, _ place: String, python: String, _ document: JSONObject) {
            self.partner = partner
            self.place = place
            self.python = python
            self.document = document
        }

        func scheme() throws -> SigningScheme {
            var whole: JSONObject = ["signet-scheme": 1, "name": .string(partner)]
            whole["sign"] = ["hmac": "sha256"]
            for (name, value) in document { whole[name] = value }
            return try .Insecure.scheme(document: JSONValue.object(whole).serialized())
        }
    }

    static let rules = [
        Rule(
            "zoom", "x-zm-signature",
            python: "'v0=' + h('sha256', b'v0:' + time + b':' + body).hex()",
            [
                "inject": [["header": "x-zm-request-timestamp", "value": "{time}"]],
                "text": "v0:{time}:{body}",
                "place": [["header": "x-zm-signature", "value": "v0={signature}"]],
            ]),
        Rule(
            "hubspot-v3", "X-HubSpot-Signature-v3",
            python: "b64(h('sha256', b'POST' + url + body + time + b'000'))",
            [
                "inject": [["header": "X-HubSpot-Request-Timestamp", "value": "{time.ms}"]],
                "text": "{method}https://{host}{target}{body}{time.ms}", "signature": "base64",
                "place": [["header": "X-HubSpot-Signature-v3", "value": "{signature}"]],
            ]),
        Rule(
            "intercom", "X-Hub-Signature", python: "'sha1=' + h('sha1', body).hex()",
            [
                "text": "{body}", "sign": ["hmac": "sha1"],
                "place": [["header": "X-Hub-Signature", "value": "sha1={signature}"]],
            ]),
        Rule(
            "paddle", "Paddle-Signature",
            python: "'ts=' + time.decode() + ';h1=' + h('sha256', time + b':' + body).hex()",
            [
                "text": "{time}:{body}",
                "place": [
                    [
                        "header": "Paddle-Signature", "list": ["ts={time}", "h1={signature}"],
                        "with": ";",
                    ]
                ],
            ]),
        Rule(
            "linear", "Linear-Signature", python: "h('sha256', body).hex()",
            ["text": "{body}", "place": [["header": "Linear-Signature", "value": "{signature}"]]]),
        Rule(
            "line", "X-Line-Signature", python: "b64(h('sha256', body))",
            [
                "text": "{body}", "signature": "base64",
                "place": [["header": "X-Line-Signature", "value": "{signature}"]],
            ]),
        Rule(
            "bitbucket", "X-Hub-Signature", python: "'sha256=' + h('sha256', body).hex()",
            [
                "text": "{body}",
                "place": [["header": "X-Hub-Signature", "value": "sha256={signature}"]],
            ]),
        Rule(
            "docusign", "X-DocuSign-Signature-1", python: "b64(h('sha256', body))",
            [
                "text": "{body}", "signature": "base64",
                "place": [
                    [
                        "header": ["X-DocuSign-Signature-1", "X-DocuSign-Signature-2"],
                        "value": "{signature}",
                    ]
                ],
            ]),
        Rule(
            "trello", "X-Trello-Webhook", python: "b64(h('sha1', body + url))",
            [
                "text": "{body}https://{host}{target}", "sign": ["hmac": "sha1"],
                "signature": "base64",
                "place": [["header": "X-Trello-Webhook", "value": "{signature}"]],
            ]),
        Rule(
            "svix", "svix-signature",
            python: "'v1,' + b64(h('sha256', b'msg_1.' + time + b'.' + body))",
            [
                "nonce": ["prefix": "msg_", "bytes": 16, "as": "hex", "forbidden": "."],
                "inject": [
                    ["header": "svix-id", "value": "{nonce}"],
                    ["header": "svix-timestamp", "value": "{time}"],
                ],
                "text": "{nonce}.{time}.{body}", "signature": "base64",
                "sign": ["hmac": "sha256", "secret": "whsec"],
                "place": [
                    ["header": "svix-signature", "list": ["v1,{signature}"], "with": " "]
                ],
            ]),
        Rule(
            "mailgun-form", "signature", python: "h('sha256', time + b'msg_1').hex()",
            [
                "inject": [
                    ["form": "timestamp", "value": "{time}"],
                    ["form": "token", "value": "{nonce}"],
                ],
                "text": "{time}{nonce}", "place": [["form": "signature", "value": "{signature}"]],
            ]),
    ]

    private static let body = "event=paid&note=a%20b"

    private static func signed(_ rule: Rule, _ keys: KeySet) throws -> SignableMessage {
        let scheme = try rule.scheme()
        var message = try Sample.message(
            "POST /hooks?tenant=7 HTTP/1.1\nHost: api.example.com\n"
                + "Content-Type: application/x-www-form-urlencoded\n\n\(body)")
        let usesNonce = rule.document["nonce"] != nil || rule.partner == "mailgun-form"
        _ = try MessageSigner(scheme: scheme, key: keys.key(id: "hooks"))
            .sign(&message, now: Sample.now, nonce: usesNonce ? "msg_1" : nil)
        return message
    }

    @Test(arguments: [
        ("whsec_c2VjcmV0IG9mIDI0IGJ5dGVzICE=\n", "valid base64"),
        (" whsec_c2VjcmV0IG9mIDI0IGJ5dGVzICE=", "1 bytes before whsec_"),
        ("v1,whsec_c2VjcmV0IG9mIDI0IGJ5dGVzICE=", "3 bytes before whsec_"),
    ])
    func namesADamagedSecret(_ secret: String, _ words: String) throws {
        let scheme = try SigningScheme(named: "standard-webhooks")
        let damaged = try Partner.keys([("hooks", secret)])
        let good = try Partner.keys([("hooks", "whsec_c2VjcmV0IG9mIDI0IGJ5dGVzICE=")])
        var message = try Sample.message()
        _ = try MessageSigner(scheme: scheme, key: good.key(id: "hooks"))
            .sign(&message, now: Sample.now)
        let signing = #expect(throws: SigningError.self) {
            try MessageSigner(scheme: scheme, key: damaged.key(id: "hooks"))
        }
        #expect(signing?.code == .wrongKeyUse && signing?.message.contains(words) == true)
        let verifying = #expect(throws: SigningError.self) {
            try Verifier(scheme: scheme, keys: damaged).verify(message, now: Sample.now)
        }
        #expect(verifying?.code == .unknownKey && verifying?.message.contains(words) == true)
        #expect(verifying?.message.contains("c2Vj") == false)
    }

    @Test func signsAsTheRulesOfPartnersSay() async throws {
        let secret = "their secret of 24 bytes"
        let keys = try Partner.keys([("hooks", secret)])
        let task: JSONValue = [
            "url": "https://api.example.com/hooks?tenant=7", "time": .string("\(Sample.now)"),
            "body": .string(Self.body), "secret": .string(secret),
            "rules": .array(Self.rules.map { .string($0.python) }),
        ]
        let answers: [String] = try await Partner.ask("partner-rules", task)
        try #require(answers.count == Self.rules.count)
        for (rule, answer) in zip(Self.rules, answers) {
            let message = try Self.signed(rule, keys)
            let found =
                try message.field(rule.place)
                ?? message.formValues(of: Array(rule.place.utf8)).first.map { text($0) }
            #expect(found == answer, "\(rule.partner)")
            let verifier = try Verifier(scheme: rule.scheme(), keys: keys)
            #expect(Partner.reason(verifier, message) == "no error", "\(rule.partner)")
            let others = try Partner.keys([("hooks", secret + "!")])
            let stranger = try Verifier(scheme: rule.scheme(), keys: others)
            #expect(Partner.reason(stranger, message) == "signature-mismatch", "\(rule.partner)")
            guard rule.partner != "mailgun-form" else { continue }  // It doesn't sign the form.
            let changed = try message.replacing("event=paid", with: "event=void")
            #expect(Partner.reason(verifier, changed) == "signature-mismatch", "\(rule.partner)")
        }
    }
}
