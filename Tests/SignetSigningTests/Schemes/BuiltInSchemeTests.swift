import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto
@testable import SignetSigning

/// Every scheme that is built in, by its document: signs, verifies, and refuses changed messages.
@Suite struct BuiltInSchemeTests {
    /// A message that a scheme signs, with what it must know.
    struct Example: CustomTestStringConvertible, Sendable {
        let name: String
        var settings: [String: String] = [:]
        var text =
            "POST /a/b?x=1&y=2 HTTP/1.1\r\nHost: api.example.com\r\n"
            + "Content-Type: application/json\r\n\r\n{\"a\":1}"
        var testDescription: String { name + (settings["placement"].map { " in \($0)" } ?? "") }

        static let form =
            "POST /a/b?x=1&y=2 HTTP/1.1\r\nHost: api.example.com\r\n"
            + "Content-Type: application/x-www-form-urlencoded\r\n\r\nitem=tea&quantity=2"
        static let xml =
            "POST /pay HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: text/xml\r\n\r\n"
            + "<xml><appid>wx1</appid><body><![CDATA[tea & milk]]></body><empty></empty></xml>"
        static let aws = ["region": "eu-central-1", "service": "execute-api"]
        static let restful = ["apiVersion": "v1", "methodName": "orders/create"]

        static let all: [Example] = [
            Example(name: "rfc9421"), Example(name: "salted-hmac-v1"),
            Example(name: "aws-sigv4", settings: aws),
            Example(name: "aws-sigv4", settings: aws.merging(["placement": "query"]) { $1 }),
            Example(name: "tencent-tc3", settings: ["service": "cvm"]),
            Example(name: "alibaba-acs3"),
            Example(name: "wechatpay-v3", settings: ["mchid": "1900000001"]),
            Example(name: "standard-webhooks"), Example(name: "stripe"), Example(name: "github"),
            Example(name: "slack-v0"), Example(name: "shopify"),
            Example(name: "twilio", text: form),
            Example(name: "twilio", settings: ["payload": "json"]),
            Example(name: "square"), Example(name: "sendgrid"),
            Example(name: "ctnetworking-get"),
            Example(name: "ctnetworking-restful-get", settings: restful),
            Example(name: "ctnetworking-post", text: form),
            Example(name: "ctnetworking-restful-post", settings: restful),
            Example(name: "wechat-v2", text: xml),
        ]

        func scheme() throws -> SigningScheme { try .Insecure.scheme(named: name) }

        var key: String {
            switch name {
            case "wechatpay-v3": "rsa"
            case "sendgrid": "ec"
            case "twilio": "plain"  // For SHA-1, without `alg`.
            default: "secret"
            }
        }

        func signer(_ keys: KeySet = BuiltInSchemeTests.keys) throws -> MessageSigner {
            var options = MessageSigner.Options()
            options.settings = settings
            return try MessageSigner(scheme: scheme(), key: keys.key(id: key), options: options)
        }

        func verifier(_ keys: KeySet = BuiltInSchemeTests.keys) throws -> Verifier {
            var policy = VerificationPolicy()
            policy.settings = settings
            if name == "rfc9421" {
                policy.coveredComponents = try ComponentIdentifier.list(
                    parsing: "@method,@authority,@path,@query,content-digest")
            }
            return try Verifier(scheme: scheme(), keys: keys, policy: policy)
        }

        func signed() throws -> SignableMessage {
            var message = try SignableMessage(parsing: Array(text.utf8))
            _ = try signer().sign(&message, now: Sample.now)
            return message
        }

        /// The fields that the scheme added.
        func added() throws -> [SignableMessage.Field] {
            let before = try SignableMessage(parsing: Array(text.utf8)).fields.count
            return try Array(signed().fields.dropFirst(before))
        }
    }

