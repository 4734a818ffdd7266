import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetSigning

/// Places in a form, alternative places, HTTP dates and methods in lower case.
@Suite struct SchemePlaceTests {
    private static let keys: KeySet = {
        do {
            return try Partner.keys([("first", "secret one"), ("second", "secret two")])
        } catch { preconditionFailure("\(error)") }
    }()

    private static func signed(
        _ scheme: SigningScheme, _ text: String, key: String = "first"
    ) throws -> SignableMessage {
        var message = try SignableMessage(parsing: Array(text.utf8))
        _ = try MessageSigner(scheme: scheme, key: keys.key(id: key))
            .sign(&message, now: Sample.now)
        return message
    }

    private static func reason(
        _ scheme: SigningScheme, _ text: String, at now: Int64 = Sample.now
    ) throws -> String {
        let message = try SignableMessage(parsing: Array(text.utf8))
        return Partner.reason(try Verifier(scheme: scheme, keys: keys), message, at: now)
    }

    /// A value is computed once for a message: a place contains the one that made the key, although
    /// the place before it changed the query.
    @Test func aPlaceHasTheValueOfTheKey() throws {
        let document = """
            {
              "signet-scheme": 1,
              "name": "derived-key",
              "values": {"v": "{target}"},
              "inject": [{"header": "X-Time", "value": "{time}"}],
              "text": "{time}",
              "sign": {"hmac": "sha256", "chain": ["{v}"]},
              "signature": "hex",
              "place": [
                {"query": "sig", "value": "{signature}"}, {"header": "X-V", "value": "{v}"}
              ]
            }
            """
        let scheme = try SigningScheme(document: Array(document.utf8))
        let message = try Self.signed(scheme, "GET /p HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(message.value(of: Array("x-v".utf8)) == Array("/p".utf8))
        let proof = try Verifier(scheme: scheme, keys: Self.keys).verify(message, now: Sample.now)
        #expect(proof.created == Sample.now)
    }

    // MARK: A form

    /// As Alipay's notifications: the signature is a parameter of the form, and it and its type
    /// are left out of the text.
    private static let form = """
        {
          "signet-scheme": 1,
          "name": "form-sign",
          "values": {
            "parameters": {
              "parameters": {
                "from": ["form"], "decode": true, "except": ["sign_type"], "sort": "key"
              }
            }
          },
          "inject": [{"form": "sign_type", "value": "HMAC"}],
          "text": "{parameters}",
          "sign": {"hmac": "sha256"},
          "signature": "base64",
          "place": [{"form": "sign", "value": "{signature}"}]
        }
        """

    private static let formHead =
        "POST /notify HTTP/1.1\r\nHost: h\r\n"
        + "Content-Type: application/x-www-form-urlencoded\r\n\r\n"

    private static func formScheme(text: String = "{parameters}") throws -> SigningScheme {
        let document = form.replacingOccurrences(
            of: #""text": "{parameters}""#, with: #""text": "\#(text)""#)
        return try SigningScheme(document: Array(document.utf8))
    }

    @Test func signsAFormByAParameterOfIt() throws {
        let scheme = try Self.formScheme()
        let message = try Self.signed(scheme, Self.formHead + "b=tea+time&a=%26")
        // Computed by Python: base64(HMAC-SHA256("secret one", "a=&&b=tea time")).
        #expect(
            text(message.body)
                == "b=tea+time&a=%26&sign_type=HMAC&sign=2aBcyBhqcfqh4jJSTWtQ3yhf0KYsLAYME4%2F08kMqee0%3D"
        )
        let proof = try Verifier(scheme: scheme, keys: Self.keys)
            .verify(message, now: Sample.now)
        #expect(proof["{parameters}"] == Array("a=&&b=tea time".utf8) && proof.body == nil)
        let empty = try Self.signed(scheme, Self.formHead)
        #expect(text(empty.body).hasPrefix("sign_type=HMAC&sign="))
    }

    @Test func refusesAnotherFormThanTheSigned() throws {
        let scheme = try Self.formScheme()
        let body = text(try Self.signed(scheme, Self.formHead + "a=1").body)
        let tag = body.replacingOccurrences(of: "a=1&sign_type=HMAC&", with: "")
        for (other, wanted) in [
            (body, "no error"), ("\(tag)&sign_type=HMAC&a=1", "no error"),
            ("a=2&sign_type=HMAC&\(tag)", "signature-mismatch"),
            ("a=1&a=1&sign_type=HMAC&\(tag)", "signature-mismatch"),
            ("a=1&sign_type=HMAC&\(tag)&\(tag)", "malformed-signature"),
            ("a=1&sign_type=HMAC&\(tag)&%73ign=AAAA", "malformed-signature"),
            ("a=1&sign_type=MD5&\(tag)", "malformed-signature"),
            ("a=1&sign_type=HMAC&sign_type=HMAC&\(tag)", "malformed-signature"),
            ("a=1&\(tag)", "missing-component"), ("a=1&sign_type=HMAC", "no-signature"),
            ("a=1&sign_type=HMAC&sign=", "malformed-signature"),
            ("a=1&sign_type=HMAC&sign=%%%", "malformed-signature"),
            ("a=1&sign_type=HMAC&Sign=AAAA", "no-signature"), ("", "no-signature"),
        ] { #expect(try Self.reason(scheme, Self.formHead + other) == wanted, "\(other)") }
        let plain = Self.formHead.replacingOccurrences(of: "x-www-form-urlencoded", with: "json")
        #expect(try Self.reason(scheme, plain + body) == "no-signature")
        #expect(code { _ = try Self.signed(scheme, plain + "a=1") } == "malformed-message")
        for taken in ["sign=1", "sign_type=HMAC", "a=1&%73ign=1"] {
            #expect(
                code { _ = try Self.signed(scheme, Self.formHead + taken) } == "duplicate-field")
        }
    }

    /// The body that is handed back is the signed one, without the signature.
    @Test func signsABodyWithoutItsSignature() throws {
        let scheme = try Self.formScheme(text: "{body}")
        let message = try Self.signed(scheme, Self.formHead + "a=1")
        let verifier = try Verifier(scheme: scheme, keys: Self.keys)
        let proof = try verifier.verify(message, now: Sample.now)
        #expect(proof.body == Array("a=1&sign_type=HMAC".utf8))
        #expect(proof["body"] == proof.body)
        let moved = "\(text(message.body).split(separator: "&")[2])&a=1&sign_type=HMAC"
        let other = try SignableMessage(parsing: Array((Self.formHead + moved).utf8))
        #expect(try verifier.verify(other, now: Sample.now).body == proof.body)
        #expect(
            try Self.reason(scheme, Self.formHead + moved + "&b=1") == "signature-mismatch")
    }

