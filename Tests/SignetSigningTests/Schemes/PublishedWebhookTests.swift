import Foundation
import TestSupport
import Testing

@testable import SignetSigning

/// Signed requests that the partners publish: each verifies, and no changed one does.
@Suite struct PublishedWebhookTests {
    struct Published: CustomTestStringConvertible, Sendable {
        let scheme: String
        let source: String
        var request: PartnerRequest
        let secret: String
        let now: Int64
        var testDescription: String { scheme }
    }

    private static func request(
        _ url: (host: String, target: String), _ fields: [String: String], _ body: String
    ) -> PartnerRequest {
        var request = PartnerRequest()
        request.host = url.host
        request.target = url.target
        for (name, value) in fields { request[name] = value }
        request.body = Array(body.utf8)
        return request
    }

    static let all = [
        Published(
            scheme: "slack-v0",
            source: "https://docs.slack.dev/authentication/verifying-requests-from-slack/",
            request: request(
                ("api.example.com", "/slack"),
                [
                    "X-Slack-Request-Timestamp": "1531420618",
                    "X-Slack-Signature":
                        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
                ],
                "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
                    + "&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA"
                    + "&user_name=roadrunner&command=%2Fwebhook-collect&text="
                    + "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J"
                    + "%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
                    + "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"),
            secret: "8f742231b10e8888abcd99yyyzzz85a5", now: 1_531_420_618),
        Published(
            scheme: "twilio", source: "https://www.twilio.com/docs/usage/security",
            request: request(
                ("mycompany.com", "/myapp.php?foo=1&bar=2"),
                [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "X-Twilio-Signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
                ],
                "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309"
                    + "&To=%2B18005551212"), secret: "12345", now: Sample.now),
        Published(
            scheme: "square", source: "https://github.com/square/square-python-sdk (tests)",
            request: request(
                ("webhook.site", "/679a4f3a-dcfa-49ee-bac5-9d0edad886b9"),
                [
                    "x-square-hmacsha256-signature": "GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4="
                ],
                #"{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","#
                    + #""event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","#
                    + #""created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","#
                    + #""id":"bc368e64-01aa-407e-b46e-3231809b1129"}}"#),
            secret: "Ibxx_5AKakO-3qeNVR61Dw", now: Sample.now),
        Published(
            scheme: "sendgrid", source: "https://github.com/sendgrid/sendgrid-python (tests)",
            request: request(
                ("api.example.com", "/events"),
                [
                    "X-Twilio-Email-Event-Webhook-Timestamp": "1600112502",
                    "X-Twilio-Email-Event-Webhook-Signature":
                        "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAb"
                        + "PIqHh89M15TluLtEZtM=",
                ],
                #"[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","#
                    + #""sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","#
                    + #""sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-"#
                    + #"kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1"#
                    + #".sendgrid.net>","timestamp":1600112492}]"# + "\r\n"),
            secret: "", now: 1_600_112_502),
    ]

    private static func keys(_ published: Published) throws -> KeySet {
        guard published.secret.isEmpty else {
            return try Partner.keys([("partner", published.secret)])
        }
        // The coordinates of the published key.
        let point = try #require(
            Data(
                base64Encoded:
                    "83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVp"
                    + "iglSI8eNEc6wEA3F+g=="))
        let (x, y) = ([UInt8](point.prefix(32)), [UInt8](point.suffix(32)))
        return try Sample.keySet([
            #"{"kty":"EC","crv":"P-256","kid":"partner","alg":"ES256","use":"sig","x":""#
                + Sample.base64url(x) + #"","y":""# + Sample.base64url(y) + #""}"#
        ])
    }

    private static func verifier(
        _ published: Published, _ settings: [String: String] = [:]
    ) throws -> Verifier {
        var policy = VerificationPolicy()
        policy.settings = settings
        return try Verifier(
            scheme: .Insecure.scheme(named: published.scheme), keys: keys(published), policy: policy
        )
    }

    @Test(arguments: all)
    func verifiesWhatPartnersPublish(_ published: Published) throws {
        let verifier = try Self.verifier(published)
        let message = try published.request.message()
        #expect(Partner.reason(verifier, message, at: published.now) == "no error")
        for index in [0, published.request.body.count / 2, published.request.body.count - 1] {
            var changed = published.request
            changed.body[index] ^= 1
            #expect(
                try Partner.reason(verifier, changed.message(), at: published.now)
                    == "signature-mismatch")
        }
    }

    /// Behind a proxy, a setting gives the URL that the partner requests.
    @Test(arguments: [
        ("twilio", "origin", "https://mycompany.com"),
        ("square", "url", "https://webhook.site/679a4f3a-dcfa-49ee-bac5-9d0edad886b9"),
    ])
    func takesTheURLFromASetting(_ name: String, _ setting: String, _ url: String) throws {
        let published = try #require(Self.all.first { $0.scheme == name })
        var request = published.request
        request.host = "10.0.0.7:8080"
        if name == "square" { request.target = "/hooks" }
        let message = try request.message()
        let plain = try Self.verifier(published)
        #expect(Partner.reason(plain, message) == "signature-mismatch")
        let proxied = try Self.verifier(published, [setting: url])
        #expect(Partner.reason(proxied, message) == "no error")
        let other = try Self.verifier(published, [setting: url + ".example"])
        #expect(Partner.reason(other, message) == "signature-mismatch")
    }
}
