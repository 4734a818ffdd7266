import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto
@testable import SignetSigning

/// Malformed and hostile messages under a scheme, with the error code that refuses each.
@Suite struct SchemeMessageTests {
    private static let aws = ["region": "eu-central-1", "service": "iam"]
    /// The service that the body's hash is sent to as a field too.
    private static let s3 = ["region": "eu-central-1", "service": "s3"]
    private static let request =
        "POST /a?b=c HTTP/1.1\nHost: h.example\nContent-Type: text/plain\n\nbody"

    /// Signs a request, and gives the code of the refusal.
    private func sign(
        _ scheme: String, _ settings: [String: String] = [:], key: String? = nil,
        text: String = request, now: Int64 = Sample.now, expires: Int64? = nil,
        nonce: String? = nil, _ change: (inout MessageSigner.Options) -> Void = { _ in }
    ) -> String {
        code {
            var options = MessageSigner.Options()
            options.settings = settings
            change(&options)
            let keys = try Sample.keySet([key ?? Sample.jwk("k", #""use":"sig""#)])
            var message = try Sample.message(text)
            let before = message
            do {
                _ = try MessageSigner(
                    scheme: .Insecure.scheme(named: scheme), key: keys.keys[0], options: options
                ).sign(&message, now: now, expiration: expires, nonce: nonce)
            } catch {
                #expect(message == before)
                throw error
            }
        }
    }

    @Test(
        arguments: [
            ([:], "missing-option"), (["region": "eu"], "missing-option"),
            (["service": "iam", "region": "eu", "regoin": "x"], "unsupported-option"),
            (["service": "iam", "region": "eu", "Region": "x"], "unsupported-option"),
            (["service": "iam", "region": "eu", "placement": "body"], "invalid-value"),
            (["service": "iam", "region": "eu", "placement": "Query"], "invalid-value"),
            (["service": "iam", "region": "eu", "placement": ""], "invalid-value"),
            (["service": "iam", "region": ""], "invalid-value"),
            (["service": "iam", "region": "e u"], "invalid-value"),
            (["service": "iam", "region": "eu\r\nX: y"], "invalid-value"),
            (["service": "iam", "region": "eu\u{0}"], "invalid-value"),
            (["service": "iam", "region": "\u{e9}u"], "invalid-value"),
            // Read back, the region would end at its first slash.
            (["service": "iam", "region": "eu/west"], "invalid-value"),
            (["service": "iam", "region": "eu", "placement": "query"], "no error"),
        ])
    func refusesMissingAndUnknownSettings(_ settings: [String: String], _ wanted: String) throws {
        #expect(sign("aws-sigv4", settings) == wanted)
        guard wanted != "no error", settings["region"] != "eu/west" else { return }
        var policy = VerificationPolicy()
        policy.settings = settings
        #expect(
            code {
                _ = try Verifier(
                    scheme: SigningScheme(named: "aws-sigv4"), keys: Sample.keys, policy: policy)
            } == wanted)
    }

    @Test(
        arguments: [
            ("standard-webhooks", "msg_1", "no error"), ("standard-webhooks", "", "invalid-value"),
            ("standard-webhooks", "a.b", "invalid-value"),
            ("standard-webhooks", "a b", "invalid-value"),
            ("standard-webhooks", "a\r\nb", "invalid-value"),
            ("standard-webhooks", "\u{e9}", "invalid-value"),
            ("standard-webhooks", String(repeating: "a", count: 257), "invalid-value"),
            ("standard-webhooks", String(repeating: "a", count: 256), "no error"),
            ("alibaba-acs3", "a,b", "no error"), ("alibaba-acs3", "a\nb", "invalid-value"),
        ])
    func refusesNoncesThatCannotBeWritten(_ scheme: String, _ nonce: String, _ wanted: String) {
        #expect(sign(scheme, nonce: nonce) == wanted)
    }

    @Test(
        arguments: [
            ("aws-sigv4", "AKID", "no error"), ("aws-sigv4", "a/b", "invalid-value"),
            ("aws-sigv4", "a b", "invalid-value"), ("aws-sigv4", "\u{e9}", "invalid-value"),
            ("aws-sigv4", String(repeating: "k", count: 257), "invalid-value"),
            ("alibaba-acs3", "a,SignedHeaders=", "invalid-value"),
            ("alibaba-acs3", "a/b", "no error"),
            // It travels nowhere.
            ("github", "a/b \u{e9}", "no error"),
        ])
    func refusesKeyIDsThatCannotBeWritten(_ scheme: String, _ id: String, _ wanted: String) {
        let settings = scheme == "aws-sigv4" ? Self.aws : [:]
        #expect(sign(scheme, settings, key: Sample.jwk(id, #""use":"sig""#)) == wanted)
    }

    @Test func refusesKeysOfAnotherTypeOrUse() throws {
        func generated(_ kind: CryptoKey.Kind, alg: String? = nil) throws -> String {
            var jwk = try KeyFile.tree(kind, id: "k")
            if let alg { jwk["alg"] = .string(alg) }
            return String(decoding: JSONValue.object(jwk).serialized(), as: UTF8.self)
        }
        let ed25519 = try generated(.ed25519)
        let p256 = try generated(.p256)
        let rsa = try generated(.rsa, alg: "RS256")
        let hs512 = Sample.jwk("k", #""use":"sig","alg":"HS512""#, Sample.longSecret)
        let hs256 = Sample.jwk("k", #""use":"sig","alg":"HS256""#)
        let root = Sample.jwk("k", #""use":"enc""#)
        for scheme in ["stripe", "github", "standard-webhooks", "alibaba-acs3", "wechat-v2"] {
            let text =
                scheme == "wechat-v2"
                ? "POST / HTTP/1.1\nHost: h\n\n<xml><a>b</a></xml>" : Self.request
            for key in [ed25519, p256, rsa] {
                #expect(
                    sign(scheme, key: key, text: text)
                        == (scheme == "wechat-v2" ? "wrong-key-use" : "algorithm-mismatch"))
            }
            #expect(sign(scheme, key: root, text: text) == "wrong-key-use")
            #expect(sign(scheme, key: hs256, text: text) == "no error")
            #expect(
                sign(scheme, key: hs512, text: text)
                    == (scheme == "wechat-v2" ? "no error" : "algorithm-mismatch"))
        }
        for key in [ed25519, p256, hs256, root] {
            #expect(sign("wechatpay-v3", ["mchid": "1"], key: key) == "wrong-key-use")
        }
        #expect(sign("wechatpay-v3", ["mchid": "1"], key: rsa) == "no error")
        let half = try Sample.keySet([rsa]).publicHalves["keys"]?.array?[0].serialized() ?? []
        #expect(sign("wechatpay-v3", ["mchid": "1"], key: text(half)) == "wrong-key-use")
        for secret in ["whsec_", "whsec_!", "whsec_AAAAA", "whsec_AAAA=AAA"] {
            #expect(
                sign("standard-webhooks", key: Sample.jwk("k", #""use":"sig""#, Array(secret.utf8)))
                    == "wrong-key-use", "\(secret)")
        }
    }

    /// Refuses impossible expirations too.
    @Test func refusesOptionsThatTheSchemeLacks() throws {
        #expect(sign("stripe") { $0.label = "a" } == "unsupported-option")
        #expect(sign("stripe") { $0.tag = "a" } == "unsupported-option")
        #expect(sign("stripe") { $0.coveredComponents = [] } == "unsupported-option")
        #expect(sign("stripe") { $0.lifetime = 60 } == "unsupported-option")
        #expect(
            sign("stripe") { $0.acceptSignature = AcceptSignature(label: "s", components: []) }
                == "unsupported-option")
        #expect(sign("stripe") { $0.addsNonce = true } == "unsupported-option")
        #expect(sign("alibaba-acs3") { $0.addsNonce = true } == "no error")
        #expect(sign("stripe", expires: Sample.now + 1) == "unsupported-option")
        let query = Self.aws.merging(["placement": "query"]) { $1 }
        for (end, wanted) in [
            (Sample.now, "invalid-time"), (Sample.now - 1, "invalid-time"),
            (Int64.min, "invalid-time"), (Sample.now + 604_801, "invalid-time"),
            (Sample.now + 604_800, "no error"), (Sample.now + 1, "no error"),
        ] { #expect(sign("aws-sigv4", query, expires: end) == wanted) }
    }

    @Test func refusesAnExistingSignature() {
        let head = "POST /a HTTP/1.1\nHost: h.example\nContent-Type: text/plain\n"
        for line in [
            "Authorization: Basic AA==", "authorization: x", "X-Amz-Date: 20261121T000000Z",
            "X-AMZ-CONTENT-SHA256: x",
        ] {
            #expect(
                sign("aws-sigv4", Self.s3, text: head + line + "\n\nbody") == "duplicate-field")
        }
        let query = Self.aws.merging(["placement": "query"]) { $1 }
        for parameter in ["X-Amz-Date=1", "a=b&X-Amz-Signature=00", "X%2DAmz-Expires=9"] {
            let text = "GET /a?\(parameter) HTTP/1.1\nHost: h.example\n\n"
            #expect(sign("aws-sigv4", query, text: text) == "duplicate-field")
        }
        #expect(
            sign("ctnetworking-get", text: "GET /a?sig=1 HTTP/1.1\nHost: h\n\n")
                == "duplicate-field")
    }

    @Test func refusesAMissingPart() {
        #expect(
            sign(
                "tencent-tc3", ["service": "cvm"],
                text: "POST / HTTP/1.1\nHost: h.example\n\nbody") == "missing-component")
        #expect(
            sign("aws-sigv4", Self.aws, text: "GET / HTTP/1.1\nX: y\n\n") == "missing-component")
        #expect(sign("alibaba-acs3", text: "GET / HTTP/1.1\n\n") == "missing-component")
    }