    private static func makeKeys(_ secret: [UInt8]) -> KeySet {
        do {
            var rsa = try KeyFile.tree(.rsa, id: "rsa")
            rsa["alg"] = "RS256"
            return try Sample.keySet([
                Sample.jwk("secret", #""use":"sig","alg":"HS256""#, secret),
                String(decoding: JSONValue.object(rsa).serialized(), as: UTF8.self),
                Sample.jwk("plain", #""use":"sig""#, secret),
                String(
                    decoding: JSONValue.object(try KeyFile.tree(.p256, id: "ec")).serialized(),
                    as: UTF8.self),
            ])
        } catch { preconditionFailure("\(error)") }
    }

    static let keys = makeKeys(Sample.secret)
    static let others = makeKeys(Sample.longSecret)

    @Test func hasAnExampleOfEachScheme() {
        #expect(Set(Example.all.map(\.name)) == Set(SigningScheme.names))
    }

    @Test(
        arguments: Example.all
    )
    func readsItsDocumentBack(_ example: Example) throws {
        let scheme = try example.scheme()
        let text = JSONValue.object(scheme.document).serialized(.pretty)
        let again = try SigningScheme.Insecure.scheme(document: text)
        #expect(again == scheme && again.findings == scheme.findings)
        let isWeak = scheme.findings.contains { [.brokenHash, .weakHash].contains($0.code) }
        #expect(
            code { _ = try SigningScheme(named: example.name) }
                == (isWeak ? "insecure-scheme" : "no error"))
    }

    @Test(arguments: Example.all)
    func refusesAChangeOfACoveredPart(_ example: Example) throws {
        let message = try example.signed()
        let verifier = try example.verifier()
        let proof = try verifier.verify(message, now: Sample.now)
        #expect(proof.keyID == example.key && !proof.covered.isEmpty)
        let whole = text(message.serialized())
        let firstLine = whole.prefix { $0 != "\r\n" }
        for part in proof.covered {
            let changed: String
            switch part.identifier {
            case "@method": changed = whole.replacingOccurrences(of: "POST /", with: "PUT /")
            case "@path": changed = whole.replacingOccurrences(of: "/a/b", with: "/a/c")
            case "@query":
                changed =
                    whole.replacingOccurrences(
                        of: firstLine, with: firstLine.replacingOccurrences(of: "x=1", with: "x=7"))
            case "{parameters}":
                changed = whole.replacingOccurrences(of: "quantity=2", with: "quantity=3")
                    .replacingOccurrences(of: "tea & milk", with: "tea & rum")
                    .replacingOccurrences(of: "x=1", with: "x=7")
            case "@authority":
                changed = whole.replacingOccurrences(of: "Host: api", with: "Host: www")
            case "body", "body-digest", "content-digest":
                changed = whole.replacingOccurrences(of: "\"a\":1", with: "\"a\":2")
                    .replacingOccurrences(of: "quantity=2", with: "quantity=3")
                    .replacingOccurrences(of: "tea & milk", with: "tea & rum")
            default:
                let name = part.identifier
                let lines = whole.components(separatedBy: "\r\n").map {
                    $0.lowercased().hasPrefix(name + ":") ? $0 + "x" : $0
                }
                changed = lines.joined(separator: "\r\n")
            }
            #expect(changed != whole, "\(part.identifier)")
            let reason = code {
                _ = try verifier.verify(
                    SignableMessage(parsing: Array(changed.utf8)), now: Sample.now)
            }
            #expect(reason != "no error", "\(part.identifier)")
        }
    }

    @Test func provesNoBodyByItsParameters() throws {
        for example in Example.all
        where ["ctnetworking-post", "wechat-v2", "ctnetworking-get"].contains(example.name) {
            let message = try example.signed()
            let proof = try example.verifier().verify(message, now: Sample.now)
            #expect(proof.body == nil && proof["body"] == nil && proof["@query"] == nil)
            // Sent in another order, with an empty one more: the same text, and no word more is
            // proved.
            let other = try message.replacing(
                example.name == "ctnetworking-post"
                    ? "item=tea&quantity=2"
                    : example.name == "wechat-v2" ? "<empty></empty>" : "x=1&y=2",
                with: example.name == "ctnetworking-post"
                    ? "quantity=2&admin=&item=tea"
                    : example.name == "wechat-v2" ? "<admin></admin>" : "y=2&admin=&x=1")
            let again = try example.verifier().verify(other, now: Sample.now)
            #expect(again.covered == proof.covered)
            #expect(again["{parameters}"] != nil)
        }
        for name in ["aws-sigv4", "stripe", "ctnetworking-restful-post", "rfc9421"] {
            let example = try #require(Example.all.first { $0.name == name })
            let proof = try example.verifier().verify(example.signed(), now: Sample.now)
            #expect(proof.body == Array("{\"a\":1}".utf8), "\(name)")
        }
    }

    @Test(arguments: Example.all)
    func refusesAnotherKeyOrNone(_ example: Example) throws {
        let message = try example.signed()
        let verifier = try example.verifier(Self.others)
        #expect(code { _ = try verifier.verify(message, now: Sample.now) } == "signature-mismatch")
        let stranger = try Sample.keySet([Sample.jwk("stranger", #""use":"enc""#)])
        let none = try example.verifier(stranger)
        #expect(code { _ = try none.verify(message, now: Sample.now) } == "unknown-key")
        for members in [#""revoked":true"#, #""exp":1"#, #""nbf":9999999999"#, #""use":"enc""#] {
            let ended = try Sample.keySet([Sample.jwk("secret", members)])
            #expect(
                code { _ = try example.verifier(ended).verify(message, now: Sample.now) }
                    != "no error")
        }
    }

    /// The fields are missing, repeated, cut short, too long or changed.
    @Test(
        arguments: Example.all)
    func refusesBrokenSignatureFields(_ example: Example) throws {
        let message = try example.signed()
        let verifier = try example.verifier()
        let added = try example.added()
        for field in added {
            func reason(_ change: (inout [SignableMessage.Field]) -> Void) -> String {
                var other = message
                change(&other.fields)
                return code { _ = try verifier.verify(other, now: Sample.now) }
            }
            func replaced(by value: [UInt8]) -> String {
                reason { fields in
                    fields = fields.map {
                        $0.name == field.name ? .init(known: $0.name, value: value) : $0
                    }
                }
            }
            #expect(reason { $0.removeAll { $0.name == field.name } } != "no error")
            #expect(reason { $0.append(field) } != "no error")
            #expect(
                reason { $0.append(.init(known: field.name.uppercased(), value: field.value)) }
                    != "no error")
            #expect(replaced(by: []) != "no error")
            #expect(replaced(by: Array(field.value.dropLast())) != "no error")
            #expect(replaced(by: field.value + [0x30]) != "no error")
            #expect(replaced(by: field.value + [0x20, 0x30]) != "no error")
            // An empty entry of Stripe's list is ignored.
            let isList = example.name == "stripe"
            #expect((replaced(by: field.value + [0x2C]) == "no error") == isList)
            #expect(replaced(by: [0xFF, 0xFE]) != "no error")
            #expect(replaced(by: [UInt8](repeating: 0x61, count: 1 << 20)) != "no error")
            #expect(replaced(by: [UInt8](repeating: 0x2C, count: 1 << 16)) != "no error")
            #expect(replaced(by: field.value + Array(", ".utf8) + field.value) != "no error")
        }
    }

    /// The signed message stays unchanged.
    @Test(
        arguments: Example.all)
    func refusesToSignTwice(_ example: Example) throws {
        var message = try example.signed()
        let before = message
        #expect(
            ["duplicate-field", "duplicate-label", "malformed-message"].contains(
                code { _ = try example.signer().sign(&message, now: Sample.now) }))
        #expect(message == before)
    }

    @Test(arguments: Example.all)
    func refusesTimesThatNoClockShows(_ example: Example) throws {
        let signed = try example.signed()
        for now in [-1, Int64.min, 1_000_000_000_000_000, Int64.max] {
            var message = try SignableMessage(parsing: Array(example.text.utf8))
            #expect(
                code { _ = try example.signer().sign(&message, now: now) } == "invalid-time")
            #expect(
                code { _ = try example.verifier().verify(signed, now: now) } == "invalid-time")
        }
        guard !["rfc9421", "salted-hmac-v1"].contains(example.name) else { return }
        var message = try SignableMessage(parsing: Array(example.text.utf8))
        // No year of five digits.
        #expect(
            code { _ = try example.signer().sign(&message, now: 253_402_300_800) }
                == "invalid-time")
    }

    @Test func refusesAResponse() throws {
        for example in Example.all
        where ![
            "rfc9421", "salted-hmac-v1", "stripe", "github", "standard-webhooks", "slack-v0",
            "shopify", "sendgrid",
        ].contains(example.name) {
            var message = try Sample.message("HTTP/1.1 200 OK\nContent-Type: text/plain\n\nbody")
            let reason = code { _ = try example.signer().sign(&message, now: Sample.now) }
            #expect(
                [
                    "unsupported-component", "missing-component", "malformed-message",
                ].contains(reason), "\(example.name)")
        }
    }
}