    @Test func countsTheSignatureInContentLength() throws {
        let head = Self.formHead.replacingOccurrences(
            of: "Host: h", with: "Host: h\r\ncontent-length: 3")
        let form = try Self.signed(Self.formScheme(), head + "a=1")
        #expect(form.field("Content-Length") == "\(form.body.count)" && form.body.count > 3)
        let xml = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 19\r\n\r\n<xml><a>1</a></xml>"
        let message = try Self.signed(.Insecure.scheme(named: "wechat-v2"), xml)
        #expect(message.field("Content-Length") == "\(message.body.count)")
    }

    // MARK: Alternatives

    /// As DocuSign's: one field for each key.
    private static func numbered(_ value: String = "{signature}") throws -> SigningScheme {
        let document: JSONObject = [
            "signet-scheme": 1, "name": "numbered", "text": "{body}",
            "sign": ["hmac": "sha256"], "signature": "base64",
            "place": [["header": ["X-Sign-1", "X-Sign-2", "X-Sign-3"], "value": .string(value)]],
        ]
        return try SigningScheme(document: JSONValue.object(document).serialized())
    }

    @Test func writesTheFirstAlternative() throws {
        let message = try Self.signed(Self.numbered(), "POST / HTTP/1.1\nHost: h\n\nbody")
        #expect(message.field("X-Sign-1") != nil && message.field("X-Sign-2") == nil)
        for name in ["X-Sign-1", "x-sign-2", "X-SIGN-3"] {
            #expect(
                code {
                    _ = try Self.signed(
                        Self.numbered(), "POST / HTTP/1.1\nHost: h\n\(name): x\n\nbody")
                } == "duplicate-field")
        }
    }

    @Test func acceptsAnyAlternativeThatFits() throws {
        let scheme = try Self.numbered()
        let head = "POST / HTTP/1.1\nHost: h\n"
        let first = try #require(try Self.signed(scheme, head + "\nbody").field("X-Sign-1"))
        let second = try #require(
            try Self.signed(scheme, head + "\nbody", key: "second").field("X-Sign-1"))
        let wrong = Data(repeating: 7, count: 32).base64EncodedString()
        for (fields, wanted) in [
            ("X-Sign-1: \(first)", "no error"), ("X-Sign-2: \(first)", "no error"),
            ("X-Sign-3: \(second)", "no error"), ("x-sign-2: \(second)", "no error"),
            ("X-Sign-1: \(wrong)\nX-Sign-2: \(first)", "no error"),
            ("X-Sign-2: \(second)\nX-Sign-1: \(first)", "no error"),
            ("X-Sign-1: \(wrong)", "signature-mismatch"),
            ("X-Sign-1: \(wrong)\nX-Sign-3: \(wrong)", "signature-mismatch"),
            ("X-Sign-4: \(first)", "no-signature"), ("X-Sign: \(first)", "no-signature"),
            ("X-Sign-2: \(first)\nX-Sign-2: \(first)", "malformed-signature"),
            ("X-Sign-1: \(first)\nX-Sign-2: *", "malformed-signature"),
            ("X-Sign-1: \(first)\nX-Sign-2:", "malformed-signature"),
        ] { #expect(try Self.reason(scheme, "\(head)\(fields)\n\nbody") == wanted, "\(fields)") }
        #expect(
            try Self.reason(scheme, "\(head)X-Sign-2: \(first)\n\nbodY") == "signature-mismatch")
    }

    @Test func requiresTheSameKeyInAllAlternatives() throws {
        let scheme = try Self.numbered("{keyid}.{signature}")
        let head = "POST / HTTP/1.1\nHost: h\n"
        let first = try #require(try Self.signed(scheme, head + "\nbody").field("X-Sign-1"))
        let second = try #require(
            try Self.signed(scheme, head + "\nbody", key: "second").field("X-Sign-1"))
        #expect(
            try Self.reason(scheme, "\(head)X-Sign-1: \(first)\nX-Sign-2: \(second)\n\nbody")
                == "malformed-signature")
    }

    @Test func requiresTheSameFieldsInAllAlternatives() throws {
        let document: JSONObject = [
            "signet-scheme": 1, "name": "lists", "sign": ["hmac": "sha256"],
            "signedHeaders": ["select": ["host", "x-a"]],
            "text": "{headers.lines}{headers.names}\n{body}",
            "place": [
                ["header": ["X-Sign-1", "X-Sign-2"], "value": "{headers.names} {signature}"]
            ],
        ]
        let scheme = try SigningScheme(document: JSONValue.object(document).serialized())
        let head = "POST / HTTP/1.1\nHost: h\n"
        let short = try #require(try Self.signed(scheme, head + "\nbody").field("X-Sign-1"))
        let long = try #require(
            try Self.signed(scheme, head + "X-A: 1\n\nbody").field("X-Sign-1"))
        for (fields, wanted) in [
            ("X-Sign-1: \(long)\nX-A: 1", "no error"), ("X-Sign-2: \(short)", "no error"),
            ("X-Sign-1: \(long)\nX-Sign-2: \(short)\nX-A: 1", "malformed-signature"),
            ("X-Sign-1: \(short)\nX-Sign-2: \(long)\nX-A: 1", "malformed-signature"),
            ("X-Sign-2: \(long)\nX-A: 2", "signature-mismatch"),
        ] { #expect(try Self.reason(scheme, "\(head)\(fields)\n\nbody") == wanted, "\(fields)") }
    }

    // MARK: A date, and a method in lower case

    /// As draft-cavage-http-signatures with `(request-target) host date digest`.
    static let cavage = """
        {
          "signet-scheme": 1,
          "name": "cavage",
          "values": {"digest": {"hash": "sha256", "of": "{body}", "as": "base64"}},
          "inject": [
            {"header": "Date", "value": "{time.http}"},
            {"header": "Digest", "value": "SHA-256={digest}"}
          ],
          "text": {
            "join": [
              "(request-target): {method.lower} {target}", "host: {host}", "date: {header.date}",
              "digest: {header.digest}"
            ],
            "with": "\\n"
          },
          "sign": {"hmac": "sha256"},
          "signature": "base64",
          "place": [
            {
              "header": "Signature",
              "list": [
                "keyId=\\"{keyid}\\"",
                "headers=\\"(request-target) host date digest\\"",
                "signature=\\"{signature}\\""
              ],
              "with": ","
            }
          ]
        }
        """

    @Test func signsAnHTTPDateAndAMethodInLowerCase() throws {
        let scheme = try SigningScheme(document: Array(Self.cavage.utf8))
        let message = try Self.signed(scheme, "POST /inbox?a=1 HTTP/1.1\nHost: h.example\n\nbody")
        let date = "Sat, 21 Nov 2026 02:35:51 GMT"
        #expect(message.field("Date") == date)
        #expect(
            message.field("Signature")
                == #"keyId="first",headers="(request-target) host date digest",signature="W+0Txt8yYFxbRI6ZB2jWKF02F3vUPQEIJQI2wT8xSJ4=""#
        )
        let proof = try Verifier(scheme: scheme, keys: Self.keys)
            .verify(message, now: Sample.now + 300)
        #expect(proof.created == Sample.now && proof["@method"] == Array("POST".utf8))
        let whole = text(message.serialized())
        for (old, new, wanted) in [
            ("POST", "PUT", "signature-mismatch"), ("POST", "Post", "unsupported-component"),
            ("a=1", "a=2", "signature-mismatch"), ("h.example", "g.example", "signature-mismatch"),
            (date, "Sat, 21 Nov 2026 02:35:50 GMT", "signature-mismatch"),
            (date, "Sun, 21 Nov 2026 02:35:51 GMT", "malformed-signature"),
            (date, "Sat, 21 Nov 2026 2:35:51 GMT", "malformed-signature"),
            (date, "Sat, 21 Nov 2026 02:35:51 UTC", "malformed-signature"),
            (date, "Sat, 21 Nov 2026 24:35:51 GMT", "malformed-signature"),
            (date, "Saturday, 21-Nov-26 02:35:51 GMT", "malformed-signature"),
            (date, "sat, 21 nov 2026 02:35:51 GMT", "malformed-signature"),
            (date, "2026-11-21T02:35:51Z", "malformed-signature"),
            (date, "Thu, 01 Jan 1960 00:00:00 GMT", "malformed-signature"),
            ("\r\n\r\nbody", "\r\n\r\nBody", "signature-mismatch"),
            ("Date: ", "Date: \(date)\r\nDate: ", "malformed-signature"),
        ] {
            let changed = whole.replacingOccurrences(of: old, with: new)
            #expect(changed != whole, "\(old)")
            #expect(try Self.reason(scheme, changed) == wanted, "\(new)")
        }
        #expect(try Self.reason(scheme, whole, at: Sample.now + 301) == "too-old")
        #expect(try Self.reason(scheme, whole, at: Sample.now - 61) == "created-in-future")
        #expect(
            code { _ = try Self.signed(scheme, "get / HTTP/1.1\nHost: h\n\n") }
                == "unsupported-component")
    }

    // MARK: A time with a fraction

    /// Twitch's EventSub has nanoseconds (romanzipp/Laravel-Twitch#81), and OKX milliseconds.
    static let twitch = """
        {
          "signet-scheme": 1,
          "name": "twitch",
          "inject": [{"header": "Twitch-Timestamp", "value": "{time.rfc3339}"}],
          "text": "{time.rfc3339}{body}",
          "sign": {"hmac": "sha256"},
          "place": [{"header": "Twitch-Signature", "value": "sha256={signature}"}]
        }
        """

    @Test func readsATimeWithAFraction() throws {
        let scheme = try SigningScheme(document: Array(Self.twitch.utf8))
        let signed = try Self.signed(scheme, "POST / HTTP/1.1\nHost: h\n\nbody")
        #expect(signed.field("Twitch-Timestamp") == "2026-11-21T02:35:51.000Z")
        for (time, wanted) in [
            ("2026-11-21T02:35:51.637747359Z", "no error"), ("2026-11-21T02:35:51Z", "no error"),
            ("2026-11-21T02:35:51.6Z", "no error"), ("2026-11-21T02:30:50.9Z", "too-old"),
            ("2026-11-21T02:35:51.Z", "malformed-signature"),
            ("2026-11-21T02:35:51.1234567890Z", "malformed-signature"),
            ("2026-11-21T02:35:51,5Z", "malformed-signature"),
            ("2026-11-21T02:35:51.5", "malformed-signature"),
            ("2026-11-21T02:35:51.5+00:00", "malformed-signature"),
            ("2026-11-21T02:35:51.5z", "malformed-signature"),
            ("2026-11-21T02:35:51.-5Z", "malformed-signature"),
            ("2026-11-21T24:35:51.5Z", "malformed-signature"),
            ("2026-11-21 02:35:51.5Z", "malformed-signature"), ("", "malformed-signature"),
        ] {
            let key = try HMACKey(.sha256, key: Array("secret one".utf8).span)
            let tag = try key.tag(of: Array("\(time)body".utf8))
            let message =
                "POST / HTTP/1.1\nHost: h\nTwitch-Timestamp: \(time)\n"
                + "Twitch-Signature: sha256=\(hex(tag))\n\nbody"
            #expect(try Self.reason(scheme, message) == wanted, "\(time)")
            let changed = message.replacing(".6", with: ".5")
            if changed != message {
                #expect(try Self.reason(scheme, changed) == "signature-mismatch", "\(time)")
            }
        }
    }

    @Test func aFractionAndMillisecondsAreTheSame() throws {
        let document = Self.twitch.replacing(
            #"}],\#n  "text""#, with: #"}, {"header": "X-Ms", "value": "{time.ms}"}],\#n  "text""#)
        let scheme = try SigningScheme(document: Array(document.utf8))
        let signed = text(
            try Self.signed(scheme, "POST / HTTP/1.1\nHost: h\n\nbody").serialized())
        #expect(signed.contains("X-Ms: \(Sample.now)000"))
        #expect(try Self.reason(scheme, signed) == "no error")
        for (old, new) in [("51.000Z", "51.001Z"), ("000\r\n", "001\r\n")] {
            let changed = signed.replacing(old, with: new)
            #expect(changed != signed)
            #expect(try Self.reason(scheme, changed) != "no error")
        }
    }

    @Test func coversTheBodyOfASignedDigest() throws {
        let scheme = try SigningScheme(document: Array(Self.cavage.utf8))
        let message = try Self.signed(scheme, "POST / HTTP/1.1\nHost: h\n\nbody")
        let proof = try Verifier(scheme: scheme, keys: Self.keys).verify(message, now: Sample.now)
        #expect(proof.body == Array("body".utf8))
    }
}