    @Test(
        arguments: [
            "", "x", "<xml>", "<xml></xml", "<xml></lmx>", "<xml><a>b</xml>", "<xml><a>b</b></xml>",
            "<xml><a><b>c</b></a></xml>", "<xml a=\"b\"><c>d</c></xml>",
            "<xml><a b=\"c\">d</a></xml>",
            "<xml><a>b</a><a>c</a></xml>", "<xml><sign>x</sign></xml>", "<xml><a>&b;</a></xml>",
            "<xml><a>&#65;</a></xml>", "<!DOCTYPE xml><xml><a>b</a></xml>",
            "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><x><a>&e;</a></x>",
            "<xml><a><![CDATA[b</a></xml>", "<xml><a>b</a></xml><xml></xml>", "<xml/>",
            "<xml><!-- c --><a>b</a></xml>", "<xml>text<a>b</a></xml>", "<xml>< a>b</a></xml>",
            "{\"a\":1}", "\u{FEFF}<xml><a>b</a></xml>", "<?x y?><xml><a>b</a></xml>",
            "<xml><a>b</a></xml><!-- c -->", "<xml><a>b</a><![CDATA[c]]></xml>", "<xml><a/></xml>",
            "<xml><a>&amp</a></xml>", "<xml><1a>b</1a></xml>", "<xml><a>\u{1}</a></xml>",
            "<?xml version=\"1.0\" encoding=\"gbk\"?><xml><a>b</a></xml>",
            "<xml>" + (0...512).map { "<a\($0)></a\($0)>" }.joined() + "</xml>",
        ])
    func refusesBodiesThatAreNotFlatXML(_ body: String) {
        #expect(
            sign("wechat-v2", text: "POST / HTTP/1.1\nHost: h\n\n\(body)") == "malformed-message")
    }

    @Test func refusesTextThatWouldEndItsElement() throws {
        let document: JSONValue = [
            "signet-scheme": 1, "name": "acme", "text": "{keyid}{body}",
            "values": ["p": ["parameters": ["from": ["xml"], "sort": "key"]]],
            "sign": ["hmac": "sha256"],
            "place": [
                ["xml": "key", "value": "{keyid}"], ["xml": "sign", "value": "{signature}"],
            ],
        ]
        let scheme = try SigningScheme(document: document.serialized())
        for (id, wanted) in [("]]><x", "invalid-value"), ("k>", "no error")] {
            let keys = try Sample.keySet([Sample.jwk(id, #""use":"sig""#)])
            var message = try Sample.message("POST / HTTP/1.1\nHost: h\n\n<xml></xml>")
            #expect(
                code {
                    _ = try MessageSigner(scheme: scheme, key: keys.keys[0]).sign(
                        &message, now: Sample.now)
                } == wanted)
        }
    }

    /// Each name is listed once, the required ones among them.
    @Test func listsSignedFieldsSortedInLowerCase() throws {
        let keys = try Partner.keys([("k", "secret")])
        let verifier = try Partner.verifier("aws-sigv4", keys, Self.s3)
        var message = try Sample.message(Self.request)
        _ = try Partner.signer("aws-sigv4", keys, Self.s3).sign(&message, now: Sample.now)
        let own = "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date"
        for (names, wanted) in [
            ("content-type;host;x-amz-content-sha256", "not-covered"),
            ("content-type;x-amz-content-sha256;x-amz-date", "not-covered"),
            ("host;content-type;x-amz-content-sha256;x-amz-date", "malformed-signature"),
            ("Content-Type;host;x-amz-content-sha256;x-amz-date", "malformed-signature"),
            ("content-type;host;host;x-amz-content-sha256;x-amz-date", "malformed-signature"),
            (";content-type;host;x-amz-content-sha256;x-amz-date", "malformed-signature"),
            ("content-type;host;x-amz-content-sha256;x-amz-date;", "malformed-signature"),
            ("content type;host;x-amz-content-sha256;x-amz-date", "malformed-signature"),
            ("host;x-amz-content-sha256;x-amz-date", "signature-mismatch"),
            ("content-type;host;x-amz-content-sha256;x-amz-date;x-other", "missing-component"),
            ((0..<257).map { "a\($0 + 1000)" }.joined(separator: ";"), "malformed-signature"),
        ] {
            let changed = try message.replacing(own, with: "SignedHeaders=" + names)
            #expect(Partner.reason(verifier, changed) == wanted, "\(names.prefix(80))")
        }
    }

    /// They are among at most 64 entries, with one time.
    @Test func readsAtMostEightSignatures() throws {
        let keys = try Partner.keys([("k", "secret")])
        let verifier = try Partner.verifier("stripe", keys)
        var message = try Sample.message(Self.request)
        _ = try Partner.signer("stripe", keys).sign(&message, now: Sample.now)
        let value = try #require(message.field("Stripe-Signature"))
        let zeros = ",v1=" + String(repeating: "0", count: 64)
        for (list, wanted) in [
            (value + String(repeating: zeros, count: 7), "no error"),
            (value + String(repeating: zeros, count: 8), "malformed-signature"),
            (value + String(repeating: ",v0=00", count: 62), "no error"),
            (value + String(repeating: ",v0=00", count: 63), "malformed-signature"),
            (value + ",t=\(Sample.now)", "malformed-signature"),
            (value + ",t=1", "malformed-signature"), ("t=\(Sample.now)", "no-signature"),
            (value.replacingOccurrences(of: "t=", with: "x="), "malformed-signature"),
            (value + ",v1=zz", "malformed-signature"), (value + ",v1=0", "malformed-signature"),
            (value + ",v1=", "no error"), (value + ",v1=00", "no error"),
            (value.uppercased().replacingOccurrences(of: "T=", with: "t="), "no-signature"),
            ("t=1e9" + value.dropFirst(12), "malformed-signature"),
            ("t= \(Sample.now)" + value.dropFirst(12), "malformed-signature"),
            ("t=+\(Sample.now)" + value.dropFirst(12), "malformed-signature"),
            ("", "malformed-signature"), (",", "malformed-signature"),
        ] {
            let changed = try message.replacing(value, with: list)
            #expect(Partner.reason(verifier, changed) == wanted, "\(list.prefix(80))")
        }
    }

    @Test func refusesTooManyCoveredFields() throws {
        let document: JSONValue = [
            "signet-scheme": 1, "name": "acme", "signedHeaders": ["select": ["*"]],
            "text": "{headers.lines}{body}", "sign": ["hmac": "sha256"],
            "place": [["query": "sig", "value": "{signature}"]],
        ]
        let scheme = try SigningScheme(document: document.serialized())
        let keys = try Partner.keys([("k", "secret")])
        for (count, wanted) in [
            (254, "signature-mismatch"), (300, "malformed-message"), (20_000, "malformed-message"),
        ] {
            let lines = (0..<count).map { "a\($0):\n" }.joined()
            let message = try Sample.message(
                "GET /?sig=\(String(repeating: "0", count: 64)) HTTP/1.1\nHost: h\n\(lines)\n")
            #expect(try Partner.reason(Verifier(scheme: scheme, keys: keys), message) == wanted)
        }
    }

    /// The signature may be in a field, the query or the body.
    @Test func leavesTheSignatureOutOfItsBase() throws {
        let keys = try Partner.keys([("k", "secret")])
        for (patch, body) in [
            (["signedHeaders": ["select": ["*"]], "text": "{headers.lines}"], "x"),
            (
                [
                    "values": ["p": ["parameters": ["from": ["xml"], "sort": "key"]]],
                    "text": "{p}", "place": [["xml": "sign", "value": "{signature}"]],
                ], "<xml><a>b</a></xml>"
            ),
            (
                ["text": "{target}", "place": [["query": "sign", "value": "{signature}"]]], "x"
            ),
        ] as [(JSONValue, String)] {
            let base: JSONValue = [
                "signet-scheme": 1, "name": "acme", "sign": ["hmac": "sha256"],
                "place": [["header": "X-Sign", "value": "{signature}"]],
            ]
            let scheme = try SigningScheme(document: base.patched(by: patch).serialized())
            var message = try Sample.message("POST /?a=b HTTP/1.1\nHost: h\nX: y\n\n" + body)
            _ = try MessageSigner(scheme: scheme, key: keys.keys[0]).sign(
                &message, now: Sample.now)
            let verifier = try Verifier(scheme: scheme, keys: keys)
            #expect(Partner.reason(verifier, message) == "no error")
            var again = message
            #expect(
                code {
                    _ = try MessageSigner(scheme: scheme, key: keys.keys[0]).sign(
                        &again, now: Sample.now)
                } != "no error")
        }
    }

    @Test func ignoresAnUnsignedNonceOrTime() throws {
        var document: JSONObject = [
            "signet-scheme": 1, "name": "acme", "text": "{body}", "sign": ["hmac": "sha256"],
            "place": [["header": "X-Sign", "value": "{time} {nonce} {signature}"]],
        ]
        let keys = try Partner.keys([("k", "secret")])
        func reasons() throws -> [String] {
            let scheme = try SigningScheme(document: JSONValue.object(document).serialized())
            var message = try Sample.message(Self.request)
            _ = try MessageSigner(scheme: scheme, key: keys.keys[0]).sign(
                &message, now: Sample.now, nonce: "n1")
            var policy = VerificationPolicy()
            policy.requiresNonce = true
            func reason(_ message: SignableMessage) -> String {
                code {
                    _ = try Verifier(scheme: scheme, keys: keys, policy: policy)
                        .verify(message, now: Sample.now)
                }
            }
            let again = try message.replacing("n1", with: "n2")
            let plain = try Verifier(scheme: scheme, keys: keys)
            let proof = try plain.verify(message, now: Sample.now)
            return [
                reason(message), reason(again),
                proof.created == nil ? "no time" : "a time",
                proof.nonce ?? "no nonce",
            ]
        }
        #expect(
            try reasons() == [
                "unsupported-option", "unsupported-option", "no time", "no nonce",
            ])
        document["text"] = "{nonce} {time} {body}"
        #expect(
            try reasons() == ["no error", "signature-mismatch", "a time", "n1"])
        // In one choice only is as good as not at all.
        document["settings"] = ["all": ["enum": ["yes"]]]
        document["text"] = [["when": ["all": "yes"], "is": "{nonce}{body}"], ["is": "{body}"]]
        #expect(try reasons()[0] == "unsupported-option")
    }
}
