import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetSigning

/// The webhooks of Slack, Twilio, Square, SendGrid and Shopify, compared with the partners' own
/// libraries from PyPI: signing and verifying in both directions, and changed messages, which both
/// sides refuse. The libraries of Square and SendGrid only verify.
@Suite struct PartnerWebhookTests {
    /// The callbacks of Shopify's OAuth, as a document of one's own: lists (`ids[]=1`) and the
    /// characters `%`, `&` and `=` in a value can't be written.
    private static let shopifyQuery = #"""
        {
          "signet-scheme": 1,
          "name": "shopify-query",
          "values": {
            "parameters": {"parameters": {"from": ["query"], "decode": true, "sort": "pair"}}
          },
          "inject": [{"query": "timestamp", "value": "{time}"}],
          "text": "{parameters}",
          "sign": {"hmac": "sha256"},
          "signature": "hex",
          "place": [{"query": "hmac", "value": "{signature}"}]
        }
        """#

    static let ways = ["slack-v0", "twilio", "twilio-json", "square", "sendgrid", "shopify-query"]
    /// The ways whose library can also sign.
    static let signedByThePeer = ["slack-v0", "twilio", "shopify-query"]

    private static func scheme(_ way: String) throws -> SigningScheme {
        switch way {
        case "shopify-query": try SigningScheme(document: Array(shopifyQuery.utf8))
        case "twilio-json": try .Insecure.scheme(named: "twilio")
        default: try .Insecure.scheme(named: way)
        }
    }

    private static func settings(_ way: String) -> [String: String] {
        way == "twilio-json" ? ["payload": "json"] : [:]
    }

    private static func requests(_ way: String) -> [PartnerRequest] {
        var random = SplitMix(seed: UInt64(way.utf8.count))
        return (0..<20).map { index in
            var request = PartnerRequest()
            request.way = way == "twilio-json" ? "twilio" : way
            request.target = "/hooks/\(index)?tenant=\(random.text(of: "abc019", 1...8))"
            request.other["secret"] = random.text(of: "abcXYZ019_-+/=", 8...40)
            if way == "twilio" {
                request["Content-Type"] = "application/x-www-form-urlencoded"
                request.body = Array(form(&random).utf8)
            } else if way == "shopify-query" {
                request.method = "GET"
                request.target +=
                    "&shop=tea-\(index).example&state=\(random.text(of: "abc/+ é", 1...9))"
                    .addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed)!
                    .replacingOccurrences(of: "+", with: "%2B")
            } else {
                request["Content-Type"] = "application/json"
                let note = random.text(of: "abc .,:=&%é☃🔒/{}[]", 0...80)
                request.body = Array("{\"n\":\(index),\"note\":\"\(note)\"}".utf8)
            }
            return request
        }
    }

    /// A form with empty, escaped and repeated parameters.
    private static func form(_ random: inout SplitMix) -> String {
        var pairs = (0..<6).map { _ in
            random.pick(["From", "To", "Body", "a", "A", "%C3%A9", "x+y"]) + "="
                + random.pick(["", "%2B1415", "tea+time", "a%26b%3D1", "1", "10", "%E2%98%83"])
        }
        pairs.append(pairs[0])
        return pairs.joined(separator: "&")
    }

    private static func keys(_ request: PartnerRequest, way: String) throws -> KeySet {
        guard way == "sendgrid" else {
            return try Partner.keys([("hooks", request.other["secret"] ?? "")])
        }
        return try Sample.keySet([String(decoding: curveKey.serialized(), as: UTF8.self)])
    }

    private static let curveKey: JSONValue = [
        "kty": "EC", "crv": "P-256", "kid": "hooks", "use": "sig", "alg": "ES256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    ]

    private static func signed(_ request: PartnerRequest, way: String) throws -> PartnerRequest {
        var options = MessageSigner.Options()
        options.settings = settings(way)
        var message = try request.message()
        _ = try MessageSigner(
            scheme: scheme(way), key: keys(request, way: way).key(id: "hooks"), options: options
        ).sign(&message, now: Sample.now)
        var signed = request
        signed.target = text(try #require(message.request).target)
        signed.fields = message.fields.filter { $0.name != "Host" }.map {
            PartnerRequest.Field(name: $0.name, value: text($0.value))
        }
        signed.other["x"] = curveKey["x"]?.string
        signed.other["y"] = curveKey["y"]?.string
        return signed
    }

    private static func reason(_ request: PartnerRequest, way: String) throws -> String {
        var policy = VerificationPolicy()
        policy.settings = settings(way)
        let verifier = try Verifier(
            scheme: scheme(way), keys: keys(request, way: way), policy: policy)
        return try Partner.reason(verifier, request.message())
    }

    /// Changes that make a signature invalid.
    private static let changes: [(String, @Sendable (inout PartnerRequest) -> Void)] = [
        (
            "body",
            { request in
                request.body += Array((request.method == "GET" ? "" : "&z=9").utf8)
                if request.method == "GET" { request.target += "&z=9" }
            }
        ),
        ("secret", { $0.other["secret"] = "another secret" }),
        (
            "time",
            { request in
                let other = (old: "\(Sample.now)", new: "\(Sample.now - 1)")
                request.target = request.target.replacingOccurrences(of: other.old, with: other.new)
                for index in request.fields.indices
                where request.fields[index].name.lowercased().hasSuffix("timestamp") {
                    request.fields[index].value = other.new
                }
            }
        ),
        (
            "tenant",
            { $0.target = $0.target.replacingOccurrences(of: "tenant=", with: "tenant=x") }
        ),
    ]

    /// Whether a change concerns the way's signature.
    private static func concerns(_ change: String, _ way: String) -> Bool {
        switch change {
        case "secret": way != "sendgrid"
        case "time": ["slack-v0", "sendgrid", "shopify-query"].contains(way)
        case "tenant": !["slack-v0", "sendgrid"].contains(way)
        default: true
        }
    }

    @Test(arguments: ways)
    func partnersLibraryVerifiesOurSignatures(_ way: String) async throws {
        var asked: [PartnerRequest] = []
        var wanted: [String] = []
        for request in Self.requests(way) {
            let signed = try Self.signed(request, way: way)
            asked.append(signed)
            wanted.append("ok")
            #expect(try Self.reason(signed, way: way) == "no error")
            for (name, change) in Self.changes where Self.concerns(name, way) {
                var changed = signed
                change(&changed)
                asked.append(changed)
                wanted.append("refused")
                #expect(try Self.reason(changed, way: way) == "signature-mismatch", "\(name)")
            }
        }
        let answers: [String] = try await Partner.ask("partner-webhooks", asked)
        #expect(answers.count == wanted.count && answers.count > 50)
        for (index, answer) in answers.enumerated() {
            #expect(answer == wanted[index], "\(asked[index].summary)")
        }
    }

    @Test(arguments: signedByThePeer)
    func verifiesThePartnersLibrarySignatures(_ way: String) async throws {
        var requests = Self.requests(way)
        if way == "shopify-query" {
            for index in requests.indices { requests[index].target += "&timestamp=\(Sample.now)" }
        }
        let answers: [String] = try await Partner.ask("partner-webhooks", requests)
        #expect(answers.count == requests.count)
        for (index, answer) in answers.enumerated() {
            var request = requests[index]
            switch way {
            case "slack-v0":
                request["X-Slack-Request-Timestamp"] = "\(Sample.now)"
                request["X-Slack-Signature"] = answer
            case "twilio": request["X-Twilio-Signature"] = answer
            default: request.target += "&hmac=\(answer)"
            }
            #expect(try Self.reason(request, way: way) == "no error", "\(request.summary)")
            for (name, change) in Self.changes where Self.concerns(name, way) {
                var changed = request
                change(&changed)
                #expect(try Self.reason(changed, way: way) == "signature-mismatch", "\(name)")
            }
        }
    }

    /// Shopify signs `ids[]=2&ids[]=1` as `ids=["2", "1"]`, which no document can say.
    @Test func refusesAListOfShopify() async throws {
        var request = Self.requests("shopify-query")[0]
        request.target = "/hooks?ids%5B%5D=2&timestamp=\(Sample.now)"
        let answers: [String] = try await Partner.ask("partner-webhooks", [request])
        request.target += "&hmac=\(try #require(answers.first))"
        #expect(try Self.reason(request, way: "shopify-query") == "signature-mismatch")
    }
}
